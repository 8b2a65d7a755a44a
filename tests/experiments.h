/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_EXPERIMENTS_H
#define KB_TESTS_EXPERIMENTS_H

#include "base/base.h"

#include "base/str.h"

/* The text of an experiment with everything inline. */

#define TEST_MACHINE "{machine: guest, connect: {qemu: {cpus: 8, llcs: 4}}}"

#define TEST_SUITES                                                         \
	"  - suite: alpha\n"                                                \
	"    program: p\n"                                                  \
	"    duration: 500ms\n"                                             \
	"    conditions: {by: {argv: [p, \"{workers}\", \"{seconds}\"]}}\n" \
	"    metrics: {m: {unit: s, better: lower, regex: '(.)'}}\n"        \
	"  - suite: beta\n"                                                 \
	"    program: p\n"                                                  \
	"    expect: 3s\n"                                                  \
	"    conditions: {one: {argv: [p]}, two: {argv: [p, x]}}\n"         \
	"    metrics: {m: {unit: s, better: lower, regex: '(.)'}}\n"        \
	"  - suite: canary\n"                                               \
	"    program: p\n"                                                  \
	"    control: true\n"                                               \
	"    conditions: {c: {argv: [p]}}\n"                                \
	"    metrics: {m: {unit: s, better: lower, regex: '(.)'}}\n"

/* count variants A, B, C, ...; A is the baseline. `more` is appended. Freed by the caller. */
static inline char *experiment_text(int count, const char *more)
{
	struct str s = STR_INIT;

	str_add(&s, "experiment: test\nmachines: [" TEST_MACHINE "]\nbaseline: A\n");
	str_add(&s, "kernels:\n  variants:\n");
	for (int i = 0; i < count; i++)
		str_addf(&s, "    %c: {prebuilt: {package: linux}, sysctls: {a.b: '%d'}}\n",
			'A' + i, i);
	str_add(&s, "variants: [");
	for (int i = 1; i < count; i++)
		str_addf(&s, "%s%c", i > 1 ? ", " : "", 'A' + i);
	str_addf(&s, "]\nsuites:\n" TEST_SUITES "%s", more);
	return str_take(&s);
}

#endif
