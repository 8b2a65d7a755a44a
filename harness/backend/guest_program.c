/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "backend/guest_program.h"
#include "sys/proc.h"

enum { HEAD_BYTES = 65536 };

void guest_files_add(struct guest_files *files, const char *to, const char *from)
{
	to += to[0] == '/';
	if (strv_has(&files->to, to))
		return;
	strv_add(&files->to, to);
	strv_add(&files->from, from);
}

void guest_files_release(struct guest_files *files)
{
	strv_release(&files->to);
	strv_release(&files->from);
}

/* The first bytes of a file; they are followed by a NUL. */
static int read_head(const char *path, struct str *head, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;
	char *bytes;
	ssize_t got;

	if (fd < 0)
		return err_errno(err, errno == ENOENT ? ERR_USAGE : ERR_INFRA, errno,
			"cannot open the program %s", path);
	bytes = xmalloc(HEAD_BYTES);
	got = read(fd, bytes, HEAD_BYTES);
	if (got < 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot read the program %s", path);
	else
		str_add_bytes(head, bytes, (size_t)got);
	free(bytes);
	(void)close(fd); /* only read from */
	return ret;
}

static int check_script(const char *path, const char *head, struct err *err)
{
	size_t len = strcspn(head + 2, "\n");
	const char *interpreter = head + 2 + strspn(head + 2, " \t");
	struct str safe = STR_INIT;
	int ret = 0;

	if (strcspn(interpreter, " \t\n") != 7 || strncmp(interpreter, "/bin/sh", 7) != 0) {
		str_add_safe(&safe, head + 2, len < 100 ? len : 100);
		ret = err_set(err, ERR_USAGE,
			"%s is a script for '%s'; guests have no interpreter but /bin/sh", path,
			str_text(&safe));
	}
	str_release(&safe);
	return ret;
}

/* The loader that a program names (PT_INTERP), in head; *out is NULL for a static program. */
static int find_loader(const char *path, const struct str *head, const char **out, struct err *err)
{
	Elf64_Ehdr elf;

	*out = NULL;
	if (head->len >= sizeof(elf))
		memcpy(&elf, head->text, sizeof(elf));
	if (head->len < sizeof(elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0)
		return err_set(err, ERR_USAGE, "%s is neither a program nor a script", path);
	if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof(Elf64_Phdr))
		return err_set(
			err, ERR_USAGE, "%s is no 64-bit program; guests run no other", path);
	for (size_t i = 0; i < elf.e_phnum; i++) {
		size_t at = elf.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;

		if (at < elf.e_phoff || at > head->len - sizeof(segment))
			break;
		memcpy(&segment, head->text + at, sizeof(segment));
		if (segment.p_type == PT_INTERP && segment.p_offset < head->len)
			*out = head->text + segment.p_offset;
	}
	return 0;
}

/* glibc's loader tells missing libraries only when asked by its environment, as ldd(1) does;
 * another one might then run the program. Of our environment it gets where the user says libraries
 * are. */
static int list_libraries(const char *loader, const char *path, struct str *list, struct err *err)
{
	bool glibc = str_starts(path_name(loader), "ld-linux");
	const char *masked[] = {loader, "--glibc-hwcaps-mask", "none", path, NULL};
	const char *plain[] = {loader, path, NULL};
	const char *other[] = {loader, "--list", path, NULL};
	const char *where = getenv("LD_LIBRARY_PATH");
	char *variable = xasprintf("LD_LIBRARY_PATH=%s", where ? where : "");
	const char *env[] = {"LC_ALL=C", glibc ? "LD_TRACE_LOADED_OBJECTS=1" : "KB=1",
		where ? variable : NULL, NULL};
	struct proc_spec spec = {
		.argv = glibc ? masked : other, .env = env, .timeout_ns = 30 * NS_PER_S};
	int ret = proc_check(&spec, list, err);

	if (ret == ERR_INFRA && glibc) { /* before 2.33 there was no mask */
		spec.argv = plain;
		ret = proc_check(&spec, list, err);
	}
	free(variable);
	return ret;
}

/* The loader's folder for libraries of the system, where it looks without being told. */
static char *system_folder(const struct strv *libraries)
{
	for (size_t i = 0; i < libraries->count; i++)
		if (str_starts(path_name(libraries->items[i]), "libc.so") ||
			str_starts(path_name(libraries->items[i]), "libc.musl"))
			return path_dir(libraries->items[i]);
	return NULL;
}

/* A guest's loader has no list of further folders: what lies elsewhere goes to the system's too. */
static void add_library(struct guest_files *files, const char *path, const char *system)
{
	char *folder = path_dir(path), *there = xasprintf("%s/%s", system, path_name(path));

	guest_files_add(files, path, path);
	if (strcmp(folder, system) != 0 && !str_starts(path_name(path), "ld-"))
		guest_files_add(files, there, path);
	free(folder);
	free(there);
}

static void add_all(struct guest_files *files, const struct strv *libraries)
{
	char *system = system_folder(libraries);
	char *unwinder = system ? path_join(system, "libgcc_s.so.1") : NULL;

	for (size_t i = 0; i < libraries->count; i++)
		add_library(files, libraries->items[i], system ? system : "/lib");
	/* The C library loads it by itself when a thread ends early. */
	if (unwinder && file_exists(unwinder))
		guest_files_add(files, unwinder, unwinder);
	free(system);
	free(unwinder);
}

/* One line: "name => path (address)", "path (address)", "name => not found", or a virtual one. */
static int read_line(const char *path, char *line, struct strv *libraries, struct err *err)
{
	char *file = strchr(line, '/'), *end = file ? strstr(file, " (") : NULL;

	if (strstr(line, "not found"))
		return err_set(err, ERR_USAGE, "%s needs %.*s, which is not on this host", path,
			(int)strcspn(line + strspn(line, "\t "), " "), line + strspn(line, "\t "));
	if (end) {
		*end = '\0';
		strv_add(libraries, file);
	}
	return 0;
}

static int add_libraries(
	struct guest_files *files, const char *loader, const char *path, struct err *err)
{
	struct strv libraries = STRV_INIT;
	struct str list = STR_INIT;
	char *save = NULL;
	int ret = list_libraries(loader, path, &list, err);

	if (ret == 0 && list.text)
		for (char *line = strtok_r(list.text, "\n", &save); line && ret == 0;
			line = strtok_r(NULL, "\n", &save))
			ret = read_line(path, line, &libraries, err);
	if (ret == 0) {
		guest_files_add(files, loader, loader);
		add_all(files, &libraries);
	}
	strv_release(&libraries);
	str_release(&list);
	return ret ? err_wrap(err, "libraries of %s", path) : 0;
}

int guest_program_add(struct guest_files *files, const char *to, const char *from, struct err *err)
{
	struct str head = STR_INIT;
	const char *loader = NULL;
	int ret = read_head(from, &head, err);

	if (ret == 0 && head.len > 2 && memcmp(head.text, "#!", 2) == 0)
		ret = check_script(from, head.text, err);
	else if (ret == 0)
		ret = find_loader(from, &head, &loader, err);
	if (ret == 0 && loader)
		ret = add_libraries(files, loader, from, err);
	if (ret == 0)
		guest_files_add(files, to, from);
	str_release(&head);
	return ret;
}
