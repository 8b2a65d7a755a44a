/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <ctype.h>

#include "base/num.h"
#include "base/str.h"
#include "sys/patch.h"

enum { MAX_BYTES = 16 << 20, MAX_FILES = 10000, MAX_LINES = 1000000, MAX_PATH_LEN = 4096 };

struct parser {
	struct arena *arena;
	const char *name;
	const char *at, *end;
	int line; /* of the line at `at`, from 1 */
	struct err *err;
	struct patch *patch;
	size_t file_capacity, lines_seen;
};

struct line {
	const char *text;
	size_t len; /* without "\n"; a "\r" before it is cut off in headers only */
};

static int bad(struct parser *p, const char *what)
{
	return err_set(p->err, ERR_USAGE, "%s:%d: %s", p->name, p->line, what);
}

static bool peek(const struct parser *p, struct line *line)
{
	const char *newline;

	if (p->at >= p->end)
		return false;
	newline = memchr(p->at, '\n', (size_t)(p->end - p->at));
	line->text = p->at;
	line->len = (size_t)((newline ? newline : p->end) - p->at);
	return true;
}

static void advance(struct parser *p, const struct line *line)
{
	p->at = line->text + line->len + (line->text + line->len < p->end);
	p->line++;
}

static bool starts(const struct line *line, const char *prefix)
{
	size_t len = strlen(prefix);

	return line->len >= len && !memcmp(line->text, prefix, len);
}

/* The rest of a header line behind its prefix, in the arena, without a carriage return. */
static char *rest(struct parser *p, const struct line *line, const char *prefix)
{
	size_t skip = strlen(prefix), len = line->len - skip;

	if (len && line->text[line->len - 1] == '\r')
		len--;
	return arena_strndup(p->arena, line->text + skip, len);
}

/* C-style quoting as git writes it for unusual names: "a/\303\244\t". NULL when damaged. */
static char *unquote(struct parser *p, const char *text)
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
static int read_path(struct parser *p, char *text, bool stripped, const char **out)
{
	char *tab;

	if (*text == '"') {
		text = unquote(p, text);
		if (!text)
			return bad(p, "a quoted path that does not end");
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
			return bad(p, "a path without the a/ or b/ that git diff puts in front");
		text++;
	}
	if (!path_is_inside(text))
		return bad(p, "a path that leaves the source tree");
	*out = text;
	return 0;
}

/* "a/NAME b/NAME" of a file without ---/+++ lines (mode change, empty file): both are the same. */
static int read_git_line(struct parser *p, char *text, struct patch_file *file)
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

static int read_mode(struct parser *p, const char *text, unsigned *mode)
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
	return bad(p, "a file mode other than 100644, 100755 and 120000");
}

static void read_index(struct parser *p, char *text, struct patch_file *file)
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
static int read_extended(
	struct parser *p, const struct line *line, struct patch_file *file, struct extended *seen)
{
	unsigned ignored;

	if (starts(line, "index ")) {
		read_index(p, rest(p, line, "index "), file);
		return 0;
	}
	if (starts(line, "old mode "))
		return read_mode(p, rest(p, line, "old mode "), &ignored);
	if (starts(line, "new mode "))
		return read_mode(p, rest(p, line, "new mode "), &file->new_mode);
	if (starts(line, "new file mode ")) {
		seen->created = true;
		return read_mode(p, rest(p, line, "new file mode "), &file->new_mode);
	}
	if (starts(line, "deleted file mode ")) {
		seen->deleted = true;
		return 0;
	}
	if (starts(line, "similarity index ") || starts(line, "dissimilarity index "))
		return 0;
	if (starts(line, "rename from "))
		return read_path(p, rest(p, line, "rename from "), false, &seen->from);
	if (starts(line, "rename to "))
		return read_path(p, rest(p, line, "rename to "), false, &seen->to);
	if (starts(line, "copy from ")) {
		file->is_copy = true;
		return read_path(p, rest(p, line, "copy from "), false, &seen->from);
	}
	if (starts(line, "copy to "))
		return read_path(p, rest(p, line, "copy to "), false, &seen->to);
	if (starts(line, "GIT binary patch") || starts(line, "Binary files "))
		return bad(p, "a binary patch: kbracket applies text patches only");
	if (starts(line, "--- ")) {
		const char *path;
		int ret = read_path(p, rest(p, line, "--- "), true, &path);

		seen->created |= ret == 0 && !path;
		if (ret == 0 && path)
			file->old_path = path;
		return ret;
	}
	if (starts(line, "+++ ")) {
		const char *path;
		int ret = read_path(p, rest(p, line, "+++ "), true, &path);

		seen->deleted |= ret == 0 && !path;
		if (ret == 0 && path)
			file->new_path = path;
		return ret;
	}
	return 1;
}

static int read_header(struct parser *p, struct patch_file *file)
{
	struct extended seen = {0};
	struct line line;
	int ret;

	file->old_id = "";
	if (peek(p, &line) && starts(&line, "diff --git ")) {
		if (read_git_line(p, rest(p, &line, "diff --git "), file))
			return ERR_USAGE;
		advance(p, &line);
	}
	while (peek(p, &line)) {
		ret = read_extended(p, &line, file, &seen);
		if (ret > 0)
			break;
		if (ret)
			return ret;
		advance(p, &line);
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
		return bad(p, "a diff that names no file");
	return 0;
}

/* "12,7 " or "12 ": start and count. */
static const char *read_range(const char *text, size_t *start, size_t *count)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	*start = strtoul(text, &end, 10);
	*count = 1;
	if (*end == ',') {
		text = end + 1;
		if (!isdigit((unsigned char)*text))
			return NULL;
		*count = strtoul(text, &end, 10);
	}
	return *start > MAX_LINES * 10UL || *count > MAX_LINES ? NULL : end;
}

static bool read_hunk_head(struct parser *p, const struct line *line, struct patch_hunk *hunk)
{
	const char *text = rest(p, line, "@@ -");

	text = read_range(text, &hunk->old_start, &hunk->old_count);
	if (!text || !str_starts(text, " +"))
		return false;
	text = read_range(text + 2, &hunk->new_start, &hunk->new_count);
	return text && str_starts(text, " @@");
}

static int read_hunk(struct parser *p, struct patch_hunk *hunk)
{
	size_t old_left, new_left;
	struct line line = {0};

	if (!peek(p, &line) || !read_hunk_head(p, &line, hunk))
		return bad(p, "a hunk header that cannot be read");
	old_left = hunk->old_count;
	new_left = hunk->new_count;
	p->lines_seen += old_left + new_left;
	if (p->lines_seen > MAX_LINES)
		return bad(p, "more than 1,000,000 lines of changes");
	hunk->lines = arena_alloc(p->arena, (old_left + new_left + 1) * sizeof(*hunk->lines));
	for (;;) {
		struct patch_line *out;
		char kind;

		advance(p, &line);
		if (!peek(p, &line)) {
			line.len = 0;
			kind = '\0';
		} else {
			kind = line.len ? line.text[0] : ' '; /* mailers cut lone blanks off */
		}
		if (kind == '\\' && hunk->line_count) {
			hunk->lines[hunk->line_count - 1].no_newline = true;
			continue;
		}
		if (!old_left && !new_left)
			return 0;
		if ((kind != ' ' && kind != '+' && kind != '-') || (kind != '+' && !old_left) ||
			(kind != '-' && !new_left))
			return bad(p, "the hunk ends before its header says so: the patch was cut "
				      "off, or its lines were wrapped by a mail program");
		out = &hunk->lines[hunk->line_count++];
		out->kind = kind;
		out->text = line.text + (line.len > 0);
		out->len = line.len - (line.len > 0);
		old_left -= kind != '+';
		new_left -= kind != '-';
	}
}

static int read_hunks(struct parser *p, struct patch_file *file)
{
	struct patch_hunk *hunks = NULL;
	size_t capacity = 0;
	struct line line;
	int ret = 0;

	while (ret == 0 && peek(p, &line) && starts(&line, "@@ -")) {
		GROW(hunks, file->hunk_count, capacity);
		hunks[file->hunk_count] = (struct patch_hunk){0};
		ret = read_hunk(p, &hunks[file->hunk_count++]);
	}
	file->hunks = arena_copy(p->arena, hunks, file->hunk_count, sizeof(*hunks));
	free(hunks);
	return ret;
}

static bool file_begins(const struct parser *p, const struct line *line)
{
	struct parser next = *p;
	struct line second, third;

	if (starts(line, "diff --git "))
		return true;
	if (!starts(line, "--- "))
		return false;
	advance(&next, line);
	if (!peek(&next, &second) || !starts(&second, "+++ "))
		return false;
	advance(&next, &second);
	return peek(&next, &third) && starts(&third, "@@ -");
}

/* A line of the mail around the diffs. */
static void read_mail_line(struct parser *p, const struct line *line)
{
	if (starts(line, "Subject: ") && !*p->patch->subject) {
		struct str safe = STR_INIT;
		const char *text = rest(p, line, "Subject: ");

		str_add_safe(&safe, text, strlen(text) < 200 ? strlen(text) : 200);
		p->patch->subject = arena_strdup(p->arena, str_text(&safe));
		str_release(&safe);
	}
	if (starts(line, "base-commit: ") && !*p->patch->base_commit) {
		const char *text = rest(p, line, "base-commit: ");

		if (strspn(text, "0123456789abcdef") == 40)
			p->patch->base_commit = arena_strndup(p->arena, text, 40);
	}
}

static int read_files(struct parser *p, struct patch_file **files)
{
	struct line line;
	int ret = 0;

	while (ret == 0 && peek(p, &line)) {
		if (!file_begins(p, &line)) {
			if (starts(&line, "@@ -"))
				return bad(p, "a hunk without a file name before it");
			read_mail_line(p, &line);
			advance(p, &line);
			continue;
		}
		if (p->patch->file_count == MAX_FILES)
			return bad(p, "more than 10,000 files");
		GROW(*files, p->patch->file_count, p->file_capacity);
		(*files)[p->patch->file_count] = (struct patch_file){0};
		ret = read_header(p, &(*files)[p->patch->file_count]);
		if (ret == 0)
			ret = read_hunks(p, &(*files)[p->patch->file_count]);
		p->patch->file_count++;
	}
	return ret;
}

int patch_parse(struct arena *arena, const char *name, const char *bytes, size_t len,
	struct patch *out, struct err *err)
{
	struct patch patch = {arena_strdup(arena, name), "", "", NULL, 0};
	struct patch_file *files = NULL;
	struct parser p = {.arena = arena, .name = name, .line = 1, .err = err, .patch = &patch};
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
