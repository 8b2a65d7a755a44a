/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/clock.h"
#include "backend/reader.h"
#include "model/store_result.h"
#include "model/store_rows.h"
#include "model/store_view.h"
#include "run/counting.h"
#include "run/reread.h"

/* A condition of a machine, as planned and as the present suite has it. */
struct pairing {
	const struct store_condition *row;
	const struct condition *condition; /* NULL: the suite does not have it any more */
};

/* A run to be read. */
struct candidate {
	int64_t id, condition_id, wall_ns;
	int reading;
	bool done, counted;
};

/* What was kept of it. */
struct kept {
	struct str out, err_out, counters;
};

struct reread {
	struct store *store;
	const struct experiment *experiment;
	struct arena arena;
	struct pairing *pairings;
	size_t pairing_count, pairing_capacity;
	struct candidate *runs;
	size_t run_count, run_capacity;
	struct reread_count count;
};

static const struct suite *find_suite(const struct suite *suites, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(suites[i].name, name) == 0)
			return &suites[i];
	return NULL;
}

static const struct condition *find_condition(
	const struct condition *conditions, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(conditions[i].name, name) == 0)
			return &conditions[i];
	return NULL;
}

/* Pairs the conditions of one suite on one machine. */
static int pair_suite(struct reread *reread, const struct store_machine *machine,
	const struct experiment *experiment, const struct suite *suite, struct err *err)
{
	struct condition *conditions = NULL;
	size_t count = 0;
	int64_t cpus = machine->condition_count ? machine->conditions[0].cpus : 0;
	int ret = suite_expand(&reread->arena, suite, cpus, experiment->saturations_pct,
		experiment->saturation_count, &conditions, &count, err);

	if (ret)
		return ret;
	for (size_t c = 0; c < machine->condition_count; c++) {
		if (strcmp(machine->conditions[c].suite, suite->name) != 0)
			continue;
		GROW(reread->pairings, reread->pairing_count, reread->pairing_capacity);
		reread->pairings[reread->pairing_count++] =
			(struct pairing){&machine->conditions[c],
				find_condition(conditions, count, machine->conditions[c].name)};
	}
	return 0;
}

static int pair_all(struct reread *reread, const struct store_view *view,
	const struct experiment *experiment, const struct suite *suites, size_t suite_count,
	struct err *err)
{
	int ret = 0;

	for (size_t m = 0; m < view->machine_count; m++)
		for (size_t s = 0; s < experiment->suite_count && !ret; s++) {
			const struct suite *suite =
				find_suite(suites, suite_count, experiment->suites[s].name);

			if (suite)
				ret = pair_suite(
					reread, &view->machines[m], experiment, suite, err);
		}
	return ret;
}

/* Runs that ended with output which is worth another look. */
static int note_run(void *arg, const struct store_run_row *row)
{
	struct reread *reread = arg;
	bool done = row->state == STATE_DONE;

	if (!done && !(row->state == STATE_FAILED && strcmp(row->reason, "unparsable") == 0))
		return 0;
	GROW(reread->runs, reread->run_count, reread->run_capacity);
	reread->runs[reread->run_count++] = (struct candidate){.id = row->id,
		.condition_id = row->condition_id,
		.wall_ns = row->wall_ns,
		.reading = row->reading,
		.done = done,
		.counted = row->kind == RUN_COUNTED};
	return 0;
}

static const struct pairing *find_pairing(const struct reread *reread, int64_t condition_id)
{
	for (size_t i = 0; i < reread->pairing_count; i++)
		if (reread->pairings[i].row->id == condition_id)
			return reread->pairings[i].condition ? &reread->pairings[i] : NULL;
	return NULL;
}

static int load_output(struct reread *reread, int64_t run_id, struct kept *kept, struct err *err)
{
	const struct {
		const char *kind;
		struct str *text;
	} wanted[] = {
		{"stdout", &kept->out}, {"stderr", &kept->err_out}, {"counters", &kept->counters}};
	struct store_raw_row *raws;
	size_t count;
	int ret = store_load_raws(reread->store, run_id, 0, 0, &reread->arena, &raws, &count, err);

	for (size_t i = 0; i < count && !ret; i++)
		for (size_t w = 0; w < ARRAY_SIZE(wanted) && !ret; w++)
			if (strcmp(raws[i].kind, wanted[w].kind) == 0)
				ret = store_read_raw(reread->store, &raws[i], wanted[w].text, err);
	return ret;
}

/* Values of metrics that the experiment has, as samples of its rows. */
static size_t make_samples(struct reread *reread, const struct pairing *pairing,
	const struct reading *reading, struct store_sample *samples)
{
	const struct suite *suite = pairing->condition->suite;
	size_t count = 0;

	for (size_t i = 0; i < reading->count; i++) {
		const struct reading_value *value = &reading->values[i];
		const char *name = suite->metrics[value->metric].name;
		size_t m = 0;

		while (m < pairing->row->metric_count &&
			strcmp(pairing->row->metrics[m].name, name) != 0)
			m++;
		if (m == pairing->row->metric_count) {
			reread->count.unknown++;
			continue;
		}
		samples[count++] = (struct store_sample){pairing->row->metrics[m].id,
			value->ordinal, value->value, value->observations};
	}
	return count;
}

static bool same_samples(const struct store_value *old, size_t old_count, int reading,
	const struct store_sample *samples, size_t count)
{
	size_t current = 0;

	for (size_t i = 0; i < old_count; i++) {
		bool found = false;

		if (old[i].reading != reading)
			continue;
		current++;
		for (size_t s = 0; s < count && !found; s++)
			found = samples[s].metric_id == old[i].metric_id &&
				samples[s].ordinal == old[i].ordinal &&
				samples[s].value == old[i].value &&
				samples[s].observations == old[i].observations;
		if (!found)
			return false;
	}
	return current == count;
}

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool same_counters(const struct store_counter *old, size_t old_count, int reading,
	const struct store_reading *now)
{
	size_t current = 0;

	for (size_t i = 0; i < old_count; i++) {
		const struct store_counter *counter = &now->counters[current];

		if (old[i].reading != reading)
			continue;
		if (current++ >= now->counter_count || strcmp(old[i].name, counter->name) ||
			strcmp(old[i].unit, counter->unit) ||
			strcmp(old[i].reason, counter->reason) ||
			!same_number(old[i].total, counter->total) ||
			!same_number(old[i].value, counter->value) ||
			!same_number(old[i].counted_pct, counter->counted_pct))
			return false;
	}
	return current == now->counter_count;
}

/* *same: nothing has to be stored. */
static int compare(struct reread *reread, const struct candidate *run,
	const struct store_reading *now, bool *same, struct err *err)
{
	struct store_counter *counters;
	struct store_value *old;
	size_t old_count, counter_count;
	int ret = store_load_samples(reread->store, run->id, &reread->arena, &old, &old_count, err);

	if (!ret)
		ret = store_load_counters(
			reread->store, run->id, &reread->arena, &counters, &counter_count, err);
	*same = !ret && run->done &&
		same_samples(old, old_count, run->reading, now->samples, now->sample_count) &&
		same_counters(counters, counter_count, run->reading, now);
	return ret;
}

static int keep_reading(struct reread *reread, const struct candidate *run,
	const struct store_reading *now, struct err *err)
{
	bool same;
	int ret = compare(reread, run, now, &same, err);

	if (ret || same)
		return ret;
	if (run->done)
		reread->count.changed++;
	else
		reread->count.gained++;
	return store_reading_add(reread->store, run->id, now, err);
}

/* Everything that the present suite finds in it; ERR_INVALID says why it finds nothing. */
static int read_kept(struct reread *reread, const struct candidate *run,
	const struct pairing *pairing, const struct kept *kept, struct store_reading *out,
	struct err *err)
{
	const struct program_output output = {
		str_text(&kept->out), kept->out.len, str_text(&kept->err_out), kept->err_out.len};
	struct reading reading = READING_INIT;
	const struct counter_source source = {.condition = pairing->condition,
		.reading = &reading,
		.seconds = (double)run->wall_ns / (double)NS_PER_S,
		.functions = reread->experiment->counting.functions,
		.bytes = str_text(&kept->counters),
		.len = kept->counters.len};
	struct store_sample *samples;
	struct store_counter *counters = NULL;
	int ret = reader_read(pairing->condition, &output, &reading, err);

	if (!ret && run->counted)
		ret = counting_read(&reread->arena, &source, &counters, &out->counter_count, err);
	if (!ret) {
		samples = arena_alloc(&reread->arena, (reading.count + 1) * sizeof(*samples));
		out->sample_count = make_samples(reread, pairing, &reading, samples);
		out->samples = samples;
		out->counters = counters;
	}
	reading_release(&reading);
	return ret;
}

static int read_run(struct reread *reread, const struct candidate *run,
	const struct pairing *pairing, const struct kept *kept, struct err *err)
{
	struct store_reading now = {.reason = NULL};
	struct err why = ERR_INIT;
	int ret = read_kept(reread, run, pairing, kept, &now, &why);

	reread->count.read++;
	if (ret && ret != ERR_INVALID)
		return err_set(err, (enum err_code)ret, "%s", why.text);
	if (ret && !run->done)
		return 0;
	if (ret) {
		reread->count.lost++;
		now = (struct store_reading){.reason = "unparsable", .detail = why.text};
		return store_reading_add(reread->store, run->id, &now, err);
	}
	return keep_reading(reread, run, &now, err);
}

static int reread_run(struct reread *reread, const struct candidate *run, struct err *err)
{
	const struct pairing *pairing = find_pairing(reread, run->condition_id);
	struct kept kept = {STR_INIT, STR_INIT, STR_INIT};
	int ret;

	if (!pairing)
		return 0;
	ret = load_output(reread, run->id, &kept, err);
	if (!ret)
		ret = read_run(reread, run, pairing, &kept, err);
	str_release(&kept.out);
	str_release(&kept.err_out);
	str_release(&kept.counters);
	return ret ? err_wrap(err, "run %lld", (long long)run->id) : 0;
}

int reread_experiment(struct store *store, int64_t experiment_id,
	const struct experiment *experiment, const struct suite *suites, size_t suite_count,
	struct reread_count *out, struct err *err)
{
	struct store_run_filter filter = {.experiment_id = experiment_id};
	struct reread reread = {.store = store, .experiment = experiment};
	struct store_view view;
	int ret = store_load(store, experiment_id, &reread.arena, &view, err);

	if (!ret)
		ret = pair_all(&reread, &view, experiment, suites, suite_count, err);
	if (!ret)
		ret = store_each_run(store, &filter, note_run, &reread, err);
	for (size_t i = 0; i < reread.run_count && !ret; i++)
		ret = reread_run(&reread, &reread.runs[i], err);
	*out = reread.count;
	free(reread.pairings);
	free(reread.runs);
	arena_release(&reread.arena);
	return ret;
}
