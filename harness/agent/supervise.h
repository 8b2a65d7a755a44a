/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_SUPERVISE_H
#define KB_AGENT_SUPERVISE_H

#include "base/base.h"

#include "agent/place.h"
#include "agent/spec.h"

/*
 * One run from beginning to end, in a process of its own that holds the run's lock. It starts the
 * program, sleeps in one wait until its end, and then writes result.json (result.h). root: where
 * /proc and /sys are read (tests), "" on a machine.
 */
void supervise_run(const struct place *place, const struct run_spec *spec, const char *root);

#endif
