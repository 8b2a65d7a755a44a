/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <ctype.h>

#include "base/str.h"
#include "sys/patch_int.h"

enum { MAX_LINES = 1000000 };

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

static bool read_hunk_head(
	struct patch_parser *p, const struct patch_text_line *line, struct patch_hunk *hunk)
{
	const char *text = patch_line_rest(p, line, "@@ -");

	text = read_range(text, &hunk->old_start, &hunk->old_count);
	if (!text || !str_starts(text, " +"))
		return false;
	text = read_range(text + 2, &hunk->new_start, &hunk->new_count);
	return text && str_starts(text, " @@");
}

static int read_hunk(struct patch_parser *p, struct patch_hunk *hunk)
{
	size_t old_left, new_left;
	struct patch_text_line line = {0};

	if (!patch_peek(p, &line) || !read_hunk_head(p, &line, hunk))
		return patch_bad(p, "a hunk header that cannot be read");
	old_left = hunk->old_count;
	new_left = hunk->new_count;
	p->lines_seen += old_left + new_left;
	if (p->lines_seen > MAX_LINES)
		return patch_bad(p, "more than 1,000,000 lines of changes");
	hunk->lines = arena_alloc(p->arena, (old_left + new_left + 1) * sizeof(*hunk->lines));
	for (;;) {
		struct patch_line *out;
		char kind;

		patch_advance(p, &line);
		if (!patch_peek(p, &line)) {
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
			return patch_bad(p,
				"the hunk ends before its header says so: the patch was cut "
				"off, or its lines were wrapped by a mail program");
		out = &hunk->lines[hunk->line_count++];
		out->kind = kind;
		out->text = line.text + (line.len > 0);
		out->len = line.len - (line.len > 0);
		old_left -= kind != '+';
		new_left -= kind != '-';
	}
}

int patch_read_hunks(struct patch_parser *p, struct patch_file *file)
{
	struct patch_hunk *hunks = NULL;
	size_t capacity = 0;
	struct patch_text_line line;
	int ret = 0;

	while (ret == 0 && patch_peek(p, &line) && patch_line_starts(&line, "@@ -")) {
		GROW(hunks, file->hunk_count, capacity);
		hunks[file->hunk_count] = (struct patch_hunk){0};
		ret = read_hunk(p, &hunks[file->hunk_count++]);
	}
	file->hunks = arena_copy(p->arena, hunks, file->hunk_count, sizeof(*hunks));
	free(hunks);
	return ret;
}
