/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdarg.h>

#include "base/diag.h"
#include "base/mem.h"

enum { DIAG_SHOWN_MAX = 200 };

void diag_add(struct diag *diag, const char *file, int line, int column, const char *fmt, ...)
{
	struct diag_item *item;
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	GROW(diag->items, diag->count, diag->capacity);
	item = &diag->items[diag->count++];
	item->file = xstrdup(file);
	item->line = line;
	item->column = column;
	item->text = str_take(&text);
}

static int compare_items(const void *pa, const void *pb)
{
	const struct diag_item *a = pa, *b = pb;
	int order = strcmp(a->file, b->file);

	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	if (!order)
		order = (a->column > b->column) - (a->column < b->column);
	return order ? order : strcmp(a->text, b->text);
}

static void write_item(const struct diag_item *item, struct str *out)
{
	str_add_safe(out, item->file, strlen(item->file));
	if (item->line)
		str_addf(out, ":%d:%d", item->line, item->column);
	str_add(out, ": ");
	str_add_safe(out, item->text, strlen(item->text));
	str_add_char(out, '\n');
}

/* Sorts, and drops what was told twice. */
static void settle(struct diag *diag)
{
	size_t kept = 0;

	if (diag->count)
		qsort(diag->items, diag->count, sizeof(*diag->items), compare_items);
	for (size_t i = 0; i < diag->count; i++) {
		if (kept && compare_items(&diag->items[kept - 1], &diag->items[i]) == 0) {
			free(diag->items[i].file);
			free(diag->items[i].text);
		} else {
			diag->items[kept++] = diag->items[i];
		}
	}
	diag->count = kept;
}

void diag_write(struct diag *diag, struct str *out)
{
	settle(diag);
	for (size_t i = 0; i < diag->count && i < DIAG_SHOWN_MAX; i++)
		write_item(&diag->items[i], out);
	if (diag->count > DIAG_SHOWN_MAX)
		str_addf(out, "and %zu more\n", diag->count - DIAG_SHOWN_MAX);
}

void diag_release(struct diag *diag)
{
	if (!diag)
		return;
	for (size_t i = 0; i < diag->count; i++) {
		free(diag->items[i].file);
		free(diag->items[i].text);
	}
	free(diag->items);
	*diag = (struct diag)DIAG_INIT;
}
