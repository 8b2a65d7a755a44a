/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "sys/proc.h"
#include "backend/debian_kernel.h"

enum { MAX_LISTED = 16 << 20, MAX_CANDIDATES = 500, MAX_STEPS = 4 };
#define MAX_PACKAGE_BYTES ((int64_t)1 << 30)

static const char prefix[] = "linux-image-";

/* One package as apt-cache shows it. */
struct record {
	const char *package, *version, *depends, *sha256, *size;
};

static const struct {
	const char *field;
	size_t offset;
} fields[] = {
	{"Package: ", offsetof(struct record, package)},
	{"Version: ", offsetof(struct record, version)},
	{"Depends: ", offsetof(struct record, depends)},
	{"SHA256: ", offsetof(struct record, sha256)},
	{"Size: ", offsetof(struct record, size)},
};

static const char **field_of(struct record *record, size_t i)
{
	return (const char **)((char *)record + fields[i].offset);
}

static void clear(struct record *record)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		*field_of(record, i) = "";
}

static int capture(const char *const *argv, struct str *out, struct err *err)
{
	static const int64_t limit_ns = 60 * NS_PER_S;
	struct proc_spec spec = {
		.argv = argv, .timeout_ns = limit_ns, .max_output_bytes = MAX_LISTED};

	return proc_check(&spec, out, err);
}

/* The next line of a text, cut off in place; NULL at the end. */
static char *next_line(char **at)
{
	char *line = *at, *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end++ = '\0';
	*at = end;
	return line;
}

static bool name_is_sound(const char *name, bool *is_pattern)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+.-");

	*is_pattern = !strcmp(name + len, "*");
	return str_starts(name, prefix) && (!name[len] || *is_pattern);
}

/* Positive when a is the newer version. */
static int compare_versions(const char *a, const char *b)
{
	static const char *const operators[] = {"gt", "lt"};

	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		const char *argv[] = {"dpkg", "--compare-versions", a, operators[i], b, NULL};
		struct proc_spec spec = {.argv = argv, .timeout_ns = 10 * NS_PER_S};
		struct proc_result result = PROC_RESULT_INIT;
		bool yes = proc_run(&spec, &result, NULL) == 0 && result.exit_code == 0 &&
			   !result.signal;

		proc_result_release(&result);
		if (yes)
			return i == 0 ? 1 : -1;
	}
	return 0;
}

/* The newest version; of the same version the shortest name, which is the metapackage. */
static bool is_better(const struct record *a, const struct record *b)
{
	int order;

	if (!*b->package)
		return true;
	order = compare_versions(a->version, b->version);
	if (order)
		return order > 0;
	return strlen(a->package) < strlen(b->package);
}

static bool is_candidate(const char *name)
{
	static const char *const others[] = {"-dbg", "-unsigned", "-template"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (str_ends(name, others[i]))
			return false;
	return true;
}

static int list_candidates(const char *pattern, struct strv *names, struct err *err)
{
	char *start = xstrndup(pattern, strlen(pattern) - 1), *at, *line;
	const char *argv[] = {"apt-cache", "pkgnames", start, NULL};
	struct str out = STR_INIT;
	int ret = capture(argv, &out, err);

	at = ret == 0 ? out.text : NULL;
	while ((line = next_line(&at)))
		if (str_starts(line, start) && is_candidate(line) && names->count < MAX_CANDIDATES)
			strv_add(names, line);
	str_release(&out);
	free(start);
	return ret;
}

static void take_record(struct arena *arena, struct record *seen, struct record *best)
{
	if (*seen->package && *seen->version && is_better(seen, best))
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
			*field_of(best, i) = arena_strdup(arena, *field_of(seen, i));
	clear(seen);
}

/* The best of the named packages; best->package is "" when apt knows none of them. */
static int show(struct arena *arena, const struct strv *names, struct record *best, struct err *err)
{
	struct strv argv = STRV_INIT;
	struct str out = STR_INIT;
	struct record seen;
	char *at, *line;
	int ret;

	clear(best);
	clear(&seen);
	strv_add_many(&argv, "apt-cache", "show", "--no-all-versions", "--quiet=2", NULL);
	strv_add_all(&argv, strv_argv(names));
	ret = capture(strv_argv(&argv), &out, err);
	at = ret == 0 ? out.text : NULL;
	while ((line = next_line(&at))) {
		if (!*line)
			take_record(arena, &seen, best);
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
			if (str_starts(line, fields[i].field))
				*field_of(&seen, i) = line + strlen(fields[i].field);
	}
	take_record(arena, &seen, best);
	str_release(&out);
	strv_release(&argv);
	return ret;
}

/* The kernel package that a metapackage depends on; NULL when it is none. */
static const char *leads_to(struct arena *arena, const struct record *record)
{
	const char *at = strstr(record->depends, prefix);

	if (!at || (at != record->depends && at[-1] != ' '))
		return NULL;
	return arena_strndup(arena, at, strcspn(at, " ,|("));
}

static int say_unknown(const char *name, struct err *err)
{
	return err_set(err, ERR_USAGE,
		"no Debian package \"%s\" is known here: run `apt-get update` as root if the lists "
		"are old or empty, or look for the name with `apt-cache search linux-image-`",
		name);
}

/* The version when the package is installed. */
static bool installed_version(struct arena *arena, const char *package, const char **version)
{
	static const char state[] = "installed ";
	const char *argv[] = {
		"dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package, NULL};
	struct str out = STR_INIT;
	bool yes = capture(argv, &out, NULL) == 0 && str_starts(str_text(&out), state);

	if (yes)
		*version = arena_strdup(arena, str_text(&out) + strlen(state));
	str_release(&out);
	return yes;
}

/* True and *out filled when it is installed and its kernel is in /boot. */
static bool find_installed(struct arena *arena, const char *package, struct debian_kernel *out)
{
	char *image = xasprintf("/boot/vmlinuz-%s", package + strlen(prefix));
	const char *version;
	bool found = file_exists(image) && installed_version(arena, package, &version);

	if (found)
		*out = (struct debian_kernel){
			arena_strdup(arena, package), version, "", 0, "/boot"};
	free(image);
	return found;
}

static int from_record(struct arena *arena, const struct record *record, struct debian_kernel *out,
	struct err *err)
{
	int64_t size;

	if (find_installed(arena, record->package, out) && !strcmp(out->version, record->version))
		return 0;
	if (strlen(record->sha256) != SHA256_HEX_LEN ||
		num_int(record->size, 1, MAX_PACKAGE_BYTES, &size, NULL))
		return err_set(err, ERR_USAGE,
			"apt-cache gives no SHA-256 and size (at most 1 GiB) for the package %s",
			record->package);
	*out = (struct debian_kernel){record->package, record->version, record->sha256, size, ""};
	return 0;
}

static int find_by_apt(struct arena *arena, const char *name, bool is_pattern,
	struct debian_kernel *out, struct err *err)
{
	struct strv names = STRV_INIT;
	struct record record;
	int ret = 0;

	clear(&record);
	if (is_pattern)
		ret = list_candidates(name, &names, err);
	else
		strv_add(&names, name);
	for (int step = 0; ret == 0 && step < MAX_STEPS; step++) {
		const char *next;

		if (!names.count || show(arena, &names, &record, err) || !*record.package) {
			ret = say_unknown(name, err);
			break;
		}
		next = leads_to(arena, &record);
		if (!next) {
			ret = from_record(arena, &record, out, err);
			break;
		}
		strv_release(&names);
		strv_add(&names, next);
		if (step == MAX_STEPS - 1)
			ret = say_unknown(name, err);
	}
	strv_release(&names);
	return ret;
}

int debian_kernel_find(
	struct arena *arena, const char *name, struct debian_kernel *out, struct err *err)
{
	char *apt = proc_find_program("apt-cache");
	bool is_pattern, has_apt = apt != NULL;

	free(apt);
	if (!name_is_sound(name, &is_pattern))
		return err_set(err, ERR_USAGE,
			"\"%s\" is not the name of a kernel package: it starts with "
			"\"linux-image-\" "
			"and may end with *",
			name);
	if (!has_apt)
		return err_set(err, ERR_USAGE,
			"package \"%s\": there is no apt-cache here; give the kernel as image: and "
			"modules: instead",
			name);
	if (!is_pattern && find_installed(arena, name, out))
		return 0;
	return find_by_apt(arena, name, is_pattern, out, err);
}

/* apt-get download writes into the current folder. As root it would drop its rights first and
 * complain that it can't write there; what it fetches is checked by hash in any case. */
static int download(
	const struct debian_kernel *kernel, const char *folder, char **file, struct err *err)
{
	char *what = xasprintf("%s=%s", kernel->package, kernel->version);
	const char *argv[] = {
		"apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", what, NULL};
	struct proc_spec spec = {.argv = argv, .cwd = folder, .timeout_ns = 900 * NS_PER_S};
	char hex[SHA256_HEX_LEN + 1];
	struct strv names = STRV_INIT;
	int ret;

	ret = proc_check(&spec, NULL, err);
	if (ret)
		ret = err_wrap(err, "cannot download the package %s", what);
	if (ret == 0)
		ret = file_list(folder, &names, err);
	if (ret == 0 && (names.count != 1 || !str_ends(names.items[0], ".deb")))
		ret = err_set(
			err, ERR_INFRA, "apt-get download %s left no package in %s", what, folder);
	if (ret == 0) {
		*file = path_join(folder, names.items[0]);
		ret = sha256_of_file(*file, hex, err);
	}
	if (ret == 0 && strcmp(hex, kernel->sha256) != 0)
		ret = err_set(err, ERR_INFRA, "%s has SHA-256 %s, the archive says %s", *file, hex,
			kernel->sha256);
	strv_release(&names);
	free(what);
	return ret;
}

static int unpack(const char *file, const char *folder, struct err *err)
{
	static const char *const keep[] = {"boot", "lib"};
	const char *argv[] = {"dpkg-deb", "-x", file, folder, NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 600 * NS_PER_S};
	struct strv names = STRV_INIT;
	int ret = proc_check(&spec, NULL, err);

	if (ret == 0)
		ret = file_list(folder, &names, err);
	for (size_t i = 0; ret == 0 && i < names.count; i++) {
		char *path = path_join(folder, names.items[i]);

		if (strcmp(names.items[i], keep[0]) != 0 && strcmp(names.items[i], keep[1]) != 0)
			ret = file_remove_tree(path, err);
		free(path);
	}
	strv_release(&names);
	return ret;
}

int debian_kernel_unpack(const struct debian_kernel *kernel, const char *folder, struct err *err)
{
	char *archive = xasprintf("%s.deb-folder", folder), *file = NULL;
	int ret, cleaned;

	ret = file_mkdirs(archive, 0755, err);
	if (ret == 0)
		ret = download(kernel, archive, &file, err);
	if (ret == 0)
		ret = file_mkdirs(folder, 0755, err);
	if (ret == 0)
		ret = unpack(file, folder, err);
	cleaned = file_remove_tree(archive, ret ? NULL : err);
	free(file);
	free(archive);
	return ret ? ret : cleaned;
}
