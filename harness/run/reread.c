/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "backend/reader.h"
#include "model/store_result.h"
#include "model/store_rows.h"
#include "model/store_view.h"
#include "run/reread.h"

/* A condition of a machine, as planned and as the present suite has it. */
struct pairing {
	const struct store_condition *row;
	const struct condition *condition; /* NULL: the suite does not have it any more */
};

/* A run to be read. */
struct candidate {
	int64_t id, condition_id;
	int reading;
	bool done;
};

struct reread {
	struct store *store;
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
	reread->runs[reread->run_count++] =
		(struct candidate){row->id, row->condition_id, row->reading, done};
	return 0;
}

static const struct pairing *find_pairing(const struct reread *reread, int64_t condition_id)
{
	for (size_t i = 0; i < reread->pairing_count; i++)
		if (reread->pairings[i].row->id == condition_id)
			return reread->pairings[i].condition ? &reread->pairings[i] : NULL;
	return NULL;
}

static int load_output(struct reread *reread, int64_t run_id, struct str *out, struct str *err_out,
	struct err *err)
{
	struct store_raw_row *raws;
	size_t count;
	int ret = store_load_raws(reread->store, run_id, 0, 0, &reread->arena, &raws, &count, err);

	for (size_t i = 0; i < count && !ret; i++) {
		if (strcmp(raws[i].kind, "stdout") == 0)
			ret = store_read_raw(reread->store, &raws[i], out, err);
		else if (strcmp(raws[i].kind, "stderr") == 0)
			ret = store_read_raw(reread->store, &raws[i], err_out, err);
	}
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

static int keep_reading(struct reread *reread, const struct candidate *run,
	const struct store_sample *samples, size_t count, struct err *err)
{
	struct store_value *old;
	size_t old_count;
	int ret = store_load_samples(reread->store, run->id, &reread->arena, &old, &old_count, err);

	if (ret || (run->done && same_samples(old, old_count, run->reading, samples, count)))
		return ret;
	if (run->done)
		reread->count.changed++;
	else
		reread->count.gained++;
	return store_reading_add(reread->store, run->id, samples, count, NULL, "", err);
}

static int read_run(struct reread *reread, const struct candidate *run,
	const struct pairing *pairing, const struct program_output *output, struct err *err)
{
	struct reading reading = READING_INIT;
	struct err why = ERR_INIT;
	struct store_sample *samples;
	int ret = reader_read(pairing->condition, output, &reading, &why);

	reread->count.read++;
	if (ret && ret != ERR_INVALID)
		return err_set(err, (enum err_code)ret, "%s", why.text);
	if (ret && !run->done)
		return 0;
	if (ret) {
		reread->count.lost++;
		return store_reading_add(
			reread->store, run->id, NULL, 0, "unparsable", why.text, err);
	}
	samples = xcalloc(reading.count + 1, sizeof(*samples));
	ret = keep_reading(
		reread, run, samples, make_samples(reread, pairing, &reading, samples), err);
	free(samples);
	reading_release(&reading);
	return ret;
}

static int reread_run(struct reread *reread, const struct candidate *run, struct err *err)
{
	const struct pairing *pairing = find_pairing(reread, run->condition_id);
	struct str out = STR_INIT, err_out = STR_INIT;
	int ret;

	if (!pairing)
		return 0;
	ret = load_output(reread, run->id, &out, &err_out, err);
	if (!ret) {
		struct program_output output = {
			str_text(&out), out.len, str_text(&err_out), err_out.len};

		ret = read_run(reread, run, pairing, &output, err);
	}
	str_release(&out);
	str_release(&err_out);
	return ret ? err_wrap(err, "run %lld", (long long)run->id) : 0;
}

int reread_experiment(struct store *store, int64_t experiment_id,
	const struct experiment *experiment, const struct suite *suites, size_t suite_count,
	struct reread_count *out, struct err *err)
{
	struct store_run_filter filter = {.experiment_id = experiment_id};
	struct reread reread = {.store = store};
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
