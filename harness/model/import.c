/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <stdarg.h>

#include "base/csv.h"
#include "base/num.h"
#include "model/import.h"
#include "model/name.h"
#include "model/suite.h"

enum { NAMES_MAX = 10000, ORDINAL_MAX = 1000000000 };

enum column {
	EXPERIMENT,
	MACHINE,
	VARIANT,
	BOOT,
	BLOCK,
	SUITE,
	CONDITION,
	SATURATION,
	WORKERS,
	CPUS,
	METRIC,
	UNIT,
	BETTER,
	RUN,
	WARMUP,
	ORDINAL,
	VALUE,
	OBSERVATIONS,
	STATE,
	REASON,
	N_RUNS,
	MEAN,
	CV,
	PERCENTILE,
	POOLED,
	CONTROL_OF,
	CONTROL,
	DECIDES,
	AGAINST,
	LAYOUT_OF,
	START,
	COUNTER,
	TOTAL,
	COUNTED,
	COLUMNS,
};

/* Which columns a table must have: all of it, tables of runs, tables of means. */
enum need { ALWAYS, FOR_RUNS, FOR_MEANS, OPTIONAL };

static const struct {
	const char *name;
	enum need need;
} columns[COLUMNS] = {
	[EXPERIMENT] = {"experiment", OPTIONAL},
	[MACHINE] = {"machine", ALWAYS},
	[VARIANT] = {"variant", ALWAYS},
	[BOOT] = {"boot", ALWAYS},
	[BLOCK] = {"block", ALWAYS},
	[SUITE] = {"suite", ALWAYS},
	[CONDITION] = {"condition", ALWAYS},
	[SATURATION] = {"saturation_pct", OPTIONAL},
	[WORKERS] = {"workers", ALWAYS},
	[CPUS] = {"cpus", OPTIONAL},
	[METRIC] = {"metric", ALWAYS},
	[UNIT] = {"unit", ALWAYS},
	[BETTER] = {"better", ALWAYS},
	[RUN] = {"run", FOR_RUNS},
	[WARMUP] = {"warmup", FOR_RUNS},
	[ORDINAL] = {"ordinal", FOR_RUNS},
	[VALUE] = {"value", FOR_RUNS},
	[OBSERVATIONS] = {"observations", OPTIONAL},
	[STATE] = {"state", OPTIONAL},
	[REASON] = {"reason", OPTIONAL},
	[N_RUNS] = {"n_runs", FOR_MEANS},
	[MEAN] = {"mean", FOR_MEANS},
	[CV] = {"cv_pct", OPTIONAL},
	[PERCENTILE] = {"percentile", OPTIONAL},
	[POOLED] = {"pooled", OPTIONAL},
	[CONTROL_OF] = {"control_of", OPTIONAL},
	[CONTROL] = {"control", OPTIONAL},
	[DECIDES] = {"decides", OPTIONAL},
	[AGAINST] = {"against", OPTIONAL},
	[LAYOUT_OF] = {"layout_of", OPTIONAL},
	[START] = {"start", OPTIONAL},
	[COUNTER] = {"counter", OPTIONAL},
	[TOTAL] = {"total", OPTIONAL},
	[COUNTED] = {"counted_pct", OPTIONAL},
};

/* Texts that come again and again are kept once, in the order in which they came. */
struct names {
	const char **items;
	size_t count, capacity, last;
};

struct import {
	struct arena *arena;
	struct csv csv;
	int at[COLUMNS]; /* field of a column; -1: the table has none */
	bool means;
	struct names names[COLUMNS];
	struct store_import_row *rows;
	size_t count, capacity, failed;
};

static const char *field(const struct import *import, enum column column)
{
	return import->at[column] < 0 ? "" : import->csv.fields[import->at[column]];
}

KB_PRINTF(3, 4)
static int fail(const struct import *import, struct err *err, const char *fmt, ...)
{
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	err_set(err, ERR_USAGE, "line %d: %s", import->csv.line, str_text(&text));
	str_release(&text);
	return ERR_USAGE;
}

static int read_head(struct import *import, struct err *err)
{
	for (size_t c = 0; c < COLUMNS; c++)
		import->at[c] = -1;
	for (size_t f = 0; f < import->csv.count; f++) {
		struct nearest nearest;
		size_t c = 0;

		nearest_init(&nearest, import->csv.fields[f]);
		while (c < COLUMNS && strcmp(columns[c].name, import->csv.fields[f]) != 0)
			nearest_try(&nearest, columns[c++].name);
		if (c == COLUMNS)
			return fail(import, err, "there is no column '%.60s'%s",
				import->csv.fields[f], nearest_hint(&nearest));
		if (import->at[c] >= 0)
			return fail(import, err, "column %s stands there twice", columns[c].name);
		import->at[c] = (int)f;
	}
	import->means = import->at[MEAN] >= 0;
	for (size_t c = 0; c < COLUMNS; c++)
		if (import->at[c] < 0 &&
			(columns[c].need == ALWAYS ||
				columns[c].need == (import->means ? FOR_MEANS : FOR_RUNS)))
			return fail(import, err, "column %s is missing", columns[c].name);
	if (import->at[LAYOUT_OF] >= 0 && import->at[AGAINST] < 0)
		return fail(import, err,
			"there is a column layout_of and none that says what each variant is "
			"compared with: against");
	return 0;
}

static int read_name(struct import *import, enum column column,
	int (*check)(const char *text, struct err *err), const char **out, struct err *err)
{
	const char *text = field(import, column);
	struct names *names = &import->names[column];
	struct err why = ERR_INIT;

	if (names->count && strcmp(names->items[names->last], text) == 0) {
		*out = names->items[names->last];
		return 0;
	}
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], text) == 0) {
			names->last = i;
			*out = names->items[i];
			return 0;
		}
	if (!*text)
		return fail(import, err, "%s is empty", columns[column].name);
	if (check(text, &why))
		return fail(import, err, "%s '%.60s' %s", columns[column].name, text, why.text);
	if (names->count == NAMES_MAX)
		return fail(import, err, "there are more than %d different values of %s", NAMES_MAX,
			columns[column].name);
	GROW(names->items, names->count, names->capacity);
	names->last = names->count++;
	*out = names->items[names->last] = arena_strdup(import->arena, text);
	return 0;
}

static int read_int(
	struct import *import, enum column column, int64_t min, int64_t *out, struct err *err)
{
	int64_t max = column == OBSERVATIONS ? OBSERVATIONS_MAX : ORDINAL_MAX;
	struct err why = ERR_INIT;

	if (num_int(field(import, column), min, max, out, &why))
		return fail(import, err, "%s: %s", columns[column].name, why.text);
	return 0;
}

/* Empty stays as it is. */
static int read_num(
	struct import *import, enum column column, double min, double *out, struct err *err)
{
	const char *text = field(import, column);
	struct err why = ERR_INIT;
	double value;

	if (!*text)
		return 0;
	if (num_double(text, &value, &why))
		return fail(import, err, "%s: %s", columns[column].name, why.text);
	if (value < min)
		return fail(import, err, "%s is below %g", columns[column].name, min);
	*out = value;
	return 0;
}

static int read_optional_int(
	struct import *import, enum column column, int64_t *out, struct err *err)
{
	return *field(import, column) ? read_int(import, column, 0, out, err) : 0;
}

/* 0 or 1; empty stays as it is. */
static int read_mark(struct import *import, enum column column, bool *out, struct err *err)
{
	int64_t value = *out;
	int ret = read_optional_int(import, column, &value, err);

	if (!ret && value > 1)
		return fail(import, err, "%s is 0 or 1", columns[column].name);
	*out = value;
	return ret;
}

static int read_better(struct import *import, bool *lower, struct err *err)
{
	const char *text = field(import, BETTER);

	if (strcmp(text, "lower") != 0 && strcmp(text, "higher") != 0)
		return fail(import, err, "better is 'higher' or 'lower', not '%.60s'", text);
	*lower = *text == 'l';
	return 0;
}

static int read_names(struct import *import, struct store_import_row *row, struct err *err)
{
	int ret = read_name(import, MACHINE, name_check, &row->machine, err);

	if (!ret)
		ret = read_name(import, VARIANT, name_check, &row->variant, err);
	if (!ret)
		ret = read_name(import, SUITE, name_check, &row->suite, err);
	if (!ret)
		ret = read_name(import, CONDITION, name_check_line, &row->condition, err);
	return ret;
}

static int read_place(struct import *import, struct store_import_row *row, struct err *err)
{
	int64_t boot = 0, block = 0;
	int ret = read_names(import, row, err);

	if (!ret)
		ret = read_int(import, BOOT, 1, &boot, err);
	if (!ret)
		ret = read_int(import, BLOCK, 1, &block, err);
	if (!ret)
		ret = read_num(import, SATURATION, 0, &row->saturation_pct, err);
	if (!ret)
		ret = read_optional_int(import, WORKERS, &row->workers, err);
	if (!ret)
		ret = read_optional_int(import, CPUS, &row->cpus, err);
	row->boot = (int)boot;
	row->block = (int)block;
	return ret;
}

static int read_metric(struct import *import, struct store_import_row *row, struct err *err)
{
	int ret = read_name(import, METRIC, name_check, &row->metric, err);

	if (!ret)
		ret = read_name(import, UNIT, name_check_line, &row->unit, err);
	if (!ret)
		ret = read_better(import, &row->lower_is_better, err);
	if (!ret)
		ret = read_num(import, PERCENTILE, 0, &row->percentile, err);
	if (!ret && row->percentile >= 100)
		ret = fail(import, err, "percentile is not below 100");
	if (!ret)
		ret = read_mark(import, POOLED, &row->pooled, err);
	if (!ret && row->pooled && !row->percentile)
		ret = fail(import, err, "it is pooled, and no percentile is named");
	return ret;
}

static int read_start(struct import *import, struct store_import_row *row, struct err *err)
{
	const char *text = field(import, START);

	row->start = strcmp(text, "kexec") == 0 ? "kexec" : strcmp(text, "cold") == 0 ? "cold" : "";
	return strcmp(text, row->start) == 0
		       ? 0
		       : fail(import, err, "start is kexec, cold, or nothing");
}

static int read_marks(struct import *import, struct store_import_row *row, struct err *err)
{
	bool decides = true;
	int ret = read_mark(import, CONTROL, &row->control, err);

	if (!ret)
		ret = read_mark(import, DECIDES, &decides, err);
	if (!ret && *field(import, CONTROL_OF))
		ret = read_name(import, CONTROL_OF, name_check, &row->control_of, err);
	if (!ret && *field(import, AGAINST))
		ret = read_name(import, AGAINST, name_check, &row->against, err);
	if (!ret && *field(import, LAYOUT_OF))
		ret = read_name(import, LAYOUT_OF, name_check, &row->layout_of, err);
	row->undeciding = !decides;
	if (!ret)
		ret = read_start(import, row, err);
	return ret;
}

static int read_mean(struct import *import, struct store_import_row *row, struct err *err)
{
	int ret = read_int(import, N_RUNS, 1, &row->runs, err);

	row->value = row->cv_pct = (double)NAN;
	if (!ret)
		ret = read_num(import, MEAN, -HUGE_VAL, &row->value, err);
	if (!ret)
		ret = read_num(import, CV, 0, &row->cv_pct, err);
	if (!ret && isnan(row->value))
		ret = fail(import, err, "mean is empty");
	return ret;
}

static int read_sample(struct import *import, struct store_import_row *row, struct err *err)
{
	int64_t warmup = 0, ordinal = 0;
	int ret = read_int(import, RUN, 1, &row->run, err);

	row->value = (double)NAN;
	row->flags = "";
	if (!ret)
		ret = read_int(import, WARMUP, 0, &warmup, err);
	if (!ret)
		ret = read_int(import, ORDINAL, 1, &ordinal, err);
	if (!ret)
		ret = read_num(import, VALUE, -HUGE_VAL, &row->value, err);
	if (!ret && isnan(row->value))
		ret = fail(import, err, "value is empty");
	if (!ret)
		ret = read_optional_int(import, OBSERVATIONS, &row->observations, err);
	if (!ret && warmup > 1)
		ret = fail(import, err, "warmup is 0 or 1");
	if (!ret && *field(import, REASON))
		ret = read_name(import, REASON, name_check_line, &row->flags, err);
	row->warmup = warmup;
	row->ordinal = (int)ordinal;
	return ret;
}

/* A line of a run that was made for counting. */
static int read_counter(struct import *import, struct store_import_row *row, struct err *err)
{
	int ret = read_name(import, COUNTER, name_check_line, &row->counter, err);

	row->value = row->total = (double)NAN;
	row->metric = "";
	if (!ret)
		ret = read_name(import, UNIT, name_check_line, &row->unit, err);
	if (!ret)
		ret = read_int(import, RUN, 1, &row->run, err);
	if (!ret)
		ret = read_num(import, VALUE, 0, &row->value, err);
	if (!ret)
		ret = read_num(import, TOTAL, 0, &row->total, err);
	if (!ret)
		ret = read_num(import, COUNTED, 0, &row->counted_pct, err);
	if (!ret && *field(import, REASON))
		ret = read_name(import, REASON, name_check_line, &row->flags, err);
	return ret;
}

/* A run that failed or was interrupted stands in an export without a value. */
static bool is_failed(const struct import *import)
{
	const char *state = field(import, STATE);

	return *state && strcmp(state, "done") != 0;
}

static int read_row(struct import *import, size_t width, struct err *err)
{
	struct store_import_row row = {
		.cv_pct = (double)NAN, .flags = "", .against = "", .layout_of = ""};
	int ret;

	if (import->csv.count != width)
		return fail(import, err, "it has %zu fields, the first line has %zu",
			import->csv.count, width);
	if (!import->means && is_failed(import)) {
		import->failed++;
		return 0;
	}
	ret = read_place(import, &row, err);
	if (!ret && !import->means && *field(import, COUNTER))
		ret = read_counter(import, &row, err);
	else if (!ret)
		ret = read_metric(import, &row, err);
	if (!ret)
		ret = read_marks(import, &row, err);
	if (!ret && !row.counter)
		ret = import->means ? read_mean(import, &row, err) : read_sample(import, &row, err);
	if (ret)
		return ret;
	GROW(import->rows, import->count, import->capacity);
	import->rows[import->count++] = row;
	return 0;
}

static int read_rows(struct import *import, struct err *err)
{
	const char *name;
	size_t width;
	int ret = csv_next(&import->csv, err);

	if (ret == 0)
		return err_set(err, ERR_USAGE, "the file is empty");
	if (ret > 0)
		ret = read_head(import, err);
	if (ret)
		return ret;
	width = import->csv.count;
	while ((ret = csv_next(&import->csv, err)) == 1) {
		if (import->at[EXPERIMENT] >= 0 && width == import->csv.count)
			ret = read_name(import, EXPERIMENT, name_check, &name, err);
		else
			ret = 0;
		if (!ret)
			ret = read_row(import, width, err);
		if (ret)
			return ret;
	}
	if (!ret && !import->count)
		return err_set(err, ERR_USAGE, "there are no samples in it");
	if (!ret && import->names[EXPERIMENT].count > 1)
		return err_set(err, ERR_USAGE, "it holds more than one experiment");
	return ret;
}

/* The baseline of one variant; "" when it has none. */
static const char *against_of(const struct import *import, const char *variant)
{
	for (size_t i = 0; i < import->count; i++)
		if (strcmp(import->rows[i].variant, variant) == 0)
			return import->rows[i].against;
	return "";
}

/* What the first variant that is compared at all is compared with in the end. */
static const char *main_baseline(const struct import *import)
{
	const char *baseline = "";

	for (size_t i = 0; i < import->count && !*baseline; i++)
		if (!*import->rows[i].layout_of)
			baseline = import->rows[i].against;
	for (size_t i = 0; i < import->names[VARIANT].count; i++) {
		const char *next = against_of(import, baseline);

		if (!*next)
			break;
		baseline = next;
	}
	return baseline;
}

static void hand_over(struct import *import, struct import_table *out)
{
	struct names *variants = &import->names[VARIANT];

	out->rows = import->rows;
	out->count = import->count;
	out->failed = import->failed;
	out->has_against = import->at[AGAINST] >= 0;
	out->baseline = out->has_against ? main_baseline(import) : "";
	out->name = import->names[EXPERIMENT].count ? import->names[EXPERIMENT].items[0] : "";
	GROW(variants->items, variants->count, variants->capacity);
	variants->items[variants->count] = NULL;
	out->variants = arena_copy(
		import->arena, variants->items, variants->count + 1, sizeof(*variants->items));
	import->rows = NULL;
}

int import_read(struct arena *arena, const char *bytes, size_t len, struct import_table *out,
	struct err *err)
{
	struct import import = {.arena = arena};
	int ret;

	csv_init(&import.csv, bytes, len);
	ret = read_rows(&import, err);
	if (!ret)
		hand_over(&import, out);
	for (size_t c = 0; c < COLUMNS; c++)
		free(import.names[c].items);
	free(import.rows);
	csv_release(&import.csv);
	return ret;
}

void import_release(struct import_table *table)
{
	free(table->rows);
	*table = (struct import_table){0};
}
