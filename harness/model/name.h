/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_NAME_H
#define KB_MODEL_NAME_H

#include "base/base.h"

#include "base/err.h"

/* Rules for words that a person writes in a file. Each check returns 0, or ERR_USAGE with what is
 * wrong as the end of a sentence. They fit struct opt's check fields. */

/* Names of experiments, machines, variants, suites, conditions and metrics become folder and file
 * names: 1 to 64 of A-Z a-z 0-9 . _ + - with a letter, digit or _ first. */
KB_MUST_CHECK int name_check(const char *text, struct err *err);
/* A git revision as written: no blanks or control characters, no leading '-'; at most 200 bytes. */
KB_MUST_CHECK int name_check_ref(const char *text, struct err *err);
/* A scheduler feature as in /sys/kernel/debug/sched/features: NAME or NO_NAME. */
KB_MUST_CHECK int name_check_feature(const char *text, struct err *err);
/* A sysctl with dots: "kernel.sched_schedstats". */
KB_MUST_CHECK int name_check_sysctl(const char *text, struct err *err);
/* An environment variable's name. */
KB_MUST_CHECK int name_check_env(const char *text, struct err *err);
/* One line of printable text (a title, a command line, a value): no control characters, at most
 * 2000 bytes. */
KB_MUST_CHECK int name_check_line(const char *text, struct err *err);

/* "did you mean": try every known name, then ask. */
struct nearest {
	const char *wanted;
	const char *found; /* NULL while nothing is near enough */
	size_t distance;
	char hint[96];
};

void nearest_init(struct nearest *nearest, const char *wanted);
void nearest_try(struct nearest *nearest, const char *candidate);
/* "; did you mean 'boots'?", or "" when nothing known is near; borrowed from *nearest. */
const char *nearest_hint(struct nearest *nearest);

#endif
