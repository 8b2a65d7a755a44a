/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "backend/perf_line.h"

/*
 *  Performance counter stats for 'true':
 *
 *              0.58 msec task-clock        #    0.364 CPUs utilized       ( +-  7.16% )
 *         1,234,567      cycles            #    2.128 GHz                 (62.50%)
 *   <not supported>      branches
 *
 *       0.001587018 seconds time elapsed
 */

/* Before the event stand whose count it is, and of how many CPUs, the value and its unit. */
enum { WORDS_MAX = 5 };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_mark(char c)
{
	return c == '.' || c == ',';
}

static bool next_word(struct stream *line, struct stream *word)
{
	while (line->len && is_blank(*line->bytes)) {
		line->bytes++;
		line->len--;
	}
	*word = (struct stream){line->bytes, 0};
	while (word->len < line->len && !is_blank(line->bytes[word->len]))
		word->len++;
	line->bytes += word->len;
	line->len -= word->len;
	return word->len > 0;
}

/* A number has two digits behind its decimal mark or no such mark, and a mark of the locale may
 * stand before every three of the others: so "1,23" and "1,234" are told apart. */
static bool table_number(struct stream word, char out[static 40])
{
	size_t len = word.len, used = 0, groups = 0;
	char number[40], decimal = '\0', group = '\0';

	if (len >= sizeof(number))
		return false;
	if (len > 3 && is_mark(word.bytes[len - 3])) {
		len -= 3;
		decimal = word.bytes[len];
	}
	for (size_t i = 0; i < word.len; i++) {
		char c = word.bytes[i];

		if (c >= '0' && c <= '9') {
			number[used++] = c;
		} else if (i == len) {
			number[used++] = '.';
		} else if (i && i < len && (len - i) % 4 == 0 && is_mark(c) && c != decimal &&
			   (!group || c == group)) {
			group = c;
			groups++;
		} else {
			return false;
		}
	}
	if (!used || (groups && (len % 4 == 0 || groups != len / 4)))
		return false;
	number[used] = '\0';
	memcpy(out, number, used + 1);
	return true;
}

/* "(62.50%)" at the end of the line; without it the event was counted all the time. */
static double pct_of(struct stream rest)
{
	double pct = 100;
	char mark;

	while (rest.len && is_blank(rest.bytes[rest.len - 1]))
		rest.len--;
	for (size_t at = rest.len; at > 0; at--) {
		struct stream inner = {rest.bytes + at, rest.len - at};

		if (rest.bytes[at - 1] != '(')
			continue;
		if (inner.len > 2 && memcmp(inner.bytes + inner.len - 2, "%)", 2) == 0) {
			inner.len -= 2;
			if (perf_pct(inner, &mark, &pct))
				return pct;
		}
		break;
	}
	return 100;
}

/* Takes "<not", "counted>" off the end of the words. */
static const char *take_absent(const struct stream *words, size_t *count)
{
	const char *absent;

	if (*count < 2)
		return NULL;
	absent = perf_absent((struct stream){words[*count - 2].bytes,
		(size_t)(words[*count - 1].bytes - words[*count - 2].bytes) +
			words[*count - 1].len});
	*count -= absent ? 2 : 0;
	return absent;
}

/* Of the words before the event's name. */
static int read_words(
	const struct stream *words, size_t count, struct perf_count *out, struct err *err)
{
	struct stream whole = count ? words[count - 1] : (struct stream){"", 0};

	out->absent = take_absent(words, &count);
	if (!out->absent && count > 1 && !table_number(words[count - 1], out->number)) {
		perf_set_unit(out, words[--count]);
		out->absent = take_absent(words, &count);
	}
	if (!out->absent && (!count || !table_number(words[--count], out->number)))
		return perf_no_count(whole, err);
	if (!perf_is_prefix(words, count))
		return err_set(err, ERR_INVALID,
			"what stands before perf's value is neither a time nor a CPU");
	return 0;
}

static int read_row(struct stream line, const char *event, struct perf_count *out, struct err *err)
{
	struct stream words[WORDS_MAX], word;
	struct perf_count row = {.pct = 100};
	size_t count = 0;
	int ret;

	while (next_word(&line, &word) && *word.bytes != '#') {
		if (count && perf_is_event(word, event)) {
			ret = read_words(words, count, &row, err);
			row.pct = pct_of(line);
			if (!ret)
				*out = row;
			return ret ? ret : 1;
		}
		if (count == WORDS_MAX)
			return 0;
		words[count++] = word;
	}
	return 0;
}

int perf_table_count(struct perf_table *table, const char *line, size_t len, const char *event,
	struct perf_count *out, struct err *err)
{
	static const char head[] = "Performance counter stats for ", end[] = "seconds time elapsed";
	size_t margin = 0;

	while (margin < len && is_blank(line[margin]))
		margin++;
	if (len - margin >= sizeof(head) - 1 &&
		memcmp(line + margin, head, sizeof(head) - 1) == 0) {
		table->inside = true;
		return 0;
	}
	if (!table->inside)
		return 0;
	if (memmem(line, len, end, sizeof(end) - 1)) {
		table->inside = false;
		return 0;
	}
	return read_row((struct stream){line, len}, event, out, err);
}
