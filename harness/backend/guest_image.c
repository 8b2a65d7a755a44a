/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "backend/cpio.h"
#include "backend/guest_image.h"
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

/* Everything that goes into the image, gathered before anything is written, so that the hash of it
 * is known first. */
struct content {
	struct strv to;	    /* path in the guest */
	struct strv from;   /* path here */
	struct strv loaded; /* libraries already there, by path in the guest */
};

static void content_add(struct content *content, const char *to, const char *from)
{
	strv_add(&content->to, to[0] == '/' ? to + 1 : to);
	strv_add(&content->from, from);
}

static void content_release(struct content *content)
{
	strv_release(&content->to);
	strv_release(&content->from);
	strv_release(&content->loaded);
}

/* The program's interpreter (PT_INTERP), freed by the caller; NULL for a static program. */
static char *find_interpreter(const char *path)
{
	struct str head = STR_INIT;
	char *interpreter = NULL;
	Elf64_Ehdr elf;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	head.text = xcalloc(1, 65537);
	got = read(fd, head.text, 65536);
	(void)close(fd); /* only read from */
	head.len = got > 0 ? (size_t)got : 0;
	memcpy(&elf, head.text, sizeof(elf));
	if (head.len < sizeof(elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
		elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof(Elf64_Phdr))
		elf.e_phnum = 0;
	for (size_t i = 0; i < elf.e_phnum && !interpreter; i++) {
		size_t at = elf.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;

		if (at > head.len - sizeof(segment))
			break;
		memcpy(&segment, head.text + at, sizeof(segment));
		if (segment.p_type == PT_INTERP && segment.p_offset < head.len)
			interpreter = xstrdup(head.text + segment.p_offset);
	}
	str_release(&head);
	return interpreter;
}

/* One line of `ld.so --list`: "name => path (address)" or "path (address)". */
static void add_library(struct content *content, char *line)
{
	char *path = strchr(line, '/'), *end = path ? strstr(path, " (") : NULL;

	if (!end)
		return;
	*end = '\0';
	if (strv_has(&content->loaded, path))
		return;
	strv_add(&content->loaded, path);
	content_add(content, path, path);
}

static int add_libraries(struct content *content, const char *path, struct err *err)
{
	char *interpreter = find_interpreter(path), *save = NULL;
	const char *argv[] = {interpreter, "--list", path, NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 30 * NS_PER_S};
	struct str list = STR_INIT;
	int ret;

	if (!interpreter)
		return 0;
	ret = proc_check(&spec, &list, err);
	if (ret == 0 && list.text)
		for (char *line = strtok_r(list.text, "\n", &save); line;
			line = strtok_r(NULL, "\n", &save))
			add_library(content, line);
	str_release(&list);
	free(interpreter);
	return ret ? err_wrap(err, "libraries of %s", path) : 0;
}

static int add_program(struct content *content, const char *to, const char *from, struct err *err)
{
	content_add(content, to, from);
	return add_libraries(content, from, err);
}

static int add_parts(struct content *content, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts) && ret == 0; i++) {
		char *path = proc_find_program(parts[i].program);
		char *to = xasprintf("bin/%s", parts[i].program);

		if (path)
			ret = add_program(content, to, path, err);
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

static int add_suite_programs(
	struct content *content, const struct machine_env *env, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < env->program_count && ret == 0; i++) {
		const struct machine_program *program = &env->programs[i];
		char *to = xasprintf("kb/programs/%s", program->name);

		if (program->path)
			ret = add_program(content, to, program->path, err);
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

static int hash_content(
	const struct content *content, char key[SHA256_HEX_LEN + 1], struct err *err)
{
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add_field(&hash, IMAGE_RECIPE);
	sha256_add_field(&hash, init_script);
	for (size_t i = 0; i < content->to.count; i++) {
		char hex[SHA256_HEX_LEN + 1];
		int ret = sha256_of_file(content->from.items[i], hex, err);

		if (ret)
			return ret;
		sha256_add_field(&hash, content->to.items[i]);
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

static int write_archive(FILE *file, const struct content *content, struct err *err)
{
	struct cpio cpio;
	int ret = 0, end;

	cpio_begin(&cpio, file);
	add_frame(&cpio);
	for (size_t i = 0; i < content->to.count && ret == 0; i++) {
		const char *to = content->to.items[i];
		bool secret = str_starts(to, "root/.ssh/") || str_starts(to, "etc/dropbear/");

		ret = cpio_add_file(&cpio, to, secret ? 0600 : 0755, content->from.items[i], err);
	}
	end = cpio_end(&cpio, ret ? NULL : err);
	return ret ? ret : end;
}

/* Writes through a temporary name, so that a cache never holds a part of an image. */
static int write_image(const char *path, const struct content *content, struct err *err)
{
	char *temp = xasprintf("%s.part", path);
	FILE *file = fopen(temp, "we");
	int ret = file ? 0 : err_errno(err, ERR_INFRA, errno, "cannot write %s", temp);

	if (ret == 0)
		ret = write_archive(file, content, err);
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
	struct content *content, struct err *err)
{
	char *host_key = NULL, *login = xasprintf("%s.pub", image->identity);
	int ret = convert_host_key(dir, &host_key, err);

	if (ret == 0) {
		content_add(content, "etc/dropbear/host_key", host_key);
		content_add(content, "root/.ssh/authorized_keys", login);
		content_add(content, "bin/kbracket-agent", env->agent);
		ret = add_parts(content, err);
	}
	if (ret == 0)
		ret = add_suite_programs(content, env, err);
	free(host_key);
	free(login);
	return ret;
}

static int find_or_write(
	const struct machine_env *env, const char *dir, struct guest_image *image, struct err *err)
{
	struct content content = {0};
	char key[SHA256_HEX_LEN + 1];
	int ret = make_keys(dir, image, err);

	if (ret == 0)
		ret = gather(env, dir, image, &content, err);
	if (ret == 0)
		ret = hash_content(&content, key, err);
	if (ret == 0) {
		image->path = xasprintf("%s/%.16s.cpio", dir, key);
		if (!file_exists(image->path)) {
			log_line(LOG_INFO, "guest image: %zu files", content.to.count);
			ret = write_image(image->path, &content, err);
		}
		image->bytes = file_size(image->path);
	}
	content_release(&content);
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
