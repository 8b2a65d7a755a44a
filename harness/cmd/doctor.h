/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_DOCTOR_H
#define KB_CMD_DOCTOR_H

#include "base/base.h"

#include "base/mem.h"
#include "sys/json.h"

/* How bad a finding is. */
enum finding_level {
	FINDING_OK,
	FINDING_NOISE,	 /* measurements will scatter more, or mean less */
	FINDING_MISSING, /* something cannot be done */
};

struct finding {
	enum finding_level level;
	const char *what; /* "kexec", "governor" */
	const char *text; /* what it is for, or what to do */
};

struct findings {
	struct arena *arena;
	struct finding *items;
	size_t count, capacity;
};

void findings_add(
	struct findings *findings, enum finding_level level, const char *what, const char *text);
void findings_release(struct findings *findings);

/* Programs and libraries of this host: what is missing and what it would be for. */
void doctor_programs(struct findings *findings);
/* What makes a machine noisy, by the facts that the agent tells of it. */
void doctor_facts(struct findings *findings, const json_t *facts);

#endif
