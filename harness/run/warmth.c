/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/store_rows.h"
#include "run/warmth.h"

enum { ENVIRONMENT_MAX = 4 << 20 };

static bool is_asked(const struct rig *rig)
{
	return rig->plan->machine->temperature.within_c > 0;
}

const struct temperature_spec *warmth_wanted(const struct rig *rig)
{
	return is_asked(rig) && rig->first_mc >= 0 ? &rig->plan->machine->temperature : NULL;
}

void warmth_learn(struct rig *rig, const json_t *result)
{
	if (rig->first_mc < 0)
		rig->first_mc =
			json_get_int(json_object_get(result, "before"), "temperature_mc", -1);
}

/* Rows come in the order of the boots and their runs. */
static int take_row(void *arg, const struct store_run_row *row)
{
	struct rig *rig = arg;
	json_t *environment = NULL;

	if (rig->first_mc >= 0 || strcmp(row->machine, rig->plan->machine->name) != 0 ||
		json_parse(row->environment, strlen(row->environment), ENVIRONMENT_MAX,
			&environment, NULL))
		return 0;
	warmth_learn(rig, environment);
	json_decref(environment);
	return 0;
}

int warmth_recall(struct rig *rig, struct err *err)
{
	const struct store_run_filter filter = {.experiment_id = rig->engine->experiment_id};

	if (!is_asked(rig))
		return 0;
	return store_each_run(rig->engine->store, &filter, take_row, rig, err);
}
