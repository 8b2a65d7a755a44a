/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <ctype.h>

#include "base/num.h"
#include "base/str.h"
#include "sys/patch_int.h"

enum { MAX_BYTES = 16 << 20, MAX_FILES = 10000, MAX_PATH_LEN = 4096 };

int patch_bad(struct patch_parser *p, const char *what)
{
	return err_set(p->err, ERR_USAGE, "%s:%d: %s", p->name, p->line, what);
}

bool patch_peek(const struct patch_parser *p, struct patch_text_line *line)
{
	const char *newline;

	if (p->at >= p->end)
		return false;
	newline = memchr(p->at, '\n', (size_t)(p->end - p->at));
	line->text = p->at;
	line->len = (size_t)((newline ? newline : p->end) - p->at);
	return true;
}

void patch_advance(struct patch_parser *p, const struct patch_text_line *line)
{
	p->at = line->text + line->len + (line->text + line->len < p->end);
	p->line++;
}

bool patch_line_starts(const struct patch_text_line *line, const char *prefix)
{
	size_t len = strlen(prefix);

	return line->len >= len && !memcmp(line->text, prefix, len);
}

char *patch_line_rest(
	struct patch_parser *p, const struct patch_text_line *line, const char *prefix)
{
	size_t skip = strlen(prefix), len = line->len - skip;

	if (len && line->text[line->len - 1] == '\r')
		len--;
	return arena_strndup(p->arena, line->text + skip, len);
}

/* C-style quoting as git writes it for unusual names: "a/\303\244\t". NULL when damaged. */
static char *unquote(struct patch_parser *p, const char *text)
{
	static const char escapes[] = "abtnvfr\"\\", values[] = "\a\b\t\n\v\f\r\"\\";
	char *out = arena_alloc(p->arena, strlen(text) + 1), *to = out;

	for (text++; *text && *text != '"'; text++) {
		const char *hit;

		if (*text != '\\') {
			*to++ = *text;
			continue;
		}
		text++;
		if (text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' &&
			text[2] >= '0' && text[2] <= '7') {
			*to++ = (char)((text[0] - '0') * 64 + (text[1] - '0') * 8 + text[2] - '0');
			text += 2;
			continue;
		}
		hit = *text ? strchr(escapes, *text) : NULL;
		if (!hit)
			return NULL;
		*to++ = values[hit - escapes];
	}
	return *text == '"' ? out : NULL;
}

/* Inside the tree: relative, no empty, "." or ".." part, nothing called .git. */
static bool path_is_inside(const char *path)
{
	size_t len = strlen(path);

	if (!len || len > MAX_PATH_LEN)
		return false;
	while (path) {
		const char *slash = strchr(path, '/');
		size_t part = slash ? (size_t)(slash - path) : strlen(path);

		if (!part || (part == 1 && path[0] == '.') ||
			(part == 2 && !memcmp(path, "..", 2)) ||
			(part == 4 && !strncasecmp(path, ".git", 4)))
			return false;
		path = slash ? slash + 1 : NULL;
	}
	return true;
}

/* A path of a ---, +++, rename or copy line. stripped: with a/ or b/ in front. *out is NULL for
 * /dev/null. */
static int read_path(struct patch_parser *p, char *text, bool stripped, const char **out)
{
	char *tab;

	if (*text == '"') {
		text = unquote(p, text);
		if (!text)
			return patch_bad(p, "a quoted path that does not end");
	} else {
		tab = strchr(text, '\t'); /* diff -u writes the time behind it */
		if (tab)
			*tab = '\0';
	}
	if (!strcmp(text, "/dev/null")) {
		*out = NULL;
		return 0;
	}
	if (stripped) {
		text = strchr(text, '/');
		if (!text)
			return patch_bad(
				p, "a path without the a/ or b/ that git diff puts in front");
		text++;
	}
	if (!path_is_inside(text))
		return patch_bad(p, "a path that leaves the source tree");
	*out = text;
	return 0;
}

/* "a/NAME b/NAME" of a file without ---/+++ lines (mode change, empty file): both are the same. */
static int read_git_line(struct patch_parser *p, char *text, struct patch_file *file)
{
	size_t len = strlen(text);
	char *second;

	if (*text == '"')
		return 0; /* such names have rename or ---/+++ lines, or are refused below */
	if (len % 2 == 0 || text[len / 2] != ' ')
		return 0; /* a rename */
	second = text + len / 2 + 1;
	text[len / 2] = '\0';
	if (!strchr(text, '/') || !strchr(second, '/') ||
		strcmp(strchr(text, '/'), strchr(second, '/')))
		return 0;
	if (read_path(p, text, true, &file->old_path))
		return ERR_USAGE;
	file->new_path = file->old_path;
	return 0;
}

static int read_mode(struct patch_parser *p, const char *text, unsigned *mode)
{
	static const struct {
		const char *text;
		unsigned mode;
	} known[] = {
		{"100644", 0100644}, {"100664", 0100644}, {"100755", 0100755}, {"120000", 0120000}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(text, known[i].text)) {
			*mode = known[i].mode;
			return 0;
		}
	return patch_bad(p, "a file mode other than 100644, 100755 and 120000");
}

static void read_index(struct patch_parser *p, char *text, struct patch_file *file)
{
	size_t hex = strspn(text, "0123456789abcdef");

	if (hex >= 7 && hex <= 40 && str_starts(text + hex, "..") && strspn(text, "0") < hex)
		file->old_id = arena_strndup(p->arena, text, hex);
}

struct extended {
	bool created, deleted;
	const char *from, *to;
};

/* One line between "diff --git" and the first hunk. Returns 1 when it is not one of those. */
static int read_extended(struct patch_parser *p, const struct patch_text_line *line,
	struct patch_file *file, struct extended *seen)
{
	unsigned ignored;

	if (patch_line_starts(line, "index ")) {
		read_index(p, patch_line_rest(p, line, "index "), file);
		return 0;
	}
	if (patch_line_starts(line, "old mode "))
		return read_mode(p, patch_line_rest(p, line, "old mode "), &ignored);
	if (patch_line_starts(line, "new mode "))
		return read_mode(p, patch_line_rest(p, line, "new mode "), &file->new_mode);
	if (patch_line_starts(line, "new file mode ")) {
		seen->created = true;
		return read_mode(p, patch_line_rest(p, line, "new file mode "), &file->new_mode);
	}
	if (patch_line_starts(line, "deleted file mode ")) {
		seen->deleted = true;
		return 0;
	}
	if (patch_line_starts(line, "similarity index ") ||
		patch_line_starts(line, "dissimilarity index "))
		return 0;
	if (patch_line_starts(line, "rename from "))
		return read_path(p, patch_line_rest(p, line, "rename from "), false, &seen->from);
	if (patch_line_starts(line, "rename to "))
		return read_path(p, patch_line_rest(p, line, "rename to "), false, &seen->to);
	if (patch_line_starts(line, "copy from ")) {
		file->is_copy = true;
		return read_path(p, patch_line_rest(p, line, "copy from "), false, &seen->from);
	}
	if (patch_line_starts(line, "copy to "))
		return read_path(p, patch_line_rest(p, line, "copy to "), false, &seen->to);
	if (patch_line_starts(line, "GIT binary patch") || patch_line_starts(line, "Binary files "))
		return patch_bad(p, "a binary patch: kbracket applies text patches only");
	if (patch_line_starts(line, "--- ")) {
		const char *path;
		int ret = read_path(p, patch_line_rest(p, line, "--- "), true, &path);

		seen->created |= ret == 0 && !path;
		if (ret == 0 && path)
			file->old_path = path;
		return ret;
	}
	if (patch_line_starts(line, "+++ ")) {
		const char *path;
		int ret = read_path(p, patch_line_rest(p, line, "+++ "), true, &path);

		seen->deleted |= ret == 0 && !path;
		if (ret == 0 && path)
			file->new_path = path;
		return ret;
	}
	return 1;
}

static int read_header(struct patch_parser *p, struct patch_file *file)
{
	struct extended seen = {0};
	struct patch_text_line line;
	int ret;

	file->old_id = "";
	if (patch_peek(p, &line) && patch_line_starts(&line, "diff --git ")) {
		if (read_git_line(p, patch_line_rest(p, &line, "diff --git "), file))
			return ERR_USAGE;
		patch_advance(p, &line);
	}
	while (patch_peek(p, &line)) {
		ret = read_extended(p, &line, file, &seen);
		if (ret > 0)
			break;
		if (ret)
			return ret;
		patch_advance(p, &line);
	}
	if (seen.from)
		file->old_path = seen.from;
	if (seen.to)
		file->new_path = seen.to;
	if (seen.created)
		file->old_path = NULL;
	if (seen.deleted)
		file->new_path = NULL;
	if (!file->old_path && !file->new_path)
		return patch_bad(p, "a diff that names no file");
	return 0;
}

static bool file_begins(const struct patch_parser *p, const struct patch_text_line *line)
{
	struct patch_parser next = *p;
	struct patch_text_line second, third;

	if (patch_line_starts(line, "diff --git "))
		return true;
	if (!patch_line_starts(line, "--- "))
		return false;
	patch_advance(&next, line);
	if (!patch_peek(&next, &second) || !patch_line_starts(&second, "+++ "))
		return false;
	patch_advance(&next, &second);
	return patch_peek(&next, &third) && patch_line_starts(&third, "@@ -");
}

/* A line of the mail around the diffs. */
static void read_mail_line(struct patch_parser *p, const struct patch_text_line *line)
{
	if (patch_line_starts(line, "Subject: ") && !*p->patch->subject) {
		struct str safe = STR_INIT;
		const char *text = patch_line_rest(p, line, "Subject: ");

		str_add_safe(&safe, text, strlen(text) < 200 ? strlen(text) : 200);
		p->patch->subject = arena_strdup(p->arena, str_text(&safe));
		str_release(&safe);
	}
	if (patch_line_starts(line, "base-commit: ") && !*p->patch->base_commit) {
		const char *text = patch_line_rest(p, line, "base-commit: ");

		if (strspn(text, "0123456789abcdef") == 40)
			p->patch->base_commit = arena_strndup(p->arena, text, 40);
	}
}

static int read_files(struct patch_parser *p, struct patch_file **files)
{
	struct patch_text_line line;
	int ret = 0;

	while (ret == 0 && patch_peek(p, &line)) {
		if (!file_begins(p, &line)) {
			if (patch_line_starts(&line, "@@ -"))
				return patch_bad(p, "a hunk without a file name before it");
			read_mail_line(p, &line);
			patch_advance(p, &line);
			continue;
		}
		if (p->patch->file_count == MAX_FILES)
			return patch_bad(p, "more than 10,000 files");
		GROW(*files, p->patch->file_count, p->file_capacity);
		(*files)[p->patch->file_count] = (struct patch_file){0};
		ret = read_header(p, &(*files)[p->patch->file_count]);
		if (ret == 0)
			ret = patch_read_hunks(p, &(*files)[p->patch->file_count]);
		p->patch->file_count++;
	}
	return ret;
}

int patch_parse(struct arena *arena, const char *name, const char *bytes, size_t len,
	struct patch *out, struct err *err)
{
	struct patch patch = {arena_strdup(arena, name), "", "", NULL, 0};
	struct patch_file *files = NULL;
	struct patch_parser p = {
		.arena = arena, .name = name, .line = 1, .err = err, .patch = &patch};
	int ret;

	if (len > MAX_BYTES)
		return err_set(err, ERR_USAGE, "%s: a patch of more than 16 MiB", name);
	if (memchr(bytes, '\0', len))
		return err_set(err, ERR_USAGE, "%s: this is not text (it holds NUL bytes)", name);
	p.at = arena_strndup(arena, bytes, len);
	p.end = p.at + len;
	ret = read_files(&p, &files);
	if (ret == 0 && !patch.file_count)
		ret = err_set(err, ERR_USAGE, "%s: no diff in it", name);
	if (ret == 0) {
		patch.files = arena_copy(arena, files, patch.file_count, sizeof(*files));
		*out = patch;
	}
	free(files);
	return ret;
}
