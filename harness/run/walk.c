/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/log.h"
#include "run/fault.h"
#include "run/rig.h"
#include "run/walk.h"

bool walk_anything_left(const struct store_machine *machine)
{
	for (size_t i = 0; i < machine->boot_count; i++)
		if (machine->boots[i].state != STATE_DONE &&
			machine->boots[i].state != STATE_FAILED)
			return true;
	return false;
}

int walk_machine(struct engine *engine, size_t machine, bool *unusable, struct err *err)
{
	const struct engine_options *options = engine->options;
	bool grown = true;
	int ret = 0;

	engine->machine = machine;
	while (!ret && grown) {
		grown = false;
		ret = rig_walk(engine, machine, unusable, err);
		fault_point("machine-walked");
		if (!ret && options->grow)
			ret = options->grow(options->grow_arg, machine, &grown, err);
		if (!ret && grown)
			ret = engine_reload(engine, err);
	}
	return ret;
}

void walk_park(struct engine *engine, size_t machine, const char *why)
{
	const struct store_machine *rows = &engine->view.machines[machine];

	log_line(LOG_WARN, "machine %s is parked, its plan stays: %s", rows->name, why);
	engine_note(
		engine, rows->boot_count ? rows->boots[0].id : 0, STORE_EVENT_PARKED, "%s", why);
}
