/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_NUM_H
#define KB_BASE_NUM_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/*
 * Strict numbers: the whole text must be the number, no sign or space before it that the form
 * does not have, and nothing overflows. On failure the output is untouched and *err says what
 * was expected (ERR_USAGE).
 */
KB_MUST_CHECK int num_int(
	const char *text, int64_t min, int64_t max, int64_t *out, struct err *err);
/* Decimal or exponent form; NaN and infinities are refused. Independent of the locale. */
KB_MUST_CHECK int num_double(const char *text, double *out, struct err *err);
/* "64", "512K", "2M", "1G", "1T" (1024-based; an "iB" or "B" may follow). */
KB_MUST_CHECK int num_bytes(const char *text, int64_t *out, struct err *err);
/* "500ms", "30s", "2m", "1.5h", "3d", "250us", "10ns"; the unit is required. Not negative. */
KB_MUST_CHECK int num_duration_ns(const char *text, int64_t *out, struct err *err);
/* "31.25%" gives 31.25; the sign is required; 0 <= x <= max. */
KB_MUST_CHECK int num_pct(const char *text, double max, double *out, struct err *err);

/* "1 h 04 min", "3 min 20 s", "4.2 s", "350 ms": two leading units, for people. */
void num_add_duration(struct str *s, int64_t ns);
/* "1.5 GiB", "12 KiB", "640 B". */
void num_add_bytes(struct str *s, int64_t bytes);
/* The shortest decimal text that reads back as exactly the same double. */
void num_add_double(struct str *s, double value);

/* A percentage for people, without the sign %: "-12.2" with that many decimals, "1.71e+09" from a
 * million on, and ">1e308" where a double ends. signs: a plus before what is not negative. */
struct num_text {
	char text[24];
};
struct num_text num_say_pct(double pct, int decimals, bool signs);

#endif
