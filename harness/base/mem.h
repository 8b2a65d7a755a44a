/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_MEM_H
#define KB_BASE_MEM_H

#include "base/base.h"

/* Allocation that ends the program when memory is out: no caller checks.
 * What is returned is freed with free(). */
void *xmalloc(size_t bytes);
void *xcalloc(size_t count, size_t bytes);
void *xrealloc(void *old, size_t count, size_t bytes);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t max);
KB_PRINTF(1, 2) char *xasprintf(const char *fmt, ...);

/* Grows a vector so that index count is writable: doubles *capacity. */
#define GROW(items, count, capacity)                                               \
	do {                                                                       \
		if ((count) >= (capacity)) {                                       \
			(capacity) = (capacity) ? 2 * (capacity) : 8;              \
			(items) = xrealloc((items), (capacity), sizeof(*(items))); \
		}                                                                  \
	} while (0)

/*
 * An arena owns many small things that die together: a parsed file, a plan.
 * Nothing taken from it is freed alone. A zeroed struct arena is ready to use.
 */
struct arena_chunk;
struct arena {
	struct arena_chunk *chunk;
};

#define ARENA_INIT   \
	{            \
		NULL \
	}

void *arena_alloc(struct arena *arena, size_t bytes); /* zeroed, aligned for any type */
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t max);
KB_PRINTF(2, 3) char *arena_printf(struct arena *arena, const char *fmt, ...);
/* A copy of count items of the given size in the arena; NULL when count is 0. */
void *arena_copy(struct arena *arena, const void *items, size_t count, size_t bytes);
void arena_release(struct arena *arena); /* frees all; the arena is empty and usable again */

#endif
