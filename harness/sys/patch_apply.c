/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/str.h"
#include "sys/patch.h"

/* One line of the old file; the last may lack its newline. */
struct old_line {
	const char *text;
	size_t len;
	bool no_newline;
};

struct old_file {
	struct old_line *lines;
	size_t count, capacity;
};

static void split(const char *text, size_t len, struct old_file *file)
{
	while (len) {
		const char *newline = memchr(text, '\n', len);
		size_t line = newline ? (size_t)(newline - text) : len;

		GROW(file->lines, file->count, file->capacity);
		file->lines[file->count++] = (struct old_line){text, line, !newline};
		text += line + (newline != NULL);
		len -= line + (newline != NULL);
	}
}

/* Number of lines of the hunk that match at a place, up to the first that does not; equal to the
 * number of old lines when all do. *differs is that first line. */
static size_t match_at(const struct patch_hunk *hunk, const struct old_file *old, size_t at,
	const struct patch_line **differs)
{
	size_t matched = 0;

	for (size_t i = 0; i < hunk->line_count; i++) {
		const struct patch_line *want = &hunk->lines[i];
		const struct old_line *have;

		if (want->kind == PATCH_ADD)
			continue;
		*differs = want;
		if (at + matched >= old->count)
			return matched;
		have = &old->lines[at + matched];
		if (have->len != want->len || memcmp(have->text, want->text, want->len) ||
			have->no_newline != want->no_newline)
			return matched;
		matched++;
	}
	*differs = NULL;
	return matched;
}

struct place {
	size_t floor;	  /* no earlier than the end of the hunk before */
	bool first, last; /* only at the file's first line, only up to its last */
	size_t wanted;	  /* the number of old lines */
	size_t expected;  /* where it should be, from 0 */
};

static bool fits(const struct patch_hunk *hunk, const struct old_file *old,
	const struct place *place, size_t at)
{
	const struct patch_line *differs;

	if (at < place->floor || at + place->wanted > old->count)
		return false;
	if ((place->first && at != 0) || (place->last && at + place->wanted != old->count))
		return false;
	return match_at(hunk, old, at, &differs) == place->wanted;
}

/* The nearest place where the whole hunk matches; SIZE_MAX when there is none. A hunk without
 * context before (after) its changes must stand at the beginning (end) of the file. */
static size_t find(const struct patch_hunk *hunk, const struct old_file *old, struct place *place)
{
	place->first = hunk->old_start <= 1;
	place->last = hunk->line_count && hunk->lines[hunk->line_count - 1].kind != PATCH_CONTEXT;
	for (size_t away = 0; away <= old->count + 1; away++) {
		if (away <= place->expected && fits(hunk, old, place, place->expected - away))
			return place->expected - away;
		if (away && fits(hunk, old, place, place->expected + away))
			return place->expected + away;
	}
	/* git lets the first hunk move, too, as long as it is not anchored by both ends */
	if (!place->first)
		return SIZE_MAX;
	place->first = false;
	for (size_t at = place->floor; hunk->old_count && at < old->count; at++)
		if (fits(hunk, old, place, at))
			return at;
	return SIZE_MAX;
}

static int say_bad(const struct patch_hunk *hunk, size_t index, size_t count,
	const struct old_file *old, const struct place *place, struct err *err)
{
	const struct patch_line *differs = NULL;
	struct str want = STR_INIT, have = STR_INIT;
	size_t at = place->expected, matched = match_at(hunk, old, at, &differs);

	if (differs)
		str_add_safe(&want, differs->text, differs->len < 120 ? differs->len : 120);
	if (at + matched < old->count) {
		const struct old_line *line = &old->lines[at + matched];

		str_add_safe(&have, line->text, line->len < 120 ? line->len : 120);
		(void)err_set(err, ERR_USAGE,
			"hunk %zu of %zu (line %zu) does not match: it expects \"%s\" where line "
			"%zu is \"%s\"",
			index + 1, count, hunk->old_start, str_text(&want), at + matched + 1,
			str_text(&have));
	} else {
		(void)err_set(err, ERR_USAGE,
			"hunk %zu of %zu (line %zu) does not match: it expects \"%s\" where the "
			"file ends",
			index + 1, count, hunk->old_start, str_text(&want));
	}
	str_release(&want);
	str_release(&have);
	return ERR_USAGE;
}

static void put_line(struct str *out, const char *text, size_t len, bool no_newline)
{
	str_add_bytes(out, text, len);
	if (!no_newline)
		str_add_char(out, '\n');
}

static void put_old(struct str *out, const struct old_file *old, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		put_line(out, old->lines[i].text, old->lines[i].len, old->lines[i].no_newline);
}

static void put_new(struct str *out, const struct patch_hunk *hunk)
{
	for (size_t i = 0; i < hunk->line_count; i++)
		if (hunk->lines[i].kind != PATCH_REMOVE)
			put_line(out, hunk->lines[i].text, hunk->lines[i].len,
				hunk->lines[i].no_newline);
}

int patch_apply(const struct patch_file *file, const char *old_text, size_t old_len,
	struct str *out, size_t *bad_hunk, struct err *err)
{
	struct old_file old = {0};
	struct str text = STR_INIT;
	size_t done = 0;    /* old lines written so far */
	int64_t offset = 0; /* by how much the last hunk had moved */
	int ret = 0;

	split(old_text, old_len, &old);
	for (size_t i = 0; ret == 0 && i < file->hunk_count; i++) {
		const struct patch_hunk *hunk = &file->hunks[i];
		/* an insertion names the line before it */
		int64_t stated = (int64_t)hunk->old_start - (hunk->old_count > 0);
		int64_t expected = stated + offset;
		struct place place = {.floor = done, .wanted = hunk->old_count};
		size_t at;

		if (expected > (int64_t)old.count)
			expected = (int64_t)old.count;
		place.expected = expected < (int64_t)done ? done : (size_t)expected;
		at = find(hunk, &old, &place);
		if (at == SIZE_MAX) {
			*bad_hunk = i;
			ret = say_bad(hunk, i, file->hunk_count, &old, &place, err);
			break;
		}
		offset = (int64_t)at - stated;
		put_old(&text, &old, done, at);
		put_new(&text, hunk);
		done = at + hunk->old_count;
	}
	if (ret == 0) {
		put_old(&text, &old, done, old.count);
		str_release(out);
		*out = text;
	} else {
		str_release(&text);
	}
	free(old.lines);
	return ret;
}
