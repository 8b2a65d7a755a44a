/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "report/health_list.h"

void health_add(struct health *findings, enum health_level level, const char *what,
	const char *text, const char *mend)
{
	struct arena *arena = findings->arena;

	GROW(findings->items, findings->count, findings->capacity);
	findings->items[findings->count++] =
		(struct health_finding){level, arena_strdup(arena, what), arena_strdup(arena, text),
			mend ? arena_strdup(arena, mend) : NULL};
}

void health_release(struct health *findings)
{
	free(findings->items);
	findings->items = NULL;
	findings->count = findings->capacity = 0;
}
