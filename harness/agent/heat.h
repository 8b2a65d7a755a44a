/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_HEAT_H
#define KB_AGENT_HEAT_H

#include "base/base.h"

#include <jansson.h>

#include "agent/spec.h"

/*
 * Before a run: waits until the hottest sensor is within heat_within_mc of heat_mc, at most
 * heat_wait_ns; only while it is hotter, since waiting warms nothing. New reference, members
 *
 *	wanted_mc within_mc	of the spec
 *	mc			at the end, null without a sensor
 *	waited_ns
 *	reached			within bounds; true without a sensor
 */
json_t *heat_wait(const char *root, const struct run_spec *spec);

#endif
