/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_REPORT_FORM_H
#define KB_REPORT_REPORT_FORM_H

#include "base/base.h"

#include "report/report.h"
#include "sys/json.h"

/* How numbers and words are written in text forms. */

/* "+71.5% ±0.9"; "+1.98%" when there is no interval or it is too lopsided for a ±; "no effect" when
 * there is none. */
void form_effect(const struct layout *layout, struct str *out, const struct store_verdict *verdict);
/* "[-9.2, +17.1]" when the interval is too lopsided for a ±, else nothing. */
void form_interval(struct str *out, const struct store_verdict *verdict);
/* "11.52", "1.112M", "2.3e-05": four significant digits; "-" for NaN. */
void form_value(struct str *out, double value);
/* REGRESSED in capitals; improved, equivalent, inconclusive, invalid. */
const char *form_word(enum verdict_word word);
enum colour form_word_colour(enum verdict_word word);
/* "REGRESSED", "inconclusive: 5 more boots", "invalid: reason" when the reason is short. mark > 0
 * is the footnote that tells it: "REGRESSED [1]". */
void form_verdict(struct str *out, const struct store_verdict *verdict, int mark);
/* True when the reason of a verdict has to go to a footnote. */
bool form_needs_footnote(const struct store_verdict *verdict);

/* " (median of 9 runs' p99)", " (p99 of all in a boot)": what stands for a boot where the metric is
 * a percentile; nothing where it is none. */
void form_percentile(struct str *out, const struct report_block *block);
/* What moved and by how much, and whether the runs behind it were disturbed: at most four lines. */
void report_headline(const struct report *report, const struct layout *layout, struct str *out);
/* How one kernel under two labels came out, in a line of its own; nothing without controls. */
void report_controls(const struct report *report, const struct layout *layout, struct str *out);
/* Of an experiment on several machines: what the headline set says on each, a paragraph each. */
void report_machines(const struct report *report, const struct layout *layout, struct str *out);
/* The tables with their footnotes: one for each metric of a workload, with a group of columns for
 * each machine. */
void report_tables(const struct report *report, const struct layout *layout, struct str *out);
/* The geometric means over suites, under a title of their own; nothing when there are none. */
void report_suites(const struct report *report, const struct layout *layout, struct str *out);
/* The same as a JSON array. */
json_t *report_suites_json(const struct report *report);
/* Counts per operation, a table for each condition; nothing when nothing was counted. */
void report_counters(const struct report *report, const struct layout *layout, struct str *out);
/* The same as a JSON array. */
json_t *report_counters_json(const struct report *report);
/* What the boots cost that would decide the headline's inconclusive verdicts on one machine. */
struct report_cost {
	int64_t further_boots; /* of each of the kernels; 0: no number of boots is known to help */
	int64_t kernels;       /* those of the verdicts concerned, and their baselines */
	int64_t boot_ns;       /* of one boot with all its runs; 0: not known */
};
void report_cost_of(
	const struct report *report, const struct store_machine *machine, struct report_cost *out);
/* The same in a sentence for each machine; nothing where nothing would be decided. */
void report_costs(const struct report *report, const struct layout *layout, struct str *out);
/* In an experiment with looks: how many were taken on each machine, and what that has saved. */
void report_looks(const struct report *report, const struct layout *layout, struct str *out);
/* The same as members of a machine's object. */
void report_looks_json(
	const struct report *report, const struct store_machine *machine, json_t *out);
/* How long a boot with its runs took: the median time from the start of one to that of the next; 0
 * when no two in a row were proved. */
int64_t report_boot_ns(const struct store_machine *machine);
/* What it takes to do it again. */
void report_reproduce(const struct report *report, const struct layout *layout, struct str *out);
/* "AMD Ryzen 9960X, 24c/48t, 4 LLC, 64 GiB" from a machine's facts; "" when nothing is known. */
void form_machine(struct str *out, const struct store_machine *machine);

/* A verdict as members of an object: its word and reason, the effect with its interval in per cent,
 * and q. */
void form_verdict_json(json_t *out, const struct store_verdict *verdict);

#endif
