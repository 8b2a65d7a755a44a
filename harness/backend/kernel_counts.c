/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "backend/kernel_counts.h"

/* The profiler cuts names to this, and our probes' names begin with that. */
enum { PROFILE_NAME_LEN = 30 };
#define PROBE_PREFIX "kbracket_"

bool kernel_next_line(struct stream *rest, struct stream *line)
{
	const char *end;

	if (!rest->len)
		return false;
	end = memchr(rest->bytes, '\n', rest->len);
	line->bytes = rest->bytes;
	line->len = end ? (size_t)(end - rest->bytes) : rest->len;
	rest->bytes += line->len + (end != NULL);
	rest->len -= line->len + (end != NULL);
	return true;
}

/* Takes the next word off the line; false at its end. */
static bool next_word(struct stream *line, struct stream *word)
{
	while (line->len && strchr(" \t\r", *line->bytes) && *line->bytes) {
		line->bytes++;
		line->len--;
	}
	word->bytes = line->bytes;
	for (word->len = 0; word->len < line->len; word->len++)
		if (word->bytes[word->len] && strchr(" \t\r", word->bytes[word->len]))
			break;
	line->bytes += word->len;
	line->len -= word->len;
	return word->len > 0;
}

static bool is(struct stream word, const char *text)
{
	return word.len == strlen(text) && memcmp(word.bytes, text, word.len) == 0;
}

static bool starts(struct stream text, const char *start)
{
	return text.len >= strlen(start) && memcmp(text.bytes, start, strlen(start)) == 0;
}

/* A whole number of at most 20 digits, else NaN. */
static double number(struct stream word)
{
	double value = 0;

	if (!word.len || word.len > 20)
		return (double)NAN;
	for (size_t i = 0; i < word.len; i++) {
		if (word.bytes[i] < '0' || word.bytes[i] > '9')
			return (double)NAN;
		value = value * 10 + (word.bytes[i] - '0');
	}
	return value;
}

static double next_number(struct stream *line)
{
	struct stream word;

	return next_word(line, &word) ? number(word) : (double)NAN;
}

double kernel_stat(struct stream text, const char *word)
{
	struct stream line, first;

	while (kernel_next_line(&text, &line))
		if (next_word(&line, &first) && is(first, word))
			return next_number(&line);
	return (double)NAN;
}

/* Numbers up to the first word that is none; the line then begins with that. */
static double sum_numbers(struct stream *line)
{
	double sum = (double)NAN;

	for (;;) {
		struct stream rest = *line, word;
		double value;

		if (!next_word(&rest, &word))
			return sum;
		value = number(word);
		if (isnan(value)) {
			line->len -= (size_t)(word.bytes - line->bytes);
			line->bytes = word.bytes;
			return sum;
		}
		sum = isnan(sum) ? value : sum + value;
		*line = rest;
	}
}

double kernel_interrupts(struct stream text, const char *label, const char *description)
{
	struct stream line, first;
	double sum;

	while (kernel_next_line(&text, &line)) {
		if (!next_word(&line, &first) || first.bytes[first.len - 1] != ':')
			continue;
		first.len--;
		sum = sum_numbers(&line);
		if (is(first, label) || (starts(first, "IPI") && starts(line, description)))
			return sum;
	}
	return (double)NAN;
}

/* Fields of one kind of idleness, of which the third is new-idle in all versions. */
struct layout {
	const char *version;
	int fields;
	bool named; /* the domain's name stands before its mask */
};

static const struct layout layouts[] = {{"15", 8, false}, {"16", 8, false}, {"17", 11, true}};

static const struct layout *find_layout(struct stream line)
{
	struct stream word;

	if (!next_word(&line, &word) || !is(word, "version") || !next_word(&line, &word))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (is(word, layouts[i].version))
			return &layouts[i];
	return NULL;
}

/* Adds a domain's line; false when it is cut or no such line. */
static bool add_domain(
	const struct layout *layout, struct stream line, struct newidle_counts *counts)
{
	double calls, balanced, failed;
	struct stream word;

	if (layout->named && !next_word(&line, &word))
		return false;
	if (!next_word(&line, &word)) /* the mask */
		return false;
	for (int i = 0; i < 2 * layout->fields; i++)
		if (isnan(next_number(&line)))
			return false;
	calls = next_number(&line);
	balanced = next_number(&line);
	failed = next_number(&line);
	if (isnan(calls) || isnan(balanced) || isnan(failed))
		return false;
	counts->calls += calls;
	counts->pulled += balanced + failed < calls ? calls - balanced - failed : 0;
	return true;
}

struct newidle_counts kernel_newidle(struct stream text)
{
	const struct newidle_counts none = {(double)NAN, (double)NAN};
	struct newidle_counts counts = {0, 0};
	const struct layout *layout;
	struct stream line, word;
	bool any = false;

	if (!kernel_next_line(&text, &line))
		return none;
	layout = find_layout(line);
	if (!layout)
		return none;
	while (kernel_next_line(&text, &line)) {
		if (!next_word(&line, &word) || !starts(word, "domain"))
			continue;
		if (!add_domain(layout, line, &counts))
			return none;
		any = true;
	}
	return any ? counts : none;
}

static void say(char *why, size_t size, struct stream text)
{
	(void)snprintf(why, size, "%.*s", (int)(text.len < size ? text.len : size), text.bytes);
}

/* "! FUNCTION REASON" and "!! REASON"; false for any other line. */
static bool is_refused(struct stream line, const char *function, char *why, size_t size)
{
	struct stream word;

	if (!next_word(&line, &word))
		return false;
	if (!is(word, "!!") && !(is(word, "!") && next_word(&line, &word) && is(word, function)))
		return false;
	if (line.len > 1 && line.bytes[1]) /* a blank is before it */
		say(why, size, (struct stream){line.bytes + 1, line.len - 1});
	return true;
}

/* Whether a name in the kernel's file stands for the function. */
static bool is_name_of(struct stream word, const char *function, bool probe)
{
	size_t len = strlen(function), most = PROFILE_NAME_LEN;

	if (!probe)
		return word.len == (len < most ? len : most) &&
		       memcmp(word.bytes, function, word.len) == 0;
	if (!starts(word, PROBE_PREFIX) || word.len != strlen(PROBE_PREFIX) + len)
		return false;
	for (size_t i = 0; i < len; i++) {
		char wanted = function[i] == '.' ? '_' : function[i];

		if (word.bytes[strlen(PROBE_PREFIX) + i] != wanted)
			return false;
	}
	return true;
}

double kernel_calls(struct stream report, const char *function, char *why, size_t size)
{
	struct stream line, word;
	bool probe = false, counted = false;
	double sum = 0, calls;

	(void)snprintf(why, size, "the kernel tells nothing of it");
	while (kernel_next_line(&report, &line)) {
		if (is_refused(line, function, why, size))
			return (double)NAN;
		if (!next_word(&line, &word))
			continue;
		if (is(word, "by") && next_word(&line, &word))
			probe = is(word, "kprobe");
		else if (is(word, "@"))
			counted = true;
		else if (is_name_of(word, function, probe)) {
			calls = next_number(&line);
			sum += isnan(calls) ? 0 : calls;
		}
	}
	return counted ? sum : (double)NAN;
}
