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

int detect_make(struct cmd *cmd, const struct plan *plan, double change_pct, int64_t plan_ns,
	struct detect *out, struct err *err)
{
	double d = describe_ln_of_pct(change_pct);
	bool all_known = true; /* of those that have enough boots */
	int ret = 0;

	*out = (struct detect){.plan = plan, .change_pct = change_pct};
	if (cmd->store)
		ret = load_noises(cmd, out, err);
	if (ret)
		return ret;
	out->boots = arena_alloc(cmd->arena, (out->count + 1) * sizeof(*out->boots));
	for (size_t i = 0; i < out->count; i++) {
		out->boots[i] = noise_boots_to_detect(
			&out->noises[i], plan->experiment->design.runs, d, DETECT_POWER);
		all_known = all_known && (out->boots[i] > 0 || !(out->noises[i].history.nu0 > 0));
		if (out->boots[i] > out->most)
			out->most = out->boots[i];
	}
	if (!all_known)
		out->most = 0;
	out->plan_ns = (int64_t)((double)plan_ns * out->most / planned_boots(plan));
	return 0;
}

static void add_noise(const struct noise *noise, int boots, struct str *out)
{
	const struct history *history = &noise->history;

	str_addf(out, "  %s, %s: ", noise->condition, noise->metric);
	if (!(history->nu0 > 0)) {
		str_addf(out, "only %zu boots are known, too few\n", history->boots);
		return;
	}
	str_addf(out, "%.2f %% between boots, %.2f %% between runs (%zu boots): ",
		100 * sqrt(history->tau2), 100 * sqrt(history->sw2), history->boots);
	if (boots)
		str_addf(out, "%d boots of each kernel\n", boots);
	else
		str_addf(out, "more than %d boots of each kernel\n", POWER_MAX_BOOTS);
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

void detect_add_text(const struct detect *detect, struct str *out)
{
	const char *machine = detect->plan->machine->name;

	str_addf(out, "\nto detect %g %% on %s (power %g %% at 5 %%, %lld runs a boot)\n",
		detect->change_pct, machine, 100 * DETECT_POWER,
		(long long)detect->plan->experiment->design.runs);
	for (size_t i = 0; i < detect->count; i++)
		add_noise(&detect->noises[i], detect->boots[i], out);
	add_unknown(detect, out);
	if (!detect->most)
		return;
	str_addf(out, "  all that are known: %d boots of each kernel, about ", detect->most);
	num_add_duration(out, detect->plan_ns);
	str_add(out, " without builds\n");
}

json_t *detect_json(const struct detect *detect)
{
	json_t *out = json_object(), *cells = json_array();

	json_put_text(out, "machine", detect->plan->machine->name);
	json_put_num(out, "change_pct", detect->change_pct);
	json_put_num(out, "power", DETECT_POWER);
	for (size_t i = 0; i < detect->count; i++) {
		const struct noise *noise = &detect->noises[i];
		bool known = noise->history.nu0 > 0;
		json_t *item = json_object();

		json_put_text(item, "condition", noise->condition);
		json_put_text(item, "metric", noise->metric);
		json_put_int(item, "known_boots", (int64_t)noise->history.boots);
		json_put_num(item, "between_sd_ln", known ? sqrt(noise->history.tau2) : NAN);
		json_put_num(item, "within_sd_ln", known ? sqrt(noise->history.sw2) : NAN);
		json_put(item, "boots",
			detect->boots[i] ? json_integer(detect->boots[i]) : json_null());
		json_push(cells, item);
	}
	json_put(out, "cells", cells);
	json_put(out, "boots", detect->most ? json_integer(detect->most) : json_null());
	json_put(out, "time_ns", detect->most ? json_integer(detect->plan_ns) : json_null());
	return out;
}
