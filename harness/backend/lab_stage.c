/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fts.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/str.h"
#include "backend/lab.h"

/* How a kernel of ours comes to a lab machine's disk. Modules of ours are told from those of the
 * distribution by a file .kbracket in their folder; nothing without it is ever changed. */

enum { INITRD_KIB = 128 << 10 }; /* room that an initramfs may take */

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All modules below the folder, as "./kernel/fs/x.ko", in the order of bytes. */
static int list_modules(const char *folder, struct strv *out, int64_t *bytes, struct err *err)
{
	char *roots[] = {(char *)folder, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;
	int ret = tree ? 0 : err_errno(err, ERR_INFRA, errno, "cannot walk %s", folder);

	while (ret == 0 && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_F) {
			*bytes += entry->fts_statp->st_size;
			if (strstr(entry->fts_name, ".ko"))
				strv_addf(out, ".%s", entry->fts_path + strlen(folder));
		} else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR ||
			   entry->fts_info == FTS_NS) {
			ret = err_errno(err, ERR_INFRA, entry->fts_errno, "cannot read %s",
				entry->fts_path);
		}
	}
	if (tree)
		(void)fts_close(tree);
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), by_text);
	return ret;
}

int lab_modules_sum(
	const char *folder, char hex[SHA256_HEX_LEN + 1], int64_t *bytes, struct err *err)
{
	struct strv names = STRV_INIT;
	struct sha256 hash;
	int ret = list_modules(folder, &names, bytes, err);

	sha256_init(&hash);
	for (size_t i = 0; i < names.count && ret == 0; i++) {
		char *path = path_join(folder, names.items[i] + 2);
		char one[SHA256_HEX_LEN + 1];

		ret = sha256_of_file(path, one, err);
		if (ret == 0) {
			sha256_add(&hash, one, SHA256_HEX_LEN);
			sha256_add(&hash, "  ", 2);
			sha256_add(&hash, names.items[i], strlen(names.items[i]));
			sha256_add(&hash, "\n", 1);
		}
		free(path);
	}
	sha256_hex(&hash, hex);
	strv_release(&names);
	return ret;
}

/* Kernels of ours beyond $2 go, the one that was used longest ago first; never the running one, nor
 * the one that is wanted, $3. Prints what went. */
static const char prune_script[] =
	"set -eu; cd \"$1\"; left=$(($2 - 1))\n"
	"for image in $(ls -t | grep '^image-' || true); do\n"
	"	release=${image#image-}; case $release in *.new) continue ;; esac\n"
	"	[ \"$release\" != \"$3\" ] || continue\n"
	"	left=$((left - 1)); [ $left -lt 0 ] || continue\n"
	"	[ \"$release\" != \"$(uname -r)\" ] || continue\n"
	"	rm -f \"$image\" \"initrd-$release\" \"config-$release\"\n"
	"	[ ! -e \"/lib/modules/$release/.kbracket\" ] || rm -rf \"/lib/modules/$release\"\n"
	"	echo \"$release\"\n"
	"done\n";

static int prune(struct machine *machine, const char *release, struct err *err)
{
	char keep[32];
	const char *arguments[] = {machine->workdir, keep, release, NULL};
	struct str gone = STR_INIT;
	int ret;

	(void)snprintf(keep, sizeof(keep), "%lld", (long long)machine->spec->keep);
	ret = lab_script(machine, 120 * NS_PER_S, &gone, err, prune_script, arguments);
	for (char *line = gone.text, *end; ret == 0 && line && (end = strchr(line, '\n'));
		line = end + 1)
		log_line(LOG_INFO, "machine '%s': removed kbracket's kernel %.*s from it",
			machine->spec->name, (int)(end - line), line);
	str_release(&gone);
	return ret ? err_wrap(err, "removing old kernels of kbracket's") : 0;
}

/* The file systems that kernels and modules go to must have $3 KiB. */
static const char room_script[] =
	"set -eu; for folder in \"$1\" \"$2\"; do\n"
	"	left=$(df -Pk \"$folder\" | tail -n 1 | tr -s ' ' | cut -d ' ' -f 4)\n"
	"	[ \"$left\" -ge \"$3\" ] || { echo \"$((left / 1024)) MiB are free in $folder and"
	" $(($3 / 1024)) MiB are needed: make room\" >&2; exit 1; }\n"
	"done\n";

static int check_room(struct machine *machine, int64_t bytes, struct err *err)
{
	char kib[32];
	const char *arguments[] = {machine->workdir, "/lib", kib, NULL};

	(void)snprintf(kib, sizeof(kib), "%lld", (long long)(bytes / 1024 + INITRD_KIB));
	return lab_script(machine, 60 * NS_PER_S, NULL, err, room_script, arguments);
}

/* Whose modules of a release are there: "none", "ours SUM" or "theirs SUM". */
static const char whose_script[] =
	"set -eu; folder=/lib/modules/$1\n"
	"if [ ! -e \"$folder\" ]; then echo none\n"
	"elif [ -e \"$folder/.kbracket\" ]; then echo \"ours $(cat \"$folder/.kbracket\")\"\n"
	"else cd \"$folder\"; export LC_ALL=C\n"
	"	echo \"theirs $(find . -name '*.ko*' -type f -print0 | sort -z | xargs -0 "
	"sha256sum |"
	" sha256sum | cut -d ' ' -f 1)\"\n"
	"fi\n";

/* The sum is written last: a folder of ours without it is one that was cut short. */
static const char unpack_script[] =
	"set -eu; umask 022; new=/lib/modules/.kbracket-new folder=/lib/modules/$1\n"
	"rm -rf \"$new\"; mkdir -p \"$new\"; : >\"$new/.kbracket\"\n"
	"tar -C \"$new\" --strip-components=3 --no-same-owner -xf \"$2\"\n"
	"rm -rf \"$folder\"; mv \"$new\" \"$folder\"\n"
	"depmod \"$1\"; echo \"$3\" >\"$folder/.kbracket\"; rm -f \"$2\"\n";

static int send_modules(
	struct machine *machine, const struct boot_image *image, const char *sum, struct err *err)
{
	char *name = xasprintf("modules-%s.tar", image->release);
	char *archive = xasprintf(
		"%s/%s-%ld-%s", machine->env->cache_dir, machine->spec->name, (long)getpid(), name);
	char *folder = xasprintf("lib/modules/%s", image->release);
	char *there = xasprintf("%s/%s", machine->workdir, name);
	const char *pack[] = {"tar", "-C", image->modules, "--owner=0", "--group=0", "-cf", archive,
		folder, NULL};
	const char *arguments[] = {image->release, there, sum, NULL};
	struct proc_spec spec = {.argv = pack, .timeout_ns = 300 * NS_PER_S};
	int ret = file_mkdirs(machine->env->cache_dir, 0777, err);

	if (ret == 0)
		ret = proc_check(&spec, NULL, err);
	if (ret == 0)
		ret = machine_put(machine, archive, name, 0600, err);
	if (ret == 0)
		ret = lab_script(machine, 600 * NS_PER_S, NULL, err, unpack_script, arguments);
	(void)unlink(archive);
	free(archive);
	free(name);
	free(folder);
	free(there);
	return ret;
}

static int stage_modules(
	struct machine *machine, const struct boot_image *image, const char *sum, struct err *err)
{
	const char *arguments[] = {image->release, NULL};
	struct str text = STR_INIT;
	int ret = lab_script(machine, 300 * NS_PER_S, &text, err, whose_script, arguments);
	bool theirs = str_starts(str_text(&text), "theirs ");
	bool same = text.len > SHA256_HEX_LEN && strstr(text.text, sum) != NULL;

	if (ret == 0 && theirs && !same)
		ret = err_set(err, ERR_INFRA,
			"the machine has other modules of that release, and they are not "
			"kbracket's: "
			"build the kernel with a LOCALVERSION of its own");
	else if (ret == 0 && !same)
		ret = send_modules(machine, image, sum, err);
	str_release(&text);
	return ret ? err_wrap(err, "modules of %s", image->release) : 0;
}

/* Without a command of the machine's file, by what its distribution has. Both programs look into
 * /boot for the kernel's configuration; what they see there is a /boot of theirs alone. */
static const char initrd_script[] =
	"set -eu; umask 077\n"
	"if [ \"$3\" ] && [ -z \"${KB_OWN_BOOT:-}\" ]; then\n"
	"	KB_OWN_BOOT=1 exec unshare -m sh -c \"$4\" sh \"$@\"\n"
	"fi\n"
	"if [ \"$3\" ]; then mount -t tmpfs none /boot; cp \"$3\" \"/boot/config-$2\"; fi\n"
	"if command -v mkinitramfs >/dev/null; then mkinitramfs -o \"$1\" \"$2\"\n"
	"elif command -v dracut >/dev/null; then dracut --force --kver \"$2\" \"$1\"\n"
	"else echo 'neither mkinitramfs nor dracut is there: write initramfs: into its file' >&2; "
	"exit 1\n"
	"fi\n";

static int make_initrd(
	struct machine *machine, const struct boot_image *image, const char *path, struct err *err)
{
	const char *size[] = {"test", "-s", path, NULL};
	char *config = image->config[0]
			       ? xasprintf("%s/config-%s", machine->workdir, image->release)
			       : xstrdup("");
	const char *arguments[] = {path, image->release, config, initrd_script, NULL};
	struct strv argv = STRV_INIT;
	int ret = config[0] ? machine_put(machine, image->config, path_name(config), 0600, err) : 0;

	for (const char *const *word = machine->spec->initramfs; *word; word++)
		strv_add(&argv, strcmp(*word, "{initrd}") == 0	  ? path
				: strcmp(*word, "{release}") == 0 ? image->release
								  : *word);
	if (ret == 0 && argv.count)
		ret = machine_command(machine, strv_argv(&argv), 600 * NS_PER_S, err);
	else if (ret == 0)
		ret = lab_script(machine, 600 * NS_PER_S, NULL, err, initrd_script, arguments);
	if (ret == 0)
		ret = machine_command(machine, size, 30 * NS_PER_S, err);
	strv_release(&argv);
	free(config);
	return ret ? err_wrap(err, "making the initramfs of %s", image->release) : 0;
}

/* Once for each kernel in a session: the machine's own settings may be others in the next. */
static int prepare(struct machine *machine, const struct boot_image *image, const char *initrd,
	struct err *err)
{
	char *folder = xasprintf("%s/lib/modules/%s", image->modules, image->release);
	char *name = xasprintf("image-%s", image->release);
	char sum[SHA256_HEX_LEN + 1] = "";
	int64_t bytes = 0;
	int ret = 0;

	if (image->modules[0])
		ret = lab_modules_sum(folder, sum, &bytes, err);
	if (ret == 0)
		ret = prune(machine, image->release, err);
	if (ret == 0)
		ret = check_room(machine, 2 * bytes + file_size(image->image), err);
	if (ret == 0)
		ret = machine_put(machine, image->image, name, 0600, err);
	if (ret == 0 && image->modules[0])
		ret = stage_modules(machine, image, sum, err);
	if (ret == 0 && initrd)
		ret = make_initrd(machine, image, initrd, err);
	free(folder);
	free(name);
	return ret;
}

/* What was used last is removed last. Fails when somebody has removed it meanwhile. */
static int touch(struct machine *machine, const char *kernel, const char *initrd)
{
	const char *argv[] = {"touch", "-c", "--", kernel, NULL};
	const char *there[] = {"ls", "--", kernel, initrd, NULL};
	struct err ignored;
	int ret = machine_command(machine, argv, 30 * NS_PER_S, &ignored);

	return ret ? ret : machine_command(machine, there, 30 * NS_PER_S, &ignored);
}

int lab_stage(struct machine *machine, const struct boot_image *image, char **kernel, char **initrd,
	struct err *err)
{
	struct lab *lab = lab_of(machine);
	bool wants_initrd = image->modules[0] || machine->spec->initramfs[0];
	char *image_there = xasprintf("%s/image-%s", machine->workdir, image->release);
	char *initrd_there =
		wants_initrd ? xasprintf("%s/initrd-%s", machine->workdir, image->release) : NULL;
	int ret = lab_learn(machine, err);

	if (ret == 0 && (!strv_has(&lab->staged, image->image) ||
				touch(machine, image_there, initrd_there))) {
		ret = prepare(machine, image, initrd_there, err);
		if (ret == 0)
			strv_add(&lab->staged, image->image);
	}
	if (ret) {
		free(image_there);
		free(initrd_there);
		return ret;
	}
	*kernel = image_there;
	*initrd = initrd_there;
	return 0;
}
