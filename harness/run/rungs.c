/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/log.h"
#include "model/store_rung.h"
#include "run/rig.h"
#include "run/rungs.h"

void rungs_keep(void *arg, const struct machine_rung *rung)
{
	const struct rig *rig = arg;
	const struct store_rung row = {
		.kind = rung->kind,
		.began_ns = rung->began_ns,
		.limit_ns = rung->limit_ns,
		.took_ns = rung->took_ns,
		.found = rung->found,
		.detail = rung->detail,
	};
	struct err err = ERR_INIT;

	if (store_rung_add(rig->engine->store, rig->engine->experiment_id, rig->rows->id,
		    rig->boot_id, &row, &err))
		log_line(LOG_WARN, "a step of bringing machine %s back was not noted: %s",
			rig->plan->machine->name, err.text);
}
