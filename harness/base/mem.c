/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdarg.h>

#include "base/mem.h"

enum { ARENA_CHUNK_BYTES = 16384 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t used;
	size_t size;
	_Alignas(max_align_t) unsigned char data[];
};

static KB_NORETURN void out_of_memory(size_t bytes)
{
	fprintf(stderr, "kbracket: out of memory (%zu bytes wanted)\n", bytes);
	abort();
}

void *xmalloc(size_t bytes)
{
	void *p = malloc(bytes ? bytes : 1);

	if (!p)
		out_of_memory(bytes);
	return p;
}

void *xcalloc(size_t count, size_t bytes)
{
	void *p = calloc(count ? count : 1, bytes ? bytes : 1);

	if (!p)
		out_of_memory(count);
	return p;
}

void *xrealloc(void *old, size_t count, size_t bytes)
{
	size_t total;
	void *p;

	if (__builtin_mul_overflow(count, bytes, &total))
		out_of_memory(SIZE_MAX);
	p = realloc(old, total ? total : 1);
	if (!p)
		out_of_memory(total);
	return p;
}

char *xstrdup(const char *text)
{
	return xstrndup(text, strlen(text));
}

char *xstrndup(const char *text, size_t max)
{
	size_t len = strnlen(text, max);
	char *copy = xmalloc(len + 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		out_of_memory(0);
	va_end(ap);
	return text;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	struct arena_chunk *chunk = arena->chunk;
	const size_t align = _Alignof(max_align_t);
	void *p;

	bytes = (bytes + align - 1) / align * align;
	if (!chunk || chunk->size - chunk->used < bytes) {
		size_t size = bytes > ARENA_CHUNK_BYTES ? bytes : ARENA_CHUNK_BYTES;

		chunk = xcalloc(1, sizeof(*chunk) + size);
		chunk->size = size;
		chunk->next = arena->chunk;
		arena->chunk = chunk;
	}
	p = chunk->data + chunk->used;
	chunk->used += bytes;
	return p;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_strndup(struct arena *arena, const char *text, size_t max)
{
	size_t len = strnlen(text, max);
	char *copy = arena_alloc(arena, len + 1);

	memcpy(copy, text, len);
	return copy;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
	va_list ap;
	char *text, *copy;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		out_of_memory(0);
	va_end(ap);
	copy = arena_strdup(arena, text);
	free(text);
	return copy;
}

void *arena_copy(struct arena *arena, const void *items, size_t count, size_t bytes)
{
	void *copy;

	if (!count)
		return NULL;
	copy = arena_alloc(arena, count * bytes);
	memcpy(copy, items, count * bytes);
	return copy;
}

void arena_release(struct arena *arena)
{
	struct arena_chunk *chunk = arena->chunk;

	while (chunk) {
		struct arena_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	arena->chunk = NULL;
}
