/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_FACTS_H
#define KB_AGENT_FACTS_H

#include "base/base.h"

#include <jansson.h>

/*
 * What a machine is, as one JSON object: everything that may make the same kernel run at another
 * speed. What cannot be found out is null. New reference.
 */
json_t *facts_read(const char *root);

/* The part about CPUs, caches and their topology, added to the object. */
void facts_add_cpus(json_t *facts, const char *root);

#endif
