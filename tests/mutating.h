/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_MUTATING_H
#define KB_TESTS_MUTATING_H

/*
 * Damaged output: every golden case in turn, changed at random (the same on every run) and read.
 * Nothing may crash or hang, a refusal has its reason and no values, and a value is either that of
 * the undamaged output or stands in the very place that was changed. Where whole lines were
 * destroyed or the output was cut, no other value may come out at all.
 */

#include <math.h>

#include "golden_case.h"

/* splitmix64 */
static uint64_t mutating_state;

static size_t mutating_below(size_t bound)
{
	uint64_t z = (mutating_state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return bound ? (size_t)((z ^ (z >> 31)) % bound) : 0;
}

/* From the start of the line to the start of the next one. */
static void mutating_line(const struct str *text, size_t at, size_t *start, size_t *end)
{
	*start = at;
	while (*start && text->text[*start - 1] != '\n' && text->text[*start - 1] != '\r')
		(*start)--;
	*end = at;
	while (*end < text->len && text->text[*end] != '\n' && text->text[*end] != '\r')
		(*end)++;
	*end += *end < text->len;
}

static void mutating_splice(
	struct str *text, size_t start, size_t end, const char *bytes, size_t len)
{
	struct str made = STR_INIT;

	str_add_bytes(&made, text->text, start);
	str_add_bytes(&made, bytes, len);
	str_add_bytes(&made, text->text + end, text->len - end);
	str_release(text);
	*text = made;
}

static void cut(struct str *text)
{
	mutating_splice(text, mutating_below(text->len), text->len, "", 0);
}

static void remove_line(struct str *text)
{
	size_t start, end;

	mutating_line(text, mutating_below(text->len), &start, &end);
	mutating_splice(text, start, end, "", 0);
}

/* Bytes that spell no number. */
static void destroy_line(struct str *text)
{
	static const char junk[] = "\xff#@~?!\x01\x7f\xc3x=/";
	size_t start, end;

	mutating_line(text, mutating_below(text->len), &start, &end);
	for (size_t i = start; i < end; i++)
		if (text->text[i] != '\n' && text->text[i] != '\r')
			text->text[i] = junk[mutating_below(sizeof(junk) - 1)];
}

/* What is between two places in one line. */
static void destroy_part(struct str *text)
{
	size_t start, end, from, to;

	mutating_line(text, mutating_below(text->len), &start, &end);
	from = start + mutating_below(end - start);
	to = from + mutating_below(end - from);
	for (size_t i = from; i < to; i++)
		text->text[i] = text->text[i] == '\n' ? '\n' : '~';
}

static void flip_bits(struct str *text)
{
	for (size_t i = 0; i <= mutating_below(8); i++) {
		char *at = &text->text[mutating_below(text->len)];

		*at = (char)(*at ^ (1 << mutating_below(8)));
	}
}

/* Fewer than a whole report has: two halves of two reports make one. */
static void remove_bytes(struct str *text)
{
	size_t start = mutating_below(text->len), left = text->len - start;

	mutating_splice(text, start, start + mutating_below(left < 256 ? left : 256), "", 0);
}

static void insert_bytes(struct str *text)
{
	char bytes[64];
	size_t at = mutating_below(text->len), len = 1 + mutating_below(sizeof(bytes));

	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)mutating_below(256);
	mutating_splice(text, at, at, bytes, len);
}

static void repeat_part(struct str *text)
{
	size_t start = mutating_below(text->len), end = start + mutating_below(text->len - start);
	char *copy = xmalloc(end - start + 1);

	memcpy(copy, text->text + start, end - start);
	mutating_splice(text, start, start, copy, end - start);
	free(copy);
}

static void end_lines_as_dos(struct str *text)
{
	struct str made = STR_INIT;

	for (size_t i = 0; i < text->len; i++) {
		if (text->text[i] == '\n' && (!i || text->text[i - 1] != '\r'))
			str_add_char(&made, '\r');
		str_add_char(&made, text->text[i]);
	}
	str_release(text);
	*text = made;
}

static void colour(struct str *text)
{
	for (size_t i = 0; i <= mutating_below(20); i++) {
		static const char *const sequences[] = {
			"\x1b[1;31m", "\x1b[m", "\x1b[0m", "\x1b[K"};
		const char *sequence = sequences[mutating_below(ARRAY_SIZE(sequences))];
		size_t at = mutating_below(text->len);

		/* not into one that is there */
		while (at && text->text[at - 1] != '\n')
			at--;
		mutating_splice(text, at, at, sequence, strlen(sequence));
	}
}

enum mutating_harm { HARM_NONE, HARM_LOSS, HARM_ANY };

static const struct mutation {
	const char *name;
	void (*apply)(struct str *text); /* which is not empty */
	enum mutating_harm harm;
} mutations[] = {
	{"cut", cut, HARM_LOSS},
	{"remove-line", remove_line, HARM_LOSS},
	{"destroy-line", destroy_line, HARM_LOSS},
	{"destroy-part", destroy_part, HARM_LOSS},
	{"flip-bits", flip_bits, HARM_ANY},
	{"remove-bytes", remove_bytes, HARM_ANY},
	{"insert-bytes", insert_bytes, HARM_ANY},
	{"repeat-part", repeat_part, HARM_ANY},
	{"dos", end_lines_as_dos, HARM_NONE},
	{"colour", colour, HARM_NONE},
};

/* What differs between the two, grown to whole lines, is in changed[start..end). */
static void changed_part(
	const struct str *original, const struct str *changed, size_t *start, size_t *end)
{
	size_t same = 0, tail = 0,
	       least = original->len < changed->len ? original->len : changed->len;
	size_t ignored;

	while (same < least && original->text[same] == changed->text[same])
		same++;
	while (tail < least - same &&
		original->text[original->len - 1 - tail] == changed->text[changed->len - 1 - tail])
		tail++;
	mutating_line(changed, same, start, &ignored);
	mutating_line(changed, changed->len - tail, &ignored, end);
}

/* Whether the number stands in that part of the text. */
static bool stands_in(const struct str *text, size_t start, size_t end,
	const struct metric_spec *metric, double value)
{
	for (size_t i = start; i < end; i++)
		for (size_t len = 1; len <= 24 && i + len <= end; len++) {
			struct err ignored = ERR_INIT;
			double read;

			if (!reader_number(text->text + i, len, metric->unit, &read, &ignored) &&
				fabs(read * metric->scale - value) <= 1e-9 * fabs(value))
				return true;
		}
	return false;
}

static bool has_value(const struct reading *reading, const struct reading_value *value)
{
	for (size_t i = 0; i < reading->count; i++)
		if (reading->values[i].metric == value->metric &&
			reading->values[i].value == value->value)
			return true;
	return false;
}

struct mutating {
	size_t each, done, refused, kept, wrong; /* numbers of mutations */
};

struct mutating_try {
	const struct golden_case *c;
	const struct mutation *mutation;
	const struct str *original;
	struct str *changed;
	const struct reading *before;
};

static bool explained(const struct mutating_try *t, const struct reading_value *value)
{
	const struct metric_spec *metric = &t->c->suite.metrics[value->metric];
	size_t start, end;

	if (has_value(t->before, value))
		return true;
	if (t->mutation->harm != HARM_ANY)
		return false;
	changed_part(t->original, t->changed, &start, &end);
	return stands_in(t->changed, start, end, metric, value->value);
}

static void tell_wrong(const struct mutating_try *t, const char *why)
{
	fprintf(stderr, "# %s, %s: %s, from\n%.*s\n", t->c->name, t->mutation->name, why,
		(int)(t->changed->len > 2000 ? 2000 : t->changed->len), t->changed->text);
}

static void judge(struct mutating *m, const struct mutating_try *t, int ret,
	const struct reading *after, const struct err *err)
{
	bool good = true;

	if (ret && (ret != ERR_INVALID || !err->text[0] || after->count || after->values)) {
		tell_wrong(t, "a refusal without a reason, or with values");
		good = false;
	}
	for (size_t i = 0; i < after->count && good; i++) {
		char why[80];

		if (isfinite(after->values[i].value) && after->values[i].value >= 0 &&
			(!t->before->count || explained(t, &after->values[i])))
			continue;
		(void)snprintf(why, sizeof(why), "%s is %.17g",
			t->c->suite.metrics[after->values[i].metric].name, after->values[i].value);
		tell_wrong(t, why);
		good = false;
	}
	if (good && t->mutation->harm == HARM_NONE && after->count != t->before->count) {
		tell_wrong(t, "other values");
		good = false;
	}
	m->refused += ret != 0;
	m->kept += ret == 0;
	m->wrong += !good;
}

static void mutate_once(
	struct mutating *m, const struct golden_case *c, const struct reading *before)
{
	const struct str *streams[] = {&c->out, &c->err_out};
	size_t at = c->out.len && c->err_out.len ? mutating_below(2) : c->err_out.len > 0;
	const struct mutation *mutation = &mutations[mutating_below(ARRAY_SIZE(mutations))];
	struct program_output output = {c->out.text, c->out.len, c->err_out.text, c->err_out.len};
	struct reading after = READING_INIT;
	struct str changed = STR_INIT;
	struct err err = ERR_INIT;
	int ret;

	if (!streams[at]->len)
		return;
	str_add_bytes(&changed, streams[at]->text, streams[at]->len);
	mutation->apply(&changed);
	if (at) {
		output.err_out = changed.text;
		output.err_len = changed.len;
	} else {
		output.out = changed.text;
		output.out_len = changed.len;
	}
	ret = reader_read(c->condition, &output, &after, &err);
	judge(m, &(struct mutating_try){c, mutation, streams[at], &changed, before}, ret, &after,
		&err);
	m->done++;
	reading_release(&after);
	str_release(&changed);
}

static void mutate_case(struct golden_case *c, void *arg)
{
	const struct program_output output = {
		c->out.text, c->out.len, c->err_out.text, c->err_out.len};
	struct reading before = READING_INIT;
	struct mutating *m = arg;
	struct err err = ERR_INIT;

	(void)!reader_read(c->condition, &output, &before, &err); /* nothing: also a case */
	/* those that give values have more to lose */
	for (size_t i = 0; i < m->each * (before.count ? 6 : 1) && m->wrong < 10; i++)
		mutate_once(m, c, &before);
	reading_release(&before);
}

/* At least so many mutations in all. */
KB_UNUSED static void mutate_all(size_t wanted)
{
	struct mutating m = {.each = wanted / 400 + 1};

	mutating_state = 7;
	golden_each(mutate_case, &m);
	assert_int_equal(m.wrong, 0);
	assert_true(m.done >= wanted);
	/* both must happen, or nothing was tried */
	assert_true(m.kept > m.done / 20);
	assert_true(m.refused > m.done / 20);
}

#endif
