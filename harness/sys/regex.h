/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_REGEX_H
#define KB_SYS_REGEX_H

#include "base/base.h"

#include "base/err.h"

/* PCRE2 with bounds on matching effort, multi-line (^ and $ match at line ends: LF, CRLF, and the
 * lone CR of programs that show progress; \R is any of them), bytes not UTF. A
 * regex is not for use by two threads at once. */
struct regex;

/* Compiles a pattern. ERR_USAGE tells what is wrong and at which offset. Freed by regex_free. */
KB_MUST_CHECK int regex_compile(const char *pattern, struct regex **out, struct err *err);
void regex_free(struct regex *regex);
/* Number of capturing groups. */
int regex_groups(const struct regex *regex);
/* Number of the group (?<name>...), -1 when there is none. */
int regex_group_number(const struct regex *regex, const char *name);

struct regex_span {
	size_t start, end; /* start == end == SIZE_MAX when the group took no part */
};

/* Finds the first match at or after *offset. Returns 1 and fills spans[0..groups] (0 is the whole
 * match; at most max_spans are written) and moves *offset behind it (always forward); 0 when there
 * is none; ERR_INVALID when matching took more effort than the bound allows. */
KB_MUST_CHECK int regex_next(const struct regex *regex, const char *bytes, size_t len,
	size_t *offset, struct regex_span *spans, size_t max_spans, struct err *err);
/* True when the pattern matches anywhere; effort beyond the bound counts as no match. */
bool regex_matches(const struct regex *regex, const char *bytes, size_t len);

#endif
