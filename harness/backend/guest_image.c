/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "backend/cpio.h"
#include "backend/guest_image.h"
#include "backend/guest_program.h"
#include "sys/proc.h"

/* Raised when the layout or init of the image changes: old ones in caches are then not used. */
#define IMAGE_RECIPE "1"

/* What runs as PID 1: mounts, modules, network, ssh. Its marks on the console are for people and
 * for the check that a guest comes up at all. */
static const char init_script[] =
	"#!/bin/busybox sh\n"
	"/bin/busybox --install -s /bin\n"
	"export PATH=/bin:/kb/programs\n"
	"mount -t devtmpfs dev /dev\n"
	"mkdir -p /dev/pts /dev/shm\n"
	"mount -t devpts pts /dev/pts\n"
	"mount -t tmpfs shm /dev/shm\n"
	"mount -t proc proc /proc\n"
	"mount -t sysfs sys /sys\n"
	"mount -t tmpfs run /run\n"
	"mount -t tmpfs tmp /tmp\n"
	"mkdir -m 700 " GUEST_WORKDIR "\n"
	"mount -t debugfs debug /sys/kernel/debug 2>/dev/null\n"
	"mount -t cgroup2 cgroup /sys/fs/cgroup 2>/dev/null\n"
	"echo kbracket-guest: init\n"
	"for module in /kb/modules/*.ko; do [ -e \"$module\" ] && insmod \"$module\"; done\n"
	"hostname " GUEST_HOST_NAME "\n"
	"ip link set lo up\n"
	"ip addr add 10.0.2.15/24 dev eth0\n"
	"ip link set eth0 up\n"
	"dropbear -r /etc/dropbear/host_key -s -j -k -P /run/dropbear.pid\n"
	"echo kbracket-guest: up\n"
	"while :; do wait; sleep 3600; done\n";

/* A program of this host that every guest has. */
struct part {
	const char *program;
	const char *package;
	bool optional;
};

static const struct part parts[] = {
	{"busybox", "busybox-static", false},
	{"dropbear", "dropbear-bin", false},
	{"kexec", "kexec-tools", false},
	{"perf", "linux-perf", true},
};

static int add_parts(struct guest_files *files, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts) && ret == 0; i++) {
		char *path = proc_find_program(parts[i].program);
		char *to = xasprintf("bin/%s", parts[i].program);

		if (path)
			ret = guest_program_add(files, to, path, err);
		else if (!parts[i].optional)
			ret = err_set(err, ERR_USAGE,
				"guests need the program %s, which is not here: install Debian's "
				"package %s",
				parts[i].program, parts[i].package);
		free(path);
		free(to);
	}
	return ret;
}

char *guest_program_path(const struct machine_program *program, char **from)
{
	char *here = program->path ? xstrdup(program->path) : proc_find_program(program->name);
	char *there = NULL;

	if (here)
		there = program->name[0] == '/' ? xstrdup(program->name)
						: xasprintf("/kb/programs/%s", program->name);
	if (from)
		*from = here;
	else
		free(here);
	return there;
}

static int add_suite_programs(
	struct guest_files *files, const struct machine_env *env, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < env->program_count && ret == 0; i++) {
		char *from, *to = guest_program_path(&env->programs[i], &from);

		if (to && env->programs[i].is_data)
			guest_files_add(files, to, from);
		else if (to)
			ret = guest_program_add(files, to, from, err);
		else
			log_line(LOG_WARN,
				"the program %s is not on this host, so guests do not have it",
				env->programs[i].name);
		free(from);
		free(to);
	}
	return ret;
}

static int run_keygen(const char *const *argv, struct err *err)
{
	struct proc_spec spec = {.argv = argv, .timeout_ns = 60 * NS_PER_S};

	return proc_check(&spec, NULL, err);
}

/* Keys are made once per cache: one to log in with, one that proves the guest to us. */
static int make_keys(const char *dir, struct guest_image *image, struct err *err)
{
	char *host_key = path_join(dir, "host_key"), *host_pub = path_join(dir, "host_key.pub");
	const char *login[] = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "kbracket",
		"-f", image->identity, NULL};
	const char *host[] = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "kbracket", "-f",
		host_key, NULL};
	struct str pub = STR_INIT, line = STR_INIT;
	int ret = 0;

	if (!file_exists(image->identity))
		ret = run_keygen(login, err);
	if (ret == 0 && !file_exists(host_key))
		ret = run_keygen(host, err);
	if (ret == 0)
		ret = file_read(host_pub, 4096, &pub, err);
	if (ret == 0) {
		str_addf(&line, GUEST_HOST_NAME " %s", str_text(&pub));
		ret = file_write_atomic(image->known_hosts, line.text, line.len, 0600, err);
	}
	str_release(&pub);
	str_release(&line);
	free(host_key);
	free(host_pub);
	return ret ? err_wrap(err, "ssh keys for guests") : 0;
}

/* dropbear has a key format of its own. */
static int convert_host_key(const char *dir, char **path, struct err *err)
{
	char *host_key = path_join(dir, "host_key");
	const char *argv[] = {"dropbearconvert", "openssh", "dropbear", host_key, NULL, NULL};
	int ret;

	*path = path_join(dir, "host_key.dropbear");
	argv[4] = *path;
	ret = file_exists(*path) ? 0 : run_keygen(argv, err);
	free(host_key);
	return ret;
}

static int hash_files(
	const struct guest_files *files, char key[SHA256_HEX_LEN + 1], struct err *err)
{
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add_field(&hash, IMAGE_RECIPE);
	sha256_add_field(&hash, init_script);
	for (size_t i = 0; i < files->to.count; i++) {
		char hex[SHA256_HEX_LEN + 1];
		int ret = sha256_of_file(files->from.items[i], hex, err);

		if (ret)
			return ret;
		sha256_add_field(&hash, files->to.items[i]);
		sha256_add_field(&hash, hex);
	}
	sha256_hex(&hash, key);
	return 0;
}

static void add_frame(struct cpio *cpio)
{
	static const char *const folders[] = {
		"dev", "proc", "sys", "run", "tmp", "root", "var/log"};
	static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n", group[] = "root:x:0:\n";
	static const char hosts[] = "127.0.0.1 localhost\n::1 localhost\n", shells[] = "/bin/sh\n";

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		cpio_add_folder(cpio, folders[i], 0755);
	cpio_add_folder(cpio, "root/.ssh", 0700);
	cpio_add_link(cpio, "bin/sh", "busybox");
	cpio_add_bytes(cpio, "init", 0755, init_script, sizeof(init_script) - 1);
	cpio_add_bytes(cpio, "etc/passwd", 0644, passwd, sizeof(passwd) - 1);
	cpio_add_bytes(cpio, "etc/group", 0644, group, sizeof(group) - 1);
	cpio_add_bytes(cpio, "etc/hosts", 0644, hosts, sizeof(hosts) - 1);
	cpio_add_bytes(cpio, "etc/shells", 0644, shells, sizeof(shells) - 1);
}

static int write_archive(FILE *file, const struct guest_files *files, struct err *err)
{
	struct cpio cpio;
	int ret = 0, end;

	cpio_begin(&cpio, file);
	add_frame(&cpio);
	for (size_t i = 0; i < files->to.count && ret == 0; i++) {
		const char *to = files->to.items[i];
		bool secret = str_starts(to, "root/.ssh/") || str_starts(to, "etc/dropbear/");

		ret = cpio_add_file(&cpio, to, secret ? 0600 : 0755, files->from.items[i], err);
	}
	end = cpio_end(&cpio, ret ? NULL : err);
	return ret ? ret : end;
}

/* Writes through a temporary name, so that a cache never holds a part of an image. */
static int write_image(const char *path, const struct guest_files *files, struct err *err)
{
	char *temp = xasprintf("%s.part", path);
	FILE *file = fopen(temp, "we");
	int ret = file ? 0 : err_errno(err, ERR_INFRA, errno, "cannot write %s", temp);

	if (ret == 0)
		ret = write_archive(file, files, err);
	if (file && fclose(file) != 0 && ret == 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot write %s", temp);
	if (ret == 0 && rename(temp, path) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot rename %s", temp);
	if (ret)
		(void)unlink(temp);
	free(temp);
	return ret;
}

static int gather(const struct machine_env *env, const char *dir, const struct guest_image *image,
	struct guest_files *files, struct err *err)
{
	char *host_key = NULL, *login = xasprintf("%s.pub", image->identity);
	int ret = convert_host_key(dir, &host_key, err);

	if (ret == 0) {
		guest_files_add(files, "etc/dropbear/host_key", host_key);
		guest_files_add(files, "root/.ssh/authorized_keys", login);
		guest_files_add(files, "bin/kbracket-agent", env->agent);
		ret = add_parts(files, err);
	}
	if (ret == 0)
		ret = add_suite_programs(files, env, err);
	free(host_key);
	free(login);
	return ret;
}

/* Images that no guest was started with for two weeks; one that stays costs space only. */
static void remove_old_images(const char *dir, const char *present)
{
	int64_t oldest_s = clock_wall_ns() / NS_PER_S - INT64_C(14) * 24 * 3600;
	struct strv names = STRV_INIT;

	(void)utimensat(AT_FDCWD, present, NULL, 0);
	if (file_list(dir, &names, NULL) != 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		char *path = path_join(dir, names.items[i]);
		struct stat st;

		if (str_ends(path, ".cpio") && stat(path, &st) == 0 && st.st_mtime < oldest_s)
			(void)unlink(path);
		free(path);
	}
	strv_release(&names);
}

static int find_or_write(
	const struct machine_env *env, const char *dir, struct guest_image *image, struct err *err)
{
	struct guest_files files = GUEST_FILES_INIT;
	char key[SHA256_HEX_LEN + 1];
	int ret = make_keys(dir, image, err);

	if (ret == 0)
		ret = gather(env, dir, image, &files, err);
	if (ret == 0)
		ret = hash_files(&files, key, err);
	if (ret == 0) {
		image->path = xasprintf("%s/%.16s.cpio", dir, key);
		if (!file_exists(image->path)) {
			log_line(LOG_DEBUG, "making the guest image %s of %zu files", image->path,
				files.to.count);
			ret = write_image(image->path, &files, err);
		}
		if (ret == 0)
			remove_old_images(dir, image->path);
	}
	guest_files_release(&files);
	return ret;
}

int guest_image_make(const struct machine_env *env, struct guest_image *out, struct err *err)
{
	struct guest_image image = {0};
	struct file_lock lock = FILE_LOCK_INIT;
	char *dir = path_join(env->cache_dir, "guest"), *lock_path = path_join(dir, "lock");
	int ret = file_mkdirs(dir, 0700, err);

	image.identity = path_join(dir, "login_key");
	image.known_hosts = path_join(dir, "known_hosts");
	if (ret == 0)
		ret = file_lock_take(&lock, lock_path, 120 * NS_PER_S, err);
	if (ret == 0)
		ret = find_or_write(env, dir, &image, err);
	file_lock_release(&lock);
	if (ret)
		guest_image_release(&image);
	else
		*out = image;
	free(dir);
	free(lock_path);
	return ret ? err_wrap(err, "guest image") : 0;
}

void guest_image_release(struct guest_image *image)
{
	free(image->path);
	free(image->identity);
	free(image->known_hosts);
	*image = (struct guest_image){0};
}
