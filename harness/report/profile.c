/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/str.h"
#include "model/experiment.h"
#include "model/store_rows.h"
#include "report/profile.h"
#include "report/profile_text.h"
#include "stat/fdr.h"

/* Functions with less are not asked whether they moved: there are too many of them. */
static const double share_of_interest_pct = 0.5;

/* A run of the experiment. */
struct profiled {
	int64_t run_id, boot_id;
	int arm; /* index of the variant */
	struct profile_text text;
	bool has_text;
};

/* Runs that are one independent observation: all of a boot, or one. */
struct unit {
	int64_t boot_id, run_id;
	int arm;
	int64_t busy, all;
};

/* Samples of one function in one unit. */
struct entry {
	const struct profile_symbol *symbol;
	size_t unit;
	double reached; /* with what it called; NaN: not known */
};

struct loader {
	struct store *store;
	struct arena *arena;
	struct profile *profile;
	struct profiled *runs;
	size_t run_count, run_capacity;
	struct unit *units;
	size_t unit_count;
	struct entry *entries;
	size_t entry_count, entry_capacity;
};

static int take_run(void *arg, const struct store_run_row *row)
{
	struct loader *loader = arg;
	struct profile *profile = loader->profile;
	int arm = strcmp(row->variant, profile->variants[1]->name) == 0;

	if (row->kind != RUN_MEASURED || (row->state != STATE_DONE && row->state != STATE_FAILED))
		return 0;
	if (row->state == STATE_FAILED) {
		profile->missing++;
		profile->why = arena_printf(loader->arena, "%s: %s", row->reason, row->detail);
		return 0;
	}
	GROW(loader->runs, loader->run_count, loader->run_capacity);
	loader->runs[loader->run_count++] =
		(struct profiled){.run_id = row->id, .boot_id = row->boot_id, .arm = arm};
	return 0;
}

/* Reads what perf said of a run; a text that perf did not write costs that run only. */
static int load_text(struct loader *loader, struct profiled *run, struct err *err)
{
	struct store_raw_row *raws;
	struct str content = STR_INIT;
	struct err why = ERR_INIT;
	size_t count;
	int ret = store_load_raws(
		loader->store, run->run_id, 0, 0, loader->arena, &raws, &count, err);

	(void)err_set(&why, ERR_INVALID, "perf gave nothing; `kbracket show %lld` has its events",
		(long long)loader->profile->view.head.id);
	for (size_t i = 0; i < count && !ret; i++) {
		if (strcmp(raws[i].kind, "profile") != 0)
			continue;
		ret = store_read_raw(loader->store, &raws[i], &content, err);
		run->has_text = !ret && !profile_text_read(loader->arena, str_text(&content),
						content.len, &run->text, &why);
	}
	if (!ret && !run->has_text) {
		loader->profile->missing++;
		loader->profile->why = arena_strdup(loader->arena, why.text);
	} else if (!ret && *run->text.event) {
		loader->profile->event = run->text.event;
		loader->profile->lost += run->text.lost;
	}
	str_release(&content);
	return ret;
}

static int load_runs(struct loader *loader, struct err *err)
{
	struct store_run_filter filter = {.experiment_id = loader->profile->view.head.id};
	int ret = store_each_run(loader->store, &filter, take_run, loader, err);

	for (size_t i = 0; i < loader->run_count && !ret; i++)
		ret = load_text(loader, &loader->runs[i], err);
	return ret;
}

/* Counts what there is, and chooses the unit: boots, unless one side has a single one. */
static void count_units(struct loader *loader)
{
	struct profile *profile = loader->profile;
	int64_t last[2] = {0, 0};

	for (size_t i = 0; i < loader->run_count; i++) {
		const struct profiled *run = &loader->runs[i];

		if (!run->has_text)
			continue;
		profile->runs[run->arm]++;
		profile->boots[run->arm] += last[run->arm] != run->boot_id;
		last[run->arm] = run->boot_id;
	}
	if (profile->boots[0] < 2 || profile->boots[1] < 2)
		profile->unit = PROFILE_RUNS;
}

static size_t unit_of(struct loader *loader, const struct profiled *run)
{
	bool by_run = loader->profile->unit == PROFILE_RUNS;

	for (size_t i = 0; i < loader->unit_count; i++)
		if (loader->units[i].boot_id == run->boot_id &&
			(!by_run || loader->units[i].run_id == run->run_id))
			return i;
	loader->units[loader->unit_count] =
		(struct unit){.boot_id = run->boot_id, .run_id = run->run_id, .arm = run->arm};
	return loader->unit_count++;
}

static int64_t samples_of(const struct profile_text *text)
{
	int64_t sum = 0;

	for (size_t i = 0; i < text->count; i++)
		sum += text->symbols[i].samples;
	return sum;
}

static void gather(struct loader *loader)
{
	loader->units = xcalloc(loader->run_count + 1, sizeof(*loader->units));
	for (size_t i = 0; i < loader->run_count; i++) {
		const struct profiled *run = &loader->runs[i];
		double all = (double)samples_of(&run->text);
		size_t unit;

		if (!run->has_text)
			continue;
		unit = unit_of(loader, run);
		for (size_t k = 0; k < run->text.count; k++) {
			const struct profile_symbol *symbol = &run->text.symbols[k];

			loader->units[unit].all += symbol->samples;
			loader->units[unit].busy += symbol->idle ? 0 : symbol->samples;
			loader->profile->samples[run->arm] += symbol->samples;
			GROW(loader->entries, loader->entry_count, loader->entry_capacity);
			loader->entries[loader->entry_count++] =
				(struct entry){symbol, unit, symbol->reached_pct / 100 * all};
		}
	}
}

static bool is_any_kernel(const struct profile_symbol *symbol)
{
	return symbol->kernel && !symbol->idle;
}

static bool is_idle(const struct profile_symbol *symbol)
{
	return symbol->idle;
}

static bool is_unnamed(const struct profile_symbol *symbol)
{
	return symbol->kernel && !symbol->named;
}

static int64_t total(const struct loader *loader, bool (*counts)(const struct profile_symbol *))
{
	int64_t sum = 0;

	for (size_t i = 0; i < loader->entry_count; i++)
		if (counts(loader->entries[i].symbol))
			sum += loader->entries[i].symbol->samples;
	return sum;
}

/* What is compared of entries: those that count (NULL: all), their own samples or with what they
 * called, as a share of the samples outside the idle loop or of all. */
struct measure {
	bool (*counts)(const struct profile_symbol *symbol);
	bool reached, of_all;
};

static double value_of(const struct entry *entry, const struct measure *measure)
{
	if (measure->counts && !measure->counts(entry->symbol))
		return 0;
	return measure->reached ? entry->reached : (double)entry->symbol->samples;
}

/* The difference in the share of the entries first..end. */
static void compare(const struct loader *loader, size_t first, size_t end,
	const struct measure *measure, struct share_difference *out)
{
	double *shares[2], *sums = xcalloc(loader->unit_count + 1, sizeof(*sums));
	size_t n[2] = {0, 0};

	for (size_t i = first; i < end; i++)
		sums[loader->entries[i].unit] += value_of(&loader->entries[i], measure);
	for (size_t arm = 0; arm < 2; arm++)
		shares[arm] = xcalloc(loader->unit_count + 1, sizeof(**shares));
	for (size_t u = 0; u < loader->unit_count; u++) {
		const struct unit *unit = &loader->units[u];
		int64_t whole = measure->of_all ? unit->all : unit->busy;

		if (whole > 0)
			shares[unit->arm][n[unit->arm]++] = 100 * sums[u] / (double)whole;
	}
	share_difference(shares[0], n[0], shares[1], n[1], out);
	free(shares[0]);
	free(shares[1]);
	free(sums);
}

static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return strcmp(x->symbol->name, y->symbol->name);
}

static int by_size(const void *a, const void *b)
{
	const struct profile_line *x = a, *y = b;
	double p = fabs(x->share.points), q = fabs(y->share.points);

	return p != q ? (p < q ? 1 : -1) : strcmp(x->name, y->name);
}

bool profile_moved(const struct profile_line *line)
{
	return line->q <= 0.05;
}

/* Chosen by the mean of both sides, which says nothing about their difference. */
static void set_q(struct profile_line *lines, size_t count)
{
	double *p = xcalloc(count + 1, sizeof(*p));

	for (size_t i = 0; i < count; i++) {
		const struct share_difference *share = &lines[i].share;

		p[i] = share->a + share->b < 2 * share_of_interest_pct ? (double)NAN : share->p;
	}
	fdr_bh(p, count, p);
	for (size_t i = 0; i < count; i++)
		lines[i].q = p[i];
	free(p);
}

/* One line for each function. */
static struct profile_line *make_lines(struct loader *loader, bool reached, size_t *count)
{
	const struct measure measure = {.reached = reached};
	struct profile_line *lines =
		arena_alloc(loader->arena, (loader->entry_count + 1) * sizeof(*lines));
	size_t end;

	*count = 0;
	for (size_t first = 0; first < loader->entry_count; first = end) {
		const struct profile_symbol *symbol = loader->entries[first].symbol;
		struct profile_line *line = &lines[*count];

		for (end = first; end < loader->entry_count &&
				  !strcmp(loader->entries[end].symbol->name, symbol->name);)
			end++;
		if (symbol->idle || (reached && !symbol->named))
			continue;
		*line = (struct profile_line){.name = symbol->name, .kernel = symbol->kernel};
		compare(loader, first, end, &measure, &line->share);
		*count += line->share.a > 0 || line->share.b > 0;
	}
	if (*count)
		qsort(lines, *count, sizeof(*lines), by_size);
	set_q(lines, *count);
	return lines;
}

static void sum_up(struct loader *loader)
{
	struct profile *profile = loader->profile;
	int64_t kernel = total(loader, is_any_kernel);

	profile->kernel =
		(struct profile_line){.name = "the kernel", .kernel = true, .q = (double)NAN};
	profile->idle = (struct profile_line){.name = "idle", .kernel = true, .q = (double)NAN};
	compare(loader, 0, loader->entry_count, &(struct measure){.counts = is_any_kernel},
		&profile->kernel.share);
	compare(loader, 0, loader->entry_count,
		&(struct measure){.counts = is_idle, .of_all = true}, &profile->idle.share);
	if (kernel > 0)
		profile->unnamed_pct = 100 * (double)total(loader, is_unnamed) / (double)kernel;
}

/* What the experiment is, if it is a profile: two variants, one machine, one condition. */
static int check_shape(struct arena *arena, struct profile *profile, struct err *err)
{
	const struct store_view *view = &profile->view;
	struct diag diag = DIAG_INIT;
	struct experiment experiment;
	int ret = 0;

	if (view->head.kind == KIND_IMPORT ||
		experiment_read_text(arena, "its configuration", view->head.spec,
			strlen(view->head.spec), &experiment, &diag) ||
		!experiment.profile_hz || view->variant_count != 2 || view->machine_count != 1 ||
		view->machines[0].condition_count != 1)
		ret = err_set(err, ERR_USAGE,
			"experiment %lld (%s) is no profile: `kbracket profile VARIANT CONDITION "
			"--in %lld` makes one of it",
			(long long)view->head.id, view->head.name, (long long)view->head.id);
	diag_release(&diag);
	if (ret)
		return ret;
	profile->hz = experiment.profile_hz;
	profile->machine = &view->machines[0];
	profile->condition = &view->machines[0].conditions[0];
	profile->variants[0] = &view->variants[0];
	profile->variants[1] = &view->variants[1];
	return 0;
}

int profile_load(struct store *store, int64_t experiment_id, struct arena *arena,
	struct profile *out, struct err *err)
{
	struct loader loader = {.store = store, .arena = arena, .profile = out};
	int ret;

	*out = (struct profile){.event = "", .why = ""};
	ret = store_load(store, experiment_id, arena, &out->view, err);
	if (!ret)
		ret = check_shape(arena, out, err);
	if (!ret)
		ret = load_runs(&loader, err);
	if (!ret) {
		count_units(&loader);
		gather(&loader);
		sum_up(&loader);
		if (loader.entry_count)
			qsort(loader.entries, loader.entry_count, sizeof(*loader.entries), by_name);
		out->lines = make_lines(&loader, false, &out->count);
		out->reaching = make_lines(&loader, true, &out->reaching_count);
	}
	if (!ret && (!out->samples[0] || !out->samples[1]))
		ret = err_set(err, ERR_INVALID, "there are no samples of %s%s%s",
			out->variants[out->samples[0] ? 1 : 0]->name, *out->why ? ": " : "",
			out->why);
	free(loader.runs);
	free(loader.units);
	free(loader.entries);
	return ret;
}
