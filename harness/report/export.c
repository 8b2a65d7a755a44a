/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/csv.h"
#include "base/num.h"
#include "model/store_counter.h"
#include "report/export.h"
#include "sys/json.h"

enum { FLUSH_BYTES = 1 << 16 };

enum field_kind { FIELD_TEXT, FIELD_INT, FIELD_NUM };

/* NULL and NaN are left empty in CSV, and left out in JSON. */
struct field {
	const char *name;
	enum field_kind kind;
	const char *text;
	int64_t integer;
	double number;
};

#define TEXT(key, value) ((struct field){.name = (key), .kind = FIELD_TEXT, .text = (value)})
#define INT(key, value) ((struct field){.name = (key), .kind = FIELD_INT, .integer = (value)})
#define NUM(key, value) ((struct field){.name = (key), .kind = FIELD_NUM, .number = (value)})

/* What a row counts for, and its boot's start: six fields. */
#define MARKS(marks)                                                               \
	TEXT("control_of", (marks).control_of), INT("control", (marks).control),   \
		INT("decides", (marks).decides), TEXT("against", (marks).against), \
		TEXT("layout_of", (marks).layout_of), TEXT("start", (marks).start)

/* Columns that only experiments with counters have stand last. */
enum { COUNTER_FIELDS = 3 };

struct export
{
	const char *experiment;
	bool counted; /* there are counters */
	enum export_format format;
	bool headed; /* the line of column names is out */
	struct str lines;
	export_sink_fn *sink;
	void *arg;
};

static void add_csv_line(struct str *out, const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct field *field = &fields[i];

		if (field->kind == FIELD_TEXT) {
			csv_add(out, field->text ? field->text : "");
			continue;
		}
		if (i)
			str_add_char(out, ',');
		if (field->kind == FIELD_INT)
			str_addf(out, "%lld", (long long)field->integer);
		else if (!isnan(field->number))
			num_add_double(out, field->number);
	}
	str_add_char(out, '\n');
}

static void add_csv_head(struct str *out, const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		csv_add(out, fields[i].name);
	str_add_char(out, '\n');
}

static void add_json_text(struct str *out, const char *text)
{
	json_t *value = json_text(text);

	json_write(value, false, out);
	json_decref(value);
}

/* By hand, because numbers are to be the shortest that read back as the same. */
static void add_json_line(struct str *out, const struct field *fields, size_t count)
{
	char separator = '{';

	for (size_t i = 0; i < count; i++) {
		const struct field *field = &fields[i];

		if ((field->kind == FIELD_TEXT && !field->text) ||
			(field->kind == FIELD_NUM && isnan(field->number)))
			continue;
		str_addf(out, "%c\"%s\":", separator, field->name);
		separator = ',';
		if (field->kind == FIELD_TEXT)
			add_json_text(out, field->text);
		else if (field->kind == FIELD_INT)
			str_addf(out, "%lld", (long long)field->integer);
		else
			num_add_double(out, field->number);
	}
	str_add(out, "}\n");
}

static int flush(struct export *export)
{
	int ret = export->lines.len ? export->sink(export->arg, &export->lines) : 0;

	str_reset(&export->lines);
	return ret;
}

static int add_line(struct export *export, const struct field *fields, size_t count)
{
	if (!export->counted)
		count -= COUNTER_FIELDS;
	if (export->format == EXPORT_JSONL) {
		add_json_line(&export->lines, fields, count);
	} else {
		if (!export->headed)
			add_csv_head(&export->lines, fields, count);
		export->headed = true;
		add_csv_line(&export->lines, fields, count);
	}
	return export->lines.len >= FLUSH_BYTES ? flush(export) : 0;
}

static double saturation(double pct)
{
	return pct > 0 ? pct : NAN;
}

static int add_sample(void *arg, const struct store_sample_row *row)
{
	struct export *export = arg;
	const struct field fields[] = {
		TEXT("experiment", export->experiment),
		TEXT("machine", row->machine),
		TEXT("variant", row->variant),
		INT("boot", row->boot),
		INT("block", row->block),
		TEXT("suite", row->suite),
		TEXT("condition", row->condition),
		NUM("saturation_pct", saturation(row->saturation_pct)),
		INT("workers", row->workers),
		INT("cpus", row->cpus),
		INT("run", row->run),
		INT("warmup", row->kind == RUN_WARMUP),
		TEXT("metric", row->metric),
		TEXT("unit", row->unit),
		TEXT("better", row->lower_is_better ? "lower" : "higher"),
		INT("ordinal", row->ordinal),
		NUM("value", row->value),
		row->observations ? INT("observations", row->observations)
				  : TEXT("observations", NULL),
		NUM("percentile", row->percentile),
		INT("pooled", row->pooled),
		TEXT("state", "done"),
		TEXT("reason", row->flags),
		MARKS(row->marks),
		TEXT("counter", NULL),
		TEXT("total", NULL),
		TEXT("counted_pct", NULL),
	};

	return add_line(export, fields, ARRAY_SIZE(fields));
}

/* A run that failed has no samples, and still was. */
static int add_failed(void *arg, const struct store_run_row *row)
{
	struct export *export = arg;
	const struct field fields[] = {
		TEXT("experiment", export->experiment),
		TEXT("machine", row->machine),
		TEXT("variant", row->variant),
		INT("boot", row->boot),
		INT("block", row->block),
		TEXT("suite", row->suite),
		TEXT("condition", row->condition),
		NUM("saturation_pct", saturation(row->saturation_pct)),
		INT("workers", row->workers),
		INT("cpus", row->cpus),
		INT("run", row->ordinal),
		INT("warmup", row->kind == RUN_WARMUP),
		TEXT("metric", NULL),
		TEXT("unit", NULL),
		TEXT("better", NULL),
		TEXT("ordinal", NULL),
		TEXT("value", NULL),
		TEXT("observations", NULL),
		TEXT("percentile", NULL),
		TEXT("pooled", NULL),
		TEXT("state", store_state_name(row->state)),
		TEXT("reason", row->reason),
		MARKS(row->marks),
		TEXT("counter", NULL),
		TEXT("total", NULL),
		TEXT("counted_pct", NULL),
	};

	if (row->kind == RUN_COUNTED ||
		(row->state != STATE_FAILED && row->state != STATE_INTERRUPTED))
		return 0;
	return add_line(export, fields, ARRAY_SIZE(fields));
}

static int add_counter(void *arg, const struct store_counter_row *row)
{
	const struct store_counter *counter = &row->counter;
	struct export *export = arg;
	const struct field fields[] = {
		TEXT("experiment", export->experiment),
		TEXT("machine", row->machine),
		TEXT("variant", row->variant),
		INT("boot", row->boot),
		INT("block", row->block),
		TEXT("suite", row->suite),
		TEXT("condition", row->condition),
		NUM("saturation_pct", saturation(row->saturation_pct)),
		INT("workers", row->workers),
		INT("cpus", row->cpus),
		INT("run", row->run),
		TEXT("warmup", NULL),
		TEXT("metric", NULL),
		TEXT("unit", counter->unit),
		TEXT("better", NULL),
		TEXT("ordinal", NULL),
		NUM("value", counter->value),
		TEXT("observations", NULL),
		TEXT("percentile", NULL),
		TEXT("pooled", NULL),
		TEXT("state", "done"),
		TEXT("reason", isnan(counter->value) ? counter->reason : row->flags),
		MARKS(row->marks),
		TEXT("counter", counter->name),
		NUM("total", counter->total),
		NUM("counted_pct", counter->counted_pct),
	};

	return add_line(export, fields, ARRAY_SIZE(fields));
}

static int see_counter(void *arg, const struct store_counter_row *row KB_UNUSED)
{
	((struct export *)arg)->counted = true;
	return 1; /* one is enough */
}

static int add_mean(void *arg, const struct store_mean_row *row)
{
	struct export *export = arg;
	const struct field fields[] = {
		TEXT("experiment", export->experiment),
		TEXT("machine", row->machine),
		TEXT("variant", row->variant),
		INT("boot", row->boot),
		INT("block", row->block),
		TEXT("suite", row->suite),
		TEXT("condition", row->condition),
		NUM("saturation_pct", saturation(row->saturation_pct)),
		INT("workers", row->workers),
		INT("cpus", row->cpus),
		TEXT("metric", row->metric),
		TEXT("unit", row->unit),
		TEXT("better", row->lower_is_better ? "lower" : "higher"),
		INT("n_runs", row->runs),
		NUM("mean", row->mean),
		NUM("cv_pct", row->cv_pct),
		MARKS(row->marks),
		TEXT("counter", NULL),
		TEXT("total", NULL),
		TEXT("counted_pct", NULL),
	};

	return add_line(export, fields, ARRAY_SIZE(fields));
}

int export_write(struct store *store, int64_t experiment_id, enum export_format format,
	struct arena *arena, export_sink_fn *sink, void *arg, struct err *err)
{
	struct export export = {.format = format, .sink = sink, .arg = arg};
	struct store_run_filter filter = {.experiment_id = experiment_id};
	struct store_experiment head;
	int ret = store_load_head(store, experiment_id, arena, &head, err);

	if (ret)
		return ret;
	export.experiment = head.name;
	ret = store_each_counter(store, experiment_id, see_counter, &export, err);
	if (ret < 0)
		return ret;
	if (head.means_only)
		ret = store_each_mean(store, experiment_id, add_mean, &export, err);
	else
		ret = store_each_sample(store, experiment_id, add_sample, &export, err);
	if (!ret)
		ret = store_each_counter(store, experiment_id, add_counter, &export, err);
	if (!ret && !head.means_only)
		ret = store_each_run(store, &filter, add_failed, &export, err);
	if (!ret)
		ret = flush(&export);
	str_release(&export.lines);
	return ret;
}
