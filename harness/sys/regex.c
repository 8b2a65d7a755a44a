/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sys/regex.h"

/*
 * The bound on effort. PCRE2 has a match limit, but it starts anew at each byte of the subject, so
 * that a long line can still take hours. Callouts before each item of the pattern count all the
 * work of one call; the clock is for items that are slow in themselves, such as \d+ over a line of
 * many megabytes of digits.
 */
enum { CALLOUTS_MAX = 100000000, CALLOUTS_PER_CLOCK = 64, HEAP_MAX_KIB = 65536 };
static const int64_t match_max_ns = 5 * NS_PER_S;

struct regex {
	pcre2_code *code;
	pcre2_match_context *context;
	pcre2_match_data *data;
	uint32_t groups;
};

struct effort {
	int callouts;
	int64_t deadline_ns;
};

static int on_callout(pcre2_callout_block *block KB_UNUSED, void *arg)
{
	struct effort *effort = arg;

	if (++effort->callouts > CALLOUTS_MAX)
		return PCRE2_ERROR_MATCHLIMIT;
	if (effort->callouts % CALLOUTS_PER_CLOCK == 0 && clock_now_ns() > effort->deadline_ns)
		return PCRE2_ERROR_MATCHLIMIT;
	return 0;
}

int regex_compile(const char *pattern, struct regex **out, struct err *err)
{
	const uint32_t options = PCRE2_MULTILINE | PCRE2_AUTO_CALLOUT | PCRE2_NEVER_UTF |
				 PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	struct regex *regex;
	PCRE2_SIZE offset = 0;
	uint32_t duplicates = 0;
	int code = 0;
	pcre2_code *compiled;

	(void)pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
	(void)pcre2_set_bsr(context, PCRE2_BSR_ANYCRLF);
	compiled = pcre2_compile(
		(PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &code, &offset, context);
	pcre2_compile_context_free(context);
	if (!compiled) {
		PCRE2_UCHAR text[200] = "";

		(void)pcre2_get_error_message(code, text, sizeof(text));
		return err_set(err, ERR_USAGE, "the pattern '%.200s' is wrong at offset %zu: %s",
			pattern, (size_t)offset, (const char *)text);
	}
	(void)pcre2_pattern_info(compiled, PCRE2_INFO_JCHANGED, &duplicates);
	if (duplicates) { /* which of them is meant would be guessed */
		pcre2_code_free(compiled);
		return err_set(err, ERR_USAGE,
			"the pattern '%.200s' is wrong: (?J) is not supported; (?|...) gives "
			"alternatives the same groups",
			pattern);
	}
	regex = xcalloc(1, sizeof(*regex));
	regex->code = compiled;
	regex->context = pcre2_match_context_create(NULL);
	regex->data = pcre2_match_data_create_from_pattern(compiled, NULL);
	if (!regex->context || !regex->data)
		BUG("no memory for a pattern");
	(void)pcre2_set_heap_limit(regex->context, HEAP_MAX_KIB);
	(void)pcre2_pattern_info(compiled, PCRE2_INFO_CAPTURECOUNT, &regex->groups);
	*out = regex;
	return 0;
}

void regex_free(struct regex *regex)
{
	if (!regex)
		return;
	pcre2_match_data_free(regex->data);
	pcre2_match_context_free(regex->context);
	pcre2_code_free(regex->code);
	free(regex);
}

int regex_groups(const struct regex *regex)
{
	return (int)regex->groups;
}

int regex_group_number(const struct regex *regex, const char *name)
{
	int number = pcre2_substring_number_from_name(regex->code, (PCRE2_SPTR)name);

	return number > 0 ? number : -1;
}

/* Returns a count of spans, or PCRE2's negative code. */
static int match(const struct regex *regex, const char *bytes, size_t len, size_t offset)
{
	struct effort effort = {0, clock_now_ns() + match_max_ns};

	(void)pcre2_set_callout(regex->context, on_callout, &effort);
	return pcre2_match(regex->code, (PCRE2_SPTR)(bytes ? bytes : ""), len, offset, 0,
		regex->data, regex->context);
}

int regex_next(const struct regex *regex, const char *bytes, size_t len, size_t *offset,
	struct regex_span *spans, size_t max_spans, struct err *err)
{
	const PCRE2_SIZE *ends;
	size_t next;
	int count;

	if (*offset > len)
		return 0;
	count = match(regex, bytes, len, *offset);
	if (count == PCRE2_ERROR_NOMATCH)
		return 0;
	if (count < 0) {
		PCRE2_UCHAR text[200] = "";

		(void)pcre2_get_error_message(count, text, sizeof(text));
		return err_set(
			err, ERR_INVALID, "matching took too much effort (%s)", (const char *)text);
	}
	ends = pcre2_get_ovector_pointer(regex->data);
	for (size_t i = 0; i < max_spans && i <= regex->groups; i++) {
		bool took_part = i < (size_t)count && ends[2 * i] != PCRE2_UNSET &&
				 ends[2 * i] <= ends[2 * i + 1]; /* \K can turn them around */

		spans[i].start = took_part ? ends[2 * i] : SIZE_MAX;
		spans[i].end = took_part ? ends[2 * i + 1] : SIZE_MAX;
	}
	next = ends[1] + (ends[0] == ends[1]); /* an empty match must not be found again */
	*offset = next > *offset ? next : *offset + 1;
	return 1;
}

bool regex_matches(const struct regex *regex, const char *bytes, size_t len)
{
	return match(regex, bytes, len, 0) >= 0;
}
