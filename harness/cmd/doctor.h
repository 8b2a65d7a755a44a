/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_DOCTOR_H
#define KB_CMD_DOCTOR_H

#include "base/base.h"

#include "base/mem.h"
#include "sys/json.h"

/* How bad a finding is. */
enum doctor_level {
	DOCTOR_OK,
	DOCTOR_NOISE,	/* measurements will scatter more, or mean less */
	DOCTOR_MISSING, /* something cannot be done */
};

struct doctor_finding {
	enum doctor_level level;
	const char *what; /* "kexec", "governor" */
	const char *text; /* what it is for, or what to do */
};

struct doctor_findings {
	struct arena *arena;
	struct doctor_finding *items;
	size_t count, capacity;
};

void doctor_add(struct doctor_findings *findings, enum doctor_level level, const char *what,
	const char *text);
void doctor_release(struct doctor_findings *findings);

/* Programs and libraries of this host: what is missing and what it would be for. */
void doctor_programs(struct doctor_findings *findings);
/* What a guest needs of this host; qemu: the emulator that its file names. */
void doctor_guest(struct doctor_findings *findings, const char *qemu);
/* What makes a machine noisy, by the facts that the agent tells of it. */
void doctor_facts(struct doctor_findings *findings, const json_t *facts);

#endif
