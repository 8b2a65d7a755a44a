/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "cmd/detect.h"
#include "stat/describe.h"
#include "stat/power.h"
#include "sys/json_put.h"

/* Boots of each kernel in the plan as it is. */
static double planned_boots(const struct plan *plan)
{
	return (double)plan->boot_count / (double)plan->experiment->variant_count;
}

static int load_noises(struct cmd *cmd, struct detect *detect, struct err *err)
{
	const struct plan *plan = detect->plan;
	const char **names = arena_alloc(cmd->arena, (plan->condition_count + 1) * sizeof(*names));
	size_t count = 0;

	for (size_t c = 0; c < plan->condition_count; c++)
		if (!plan->conditions[c].suite->control)
			names[count++] = plan->conditions[c].name;
	return noise_load(cmd->store, plan->machine->name, names, count, cmd->arena,
		&detect->noises, &detect->count, err);
}

/* Comparisons of one kernel with its baseline: the table that q is over. */
static int64_t count_comparisons(const struct plan *plan)
{
	int64_t count = 0;

	for (size_t c = 0; c < plan->condition_count; c++)
		if (!plan->conditions[c].suite->control)
			count += (int64_t)plan->conditions[c].suite->metric_count;
	return count;
}

static int check(const struct plan *plan, double change_pct, struct err *err)
{
	double margin = plan->experiment->gates.margin_pct;

	if (plan->experiment->design.order == ORDER_TOGGLE)
		return err_set(err, ERR_USAGE,
			"--detect counts boots, and with order: toggle the runs of one boot are "
			"compared");
	if (change_pct < margin)
		return err_set(err, ERR_USAGE,
			"--detect %g%%: a change within the margin of %g %% is called equivalent, "
			"however many boots show it; ask for one that is not, or set gates: "
			"{ margin: ... } lower",
			change_pct, margin);
	return 0;
}

/* The boots that every cell needs at a level; *most stays 0 when one needs more than are advised.
 */
static int *find_boots(const struct detect *detect, struct arena *arena, double level, int *most)
{
	int *boots = arena_alloc(arena, (detect->count + 1) * sizeof(*boots));
	double d = describe_ln_of_pct(detect->change_pct);
	bool all_known = true; /* of those that have enough boots */

	for (size_t i = 0; i < detect->count; i++) {
		boots[i] = noise_boots_to_detect(&detect->noises[i],
			detect->plan->experiment->design.runs, level, d, DETECT_POWER);
		all_known = all_known && (boots[i] > 0 || !(detect->noises[i].history.nu0 > 0));
		if (boots[i] > *most)
			*most = boots[i];
	}
	if (!all_known)
		*most = 0;
	return boots;
}

int detect_make(struct cmd *cmd, const struct plan *plan, double change_pct, int64_t plan_ns,
	struct detect *out, struct err *err)
{
	double level = plan->experiment->gates.alpha_pct / 100;
	double boot_ns = (double)plan_ns / planned_boots(plan);
	int ret = check(plan, change_pct, err);

	*out = (struct detect){
		.plan = plan, .change_pct = change_pct, .comparisons = count_comparisons(plan)};
	if (!ret && cmd->store)
		ret = load_noises(cmd, out, err);
	if (ret)
		return ret;
	out->boots = find_boots(out, cmd->arena, level, &out->most);
	out->boots_only = find_boots(out, cmd->arena,
		level / (double)(out->comparisons > 1 ? out->comparisons : 1), &out->most_only);
	out->plan_ns = (int64_t)(boot_ns * out->most);
	out->only_ns = (int64_t)(boot_ns * out->most_only);
	return 0;
}

static void add_boots(int boots, struct str *out)
{
	if (boots)
		str_addf(out, "%d boots", boots);
	else
		str_addf(out, "more than %d boots", POWER_MAX_BOOTS);
}

static void add_noise(const struct detect *detect, size_t i, struct str *out)
{
	const struct noise *noise = &detect->noises[i];
	const struct history *history = &noise->history;

	str_addf(out, "  %s, %s: ", noise->condition, noise->metric);
	if (!(history->nu0 > 0)) {
		str_addf(out, "only %zu boots are known, too few\n", history->boots);
		return;
	}
	str_addf(out, "%.2f %% between boots, %.2f %% between runs (%zu boots): ",
		100 * sqrt(history->tau2), 100 * sqrt(history->sw2), history->boots);
	add_boots(detect->boots[i], out);
	str_add(out, " of each kernel");
	if (detect->boots_only[i] != detect->boots[i]) {
		str_add(out, ", ");
		add_boots(detect->boots_only[i], out);
		str_add(out, " when nothing else moves");
	}
	str_add_char(out, '\n');
}

static bool is_known(const struct detect *detect, const char *condition)
{
	for (size_t i = 0; i < detect->count; i++)
		if (strcmp(detect->noises[i].condition, condition) == 0)
			return true;
	return false;
}

/* Conditions of which nothing can be said, and how that changes. */
static void add_unknown(const struct detect *detect, struct str *out)
{
	const struct plan *plan = detect->plan;
	bool missing = false;

	for (size_t i = 0; i < detect->count; i++)
		missing = missing || !(detect->noises[i].history.nu0 > 0);
	for (size_t c = 0; c < plan->condition_count; c++) {
		if (plan->conditions[c].suite->control ||
			is_known(detect, plan->conditions[c].name))
			continue;
		str_addf(out, "  %s: never measured on this machine\n", plan->conditions[c].name);
		missing = true;
	}
	if (missing)
		str_add(out, "  `kbracket calibrate` measures how much boots differ\n");
}

static void add_all(const char *what, int boots, int64_t ns, struct str *out)
{
	if (!boots)
		return;
	str_addf(out, "  %s: %d boots of each kernel, about ", what, boots);
	num_add_duration(out, ns);
	str_add(out, " without builds\n");
}

void detect_add_text(const struct detect *detect, struct str *out)
{
	const char *machine = detect->plan->machine->name;
	int64_t runs = detect->plan->experiment->design.runs;

	str_addf(out,
		"\nto detect %g %% on %s (power %g %%, FDR %g %% over %lld comparison%s, "
		"%lld run%s a boot)\n",
		detect->change_pct, machine, 100 * DETECT_POWER,
		detect->plan->experiment->gates.alpha_pct, (long long)detect->comparisons,
		detect->comparisons == 1 ? "" : "s", (long long)runs, runs == 1 ? "" : "s");
	for (size_t i = 0; i < detect->count; i++)
		add_noise(detect, i, out);
	add_unknown(detect, out);
	add_all("all that are known", detect->most, detect->plan_ns, out);
	if (detect->most_only != detect->most)
		add_all("any of them when nothing else moves", detect->most_only, detect->only_ns,
			out);
}

static void put_boots(json_t *out, const char *key, int boots)
{
	json_put(out, key, boots ? json_integer(boots) : json_null());
}

json_t *detect_json(const struct detect *detect)
{
	json_t *out = json_object(), *cells = json_array();

	json_put_text(out, "machine", detect->plan->machine->name);
	json_put_num(out, "change_pct", detect->change_pct);
	json_put_num(out, "power", DETECT_POWER);
	json_put_int(out, "comparisons", detect->comparisons);
	for (size_t i = 0; i < detect->count; i++) {
		const struct noise *noise = &detect->noises[i];
		bool known = noise->history.nu0 > 0;
		json_t *item = json_object();

		json_put_text(item, "condition", noise->condition);
		json_put_text(item, "metric", noise->metric);
		json_put_int(item, "known_boots", (int64_t)noise->history.boots);
		json_put_num(item, "between_sd_ln", known ? sqrt(noise->history.tau2) : NAN);
		json_put_num(item, "within_sd_ln", known ? sqrt(noise->history.sw2) : NAN);
		put_boots(item, "boots", detect->boots[i]);
		put_boots(item, "boots_only_change", detect->boots_only[i]);
		json_push(cells, item);
	}
	json_put(out, "cells", cells);
	put_boots(out, "boots", detect->most);
	json_put(out, "time_ns", detect->most ? json_integer(detect->plan_ns) : json_null());
	put_boots(out, "boots_only_change", detect->most_only);
	json_put(out, "time_ns_only_change",
		detect->most_only ? json_integer(detect->only_ns) : json_null());
	return out;
}
