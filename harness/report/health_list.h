/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_HEALTH_LIST_H
#define KB_REPORT_HEALTH_LIST_H

#include "base/base.h"

#include "base/mem.h"

/* What `kbracket doctor` found. How bad it is: */
enum health_level {
	HEALTH_OK,
	HEALTH_NOISE,	/* measurements will scatter more, or mean less */
	HEALTH_SPOILS,	/* they will not mean what they seem to */
	HEALTH_MISSING, /* something cannot be done */
};

struct health_finding {
	enum health_level level;
	const char *what; /* "kexec", "governor" */
	const char *text; /* what was seen, and what it does */
	const char *mend; /* a command, or a line of the machine's file; NULL: nothing is known */
};

struct health {
	struct arena *arena; /* text is copied there */
	struct health_finding *items;
	size_t count, capacity;
};

void health_add(struct health *findings, enum health_level level, const char *what,
	const char *text, const char *mend);
void health_release(struct health *findings);

#endif
