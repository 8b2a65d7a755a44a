/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_PERF_LINE_H
#define KB_BACKEND_PERF_LINE_H

#include "base/base.h"

#include "base/err.h"
#include "backend/reader_ops.h"

/*
 * What perf stat prints: with -x fields and a separator, with -j a JSON object a line, else a table
 * for people. Inside backend/ only.
 */

/* One count of one event, in any of the three. */
struct perf_count {
	char number[40];    /* digits, and a point where it has one; "" when it is absent */
	const char *absent; /* NULL, or "not supported", "not counted": perf has no value */
	char unit[40];	    /* as perf calls it, safe to print; "" for a plain number */
	double pct;	    /* of the time that it was counted for; < 100: perf's estimate */
};

/*
 * A line of `perf stat -x`: value;unit;event;runtime of the counter;percentage;metric;its unit.
 * -I puts a time before that, -A and --per-* whose count it is, and -r a deviation before the
 * runtime; cgroups have a field of their own behind the event. What stands behind the percentage
 * differs between versions and is not looked at. Newer versions write "task-clock [software]" for
 * the event in places.
 */
enum { PERF_FIELDS = 12, PERF_EVENT = 2 };

struct perf_line {
	struct stream fields[PERF_FIELDS];
	size_t count;
	size_t event; /* the field of its name; below count once that was seen */
	char separator;
};

/* Points into the line, whose end is left out. Takes it that nothing stands before the value. */
void perf_line_split(const char *line, size_t len, char separator, struct perf_line *out);
/* Splits at semicolons, tabs or commas, whichever leaves the event's name in a field of its own
 * behind a value and a unit; false when none does. */
bool perf_line_find(const char *line, size_t len, const char *event, struct perf_line *out);
/* The event's name without what stands in brackets behind it. */
struct stream perf_line_event(const struct perf_line *line);
/* ERR_INVALID: it is cut, no line of perf's, or says two things at once, as decimal commas between
 * commas do. */
KB_MUST_CHECK int perf_line_count(
	const struct perf_line *line, struct perf_count *out, struct err *err);

/* A line of `perf stat -j`: 1 when it is a count of the event, 0 when it is not, ERR_INVALID when
 * it is perf's and no JSON. */
KB_MUST_CHECK int perf_json_count(
	const char *line, size_t len, const char *event, struct perf_count *out, struct err *err);

/* Where in perf's output for people the reader is; begins as false. */
struct perf_table {
	bool inside;
};

/* A line of the table, which stands between "Performance counter stats for" and the time elapsed: 1
 * when it is the row of the event, 0 when it is not, ERR_INVALID when it cannot be read for sure.
 */
KB_MUST_CHECK int perf_table_count(struct perf_table *table, const char *line, size_t len,
	const char *event, struct perf_count *out, struct err *err);

/* For these three. Whether the field or word is the event, leaving out " [...]". */
bool perf_is_event(struct stream field, const char *event);
/* Whether the fields that stand before a value tell when or whose it is: "1.000123456", "CPU0",
 * "S0" and a number of CPUs. */
bool perf_is_prefix(const struct stream *fields, size_t count);
/* "<not supported>" and "<not counted>"; NULL for anything else. */
const char *perf_absent(struct stream text);
/* "12" or "0.82", as C prints it; with mark ',' also "0,82", which becomes "0.82". */
bool perf_number(struct stream text, char mark, char out[static 40]);
/* A percentage as perf prints it, always with two digits behind the mark, which becomes known. */
bool perf_pct(struct stream text, char *mark, double *out);
/* ERR_INVALID, quoting the text. */
int perf_no_count(struct stream text, struct err *err);
/* The unit as text that is safe to print. */
void perf_set_unit(struct perf_count *count, struct stream unit);

#endif
