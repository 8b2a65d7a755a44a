/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_WALK_H
#define KB_RUN_WALK_H

#include "base/base.h"

#include "run/engine_state.h"

/* True when a boot of the machine is neither done nor failed. */
bool walk_anything_left(const struct store_machine *machine);

/* Walks what is left of a machine's plan (an index), and what its results ask for
 * (engine_options.grow), until nothing is left. Afterwards the engine is this machine's only.
 * *unusable: the error is about this machine, others may go on. */
KB_MUST_CHECK int walk_machine(
	struct engine *engine, size_t machine, bool *unusable, struct err *err);

/* Tells and notes that a machine can't be used: its boots stay planned. */
void walk_park(struct engine *engine, size_t machine, const char *why);

#endif
