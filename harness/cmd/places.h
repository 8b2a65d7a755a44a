/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_PLACES_H
#define KB_CMD_PLACES_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/machine.h"

/* Where things are for the person who typed the command. Text is the arena's. */

/* kbracket-agent beside this program. */
const char *places_agent(struct arena *arena);
/* Our own workloads beside this program. */
const char *places_native(struct arena *arena);
/* Builds and guests of the lab around the current folder, or kernels/cache below it. */
const char *places_cache(struct arena *arena);
/* results of that lab, or results below the current folder. */
const char *places_results(struct arena *arena);
/* A machine by its file, or by its name in configs/machines of the lab. */
KB_MUST_CHECK int places_machine(
	struct arena *arena, const char *name, struct machine_spec *out, struct err *err);

#endif
