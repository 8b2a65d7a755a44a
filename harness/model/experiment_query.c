/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/strv.h"
#include "model/experiment.h"

/* Questions that others ask of an experiment. */

int experiment_variant_index(const struct experiment *experiment, const char *name)
{
	for (size_t i = 0; i < experiment->variant_count; i++)
		if (strcmp(experiment->variants[i]->name, name) == 0)
			return (int)i;
	return -1;
}

size_t experiment_baseline_of(const struct experiment *experiment, size_t variant)
{
	const char *against = experiment->variants[variant]->against;
	int found = against ? experiment_variant_index(experiment, against) : 0;

	return found < 0 ? 0 : (size_t)found;
}

bool experiment_is_compared(const struct experiment *experiment, size_t variant)
{
	const struct variant *v = experiment->variants[variant];

	return variant > 0 &&
	       (v->layout_of ? v->against != NULL : variant < experiment->listed_count);
}

enum flag_policy experiment_policy(const struct experiment *experiment, const char *reason)
{
	const struct validity_reason *known = validity_find(reason);
	enum flag_policy policy = known ? known->policy : FLAG_KEEP;

	for (size_t i = 0; i < experiment->policies.count; i++)
		if (strcmp(experiment->policies.items[i].key, reason) == 0 &&
			!flag_policy_parse(experiment->policies.items[i].value, &policy))
			BUG("policy %s was not checked", experiment->policies.items[i].value);
	return policy;
}

bool experiment_decides(
	const struct experiment *experiment, const struct suite *suite, const char *condition_name)
{
	if (!experiment->decide[0])
		return !suite->control;
	for (const char *const *entry = experiment->decide; *entry; entry++) {
		size_t len = strlen(*entry);

		if (strcmp(*entry, suite->name) == 0)
			return true;
		/* SUITE/CONDITION, of which condition_name may add a saturation */
		if (strncmp(*entry, condition_name, len) == 0 &&
			(!condition_name[len] || condition_name[len] == ' '))
			return true;
	}
	return false;
}

int experiment_looks(const struct experiment *experiment)
{
	return (int)experiment->design.max_boots / 2;
}

static void add_boots(struct str *line, const struct design *design)
{
	switch (design->until) {
	case UNTIL_BOOTS:
		str_addf(line, ", %lld boots", (long long)design->boots);
		return;
	case UNTIL_VERDICT:
		str_add(line, ", until verdict");
		break;
	case UNTIL_WIDTH:
		str_addf(line, ", until ±%g %%", design->until_pct);
		break;
	}
	str_addf(line, ", at most %lld boots", (long long)design->max_boots);
}

int64_t experiment_counted_runs(const struct experiment *experiment)
{
	const struct counting *counting = &experiment->counting;

	return argv_count(counting->events) + argv_count(counting->functions) ? counting->runs : 0;
}

char *experiment_design_line(const struct experiment *experiment)
{
	static const char *const names[] = {[ORDER_BRACKETED] = "bracketed",
		[ORDER_SHUFFLED] = "shuffled",
		[ORDER_TOGGLE] = "toggle",
		[ORDER_ADAPTIVE] = "adaptive",
		[ORDER_EXPLICIT] = "order"};
	const struct design *design = &experiment->design;
	struct str line = STR_INIT;

	str_add(&line, names[design->order]);
	if (design->order == ORDER_EXPLICIT)
		for (const char *const *name = design->explicit_order; *name; name++)
			str_addf(&line, " %s", *name);
	else if (design->order != ORDER_ADAPTIVE)
		add_boots(&line, design);
	str_addf(&line, ", %lld run%s, %lld warm-up%s, seed %lld", (long long)design->runs,
		design->runs == 1 ? "" : "s", (long long)design->warmup,
		design->warmup == 1 ? "" : "s", (long long)design->seed);
	if (experiment_counted_runs(experiment))
		str_addf(&line, ", %lld counted", (long long)experiment_counted_runs(experiment));
	if (experiment->profile_hz)
		str_addf(&line, ", under perf at %lld Hz", (long long)experiment->profile_hz);
	return str_take(&line);
}
