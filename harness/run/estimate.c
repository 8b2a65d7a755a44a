/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/estimate.h"

/* Guesses for what was never seen, in seconds. */
enum { GUESS_KBUILD = 900, GUESS_PREBUILT = 5, GUESS_OVERHEAD_MS = 500 };
static const int guess_boot[] = {
	[MACHINE_SSH] = 120,
	[MACHINE_QEMU] = 40,
	[MACHINE_LOCAL] = 1,
};

/* Durations of one kind of work. */
struct duration {
	double seen_s; /* sum of this session */
	int seen;
	double history_s;  /* mean; NaN: none */
	double declared_s; /* without overhead */
	int left;
};

struct estimate_machine {
	struct duration boot;
	struct duration *conditions;
	size_t condition_count;
};

struct estimate {
	const struct experiment *experiment;
	struct duration *builds; /* by variant; equal recipes count for the first of them */
	struct estimate_machine *machines;
	double kbuild_s; /* the newest of this session, or the mean of before; NaN */
};

/* Variants whose build is that of an earlier one cost nothing. */
static bool is_shared(const struct experiment *experiment, size_t variant)
{
	for (size_t i = 0; i < variant; i++)
		if (variant_same_recipe(experiment->variants[i], experiment->variants[variant]))
			return true;
	return false;
}

static bool needs_builds(const struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->machine_count; i++)
		if (experiment->machines[i].boot != BOOT_NONE)
			return true;
	return false;
}

static void plan_builds(struct estimate *estimate)
{
	const struct experiment *experiment = estimate->experiment;

	estimate->builds = xcalloc(experiment->variant_count + 1, sizeof(*estimate->builds));
	for (size_t i = 0; i < experiment->variant_count; i++)
		estimate->builds[i] = (struct duration){
			.history_s = (double)NAN,
			.declared_s = experiment->variants[i]->is_prebuilt ? GUESS_PREBUILT
									   : GUESS_KBUILD,
			.left = needs_builds(experiment) && !is_shared(experiment, i),
		};
}

static int plan_machine(struct store *store, const struct plan *plan,
	struct estimate_machine *machine, struct err *err)
{
	int ret = 0;

	machine->condition_count = plan->condition_count;
	machine->conditions = xcalloc(plan->condition_count + 1, sizeof(*machine->conditions));
	machine->boot = (struct duration){
		.history_s = (double)NAN,
		.declared_s = guess_boot[plan->machine->kind],
		.left = (int)plan->boot_count,
	};
	for (size_t i = 0; i < plan->condition_count && !ret; i++) {
		machine->conditions[i] = (struct duration){
			.history_s = (double)NAN,
			.declared_s =
				(double)plan->conditions[i].spec->expect_ns / (double)NS_PER_S,
		};
		if (store)
			ret = store_run_seconds(store, plan->machine->name,
				plan->conditions[i].name, &machine->conditions[i].history_s, err);
	}
	if (!ret && store)
		ret = store_boot_seconds(store, plan->machine->name, &machine->boot.history_s, err);
	for (size_t i = 0; i < plan->boot_count; i++)
		for (size_t k = 0; k < plan->boots[i].run_count; k++)
			machine->conditions[plan->boots[i].runs[k].condition].left++;
	return ret;
}

int estimate_new(struct store *store, const struct experiment *experiment, const struct plan *plans,
	struct estimate **out, struct err *err)
{
	struct estimate *estimate = xcalloc(1, sizeof(*estimate));
	int ret = 0;

	estimate->experiment = experiment;
	estimate->kbuild_s = (double)NAN;
	estimate->machines = xcalloc(experiment->machine_count + 1, sizeof(*estimate->machines));
	plan_builds(estimate);
	if (store)
		ret = store_build_seconds(store, &estimate->kbuild_s, err);
	for (size_t i = 0; i < experiment->machine_count && !ret; i++)
		ret = plan_machine(store, &plans[i], &estimate->machines[i], err);
	if (ret)
		estimate_free(estimate);
	else
		*out = estimate;
	return ret;
}

void estimate_free(struct estimate *estimate)
{
	if (!estimate)
		return;
	for (size_t i = 0; i < estimate->experiment->machine_count; i++)
		free(estimate->machines[i].conditions);
	free(estimate->machines);
	free(estimate->builds);
	free(estimate);
}

static void took(struct duration *duration, int64_t ns)
{
	if (duration->left > 0)
		duration->left--;
	if (ns < 0)
		return;
	duration->seen++;
	duration->seen_s += (double)ns / (double)NS_PER_S;
}

void estimate_built(struct estimate *estimate, size_t variant, int64_t ns)
{
	took(&estimate->builds[variant], ns);
	if (ns < 0 || estimate->experiment->variants[variant]->is_prebuilt)
		return;
	/* The first build is a whole one, later ones are mostly incremental: the newest counts. */
	estimate->kbuild_s = (double)ns / (double)NS_PER_S;
}

void estimate_booted(struct estimate *estimate, size_t machine, int64_t ns)
{
	took(&estimate->machines[machine].boot, ns);
}

void estimate_ran(struct estimate *estimate, size_t machine, size_t condition, int64_t ns)
{
	took(&estimate->machines[machine].conditions[condition], ns);
}

static double mean_s(const struct duration *duration, double overhead_s, bool *measured)
{
	*measured = duration->seen || !isnan(duration->history_s);
	if (duration->seen)
		return duration->seen_s / duration->seen;
	return *measured ? duration->history_s : duration->declared_s + overhead_s;
}

/* What a run takes beyond its declaration, from those that were seen. */
static double overhead_s(const struct estimate_machine *machine)
{
	double sum = 0;
	int count = 0;

	for (size_t i = 0; i < machine->condition_count; i++) {
		const struct duration *duration = &machine->conditions[i];
		bool measured;
		double mean = mean_s(duration, 0, &measured);

		if (!measured)
			continue;
		sum += mean - duration->declared_s;
		count++;
	}
	return count && sum > 0 ? sum / count : GUESS_OVERHEAD_MS / 1e3;
}

/* measured_s: seconds that rest on a guess [0] and on something seen [1]. */
static void add(int64_t *ns, int *count, const struct duration *duration, double overhead,
	double measured_s[2])
{
	bool measured;
	double total = mean_s(duration, overhead, &measured) * duration->left;

	*ns += (int64_t)(total * (double)NS_PER_S);
	*count += duration->left;
	measured_s[measured] += total;
}

static struct estimate_left left_on(
	const struct estimate *estimate, size_t index, double measured_s[2])
{
	const struct estimate_machine *machine = &estimate->machines[index];
	double overhead = overhead_s(machine);
	struct estimate_left left = {0};

	add(&left.boot_ns, &left.boots, &machine->boot, 0, measured_s);
	for (size_t k = 0; k < machine->condition_count; k++)
		add(&left.run_ns, &left.runs, &machine->conditions[k], overhead, measured_s);
	left.wall_ns = left.boot_ns + left.run_ns;
	return left;
}

struct estimate_left estimate_left_on(const struct estimate *estimate, size_t machine)
{
	double measured_s[2] = {0, 0};
	struct estimate_left left = left_on(estimate, machine, measured_s);

	left.measured = measured_s[1] >= measured_s[0];
	return left;
}

struct estimate_left estimate_left(const struct estimate *estimate)
{
	struct estimate_left left = {0};
	double measured_s[2] = {0, 0};
	int64_t longest_ns = 0;

	for (size_t i = 0; i < estimate->experiment->variant_count; i++) {
		struct duration build = estimate->builds[i];

		if (!estimate->experiment->variants[i]->is_prebuilt)
			build.history_s = estimate->kbuild_s;
		add(&left.build_ns, &left.builds, &build, 0, measured_s);
	}
	for (size_t i = 0; i < estimate->experiment->machine_count; i++) {
		struct estimate_left machine = left_on(estimate, i, measured_s);

		left.boot_ns += machine.boot_ns;
		left.run_ns += machine.run_ns;
		left.boots += machine.boots;
		left.runs += machine.runs;
		if (machine.wall_ns > longest_ns)
			longest_ns = machine.wall_ns;
	}
	left.wall_ns = left.build_ns + longest_ns;
	left.measured = measured_s[1] >= measured_s[0];
	return left;
}
