/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdarg.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "report/layout.h"

enum { INDENT = 2, GAP = 2, LABEL_MIN = 14, LABEL_MAX = 26, CELL_MIN = 12, CELL_MAX = 32 };

struct piece {
	struct piece *next;
	const char *text; /* safe */
	enum colour colour;
	bool whole;
};

struct row {
	const char *label;    /* safe */
	struct piece **cells; /* a list of pieces per column */
};

struct table {
	const struct layout *layout;
	struct arena arena;
	size_t columns;
	const char **groups; /* by column, safe; NULL: that of the column before; NULL: no groups */
	struct row *rows;
	size_t count, capacity;
};

/* A part of the table that fits in the width. */
struct chunk {
	size_t from, to; /* columns */
	size_t label;	 /* width of the labels, with indent and gap */
	size_t cell;	 /* width of a cell, with gap */
};

/* Lines of one cell. */
struct line {
	const char *start;
	size_t bytes;
	enum colour colour;
};

struct lines {
	struct line *items;
	size_t count, capacity;
};

struct table *table_new(const struct layout *layout, size_t columns)
{
	struct table *table = xcalloc(1, sizeof(*table));

	table->layout = layout;
	table->columns = columns;
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	arena_release(&table->arena);
	free(table->rows);
	free(table);
}

static const char *safe_copy(struct table *table, const char *text)
{
	struct str safe = STR_INIT;
	const char *copy;

	layout_add_safe(table->layout, &safe, text);
	copy = arena_strdup(&table->arena, str_text(&safe));
	str_release(&safe);
	return copy;
}

void table_group(struct table *table, size_t column, const char *name)
{
	if (!table->groups)
		table->groups =
			arena_alloc(&table->arena, (table->columns + 1) * sizeof(*table->groups));
	table->groups[column] = safe_copy(table, name);
}

void table_row(struct table *table, const char *label)
{
	struct row *row;

	GROW(table->rows, table->count, table->capacity);
	row = &table->rows[table->count++];
	row->label = safe_copy(table, label);
	row->cells = arena_alloc(&table->arena, (table->columns + 1) * sizeof(*row->cells));
}

void table_piece(
	struct table *table, size_t column, enum colour colour, bool whole, const char *fmt, ...)
{
	struct piece *piece = arena_alloc(&table->arena, sizeof(*piece)), **end;
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	piece->text = safe_copy(table, str_text(&text));
	piece->colour = colour;
	piece->whole = whole;
	for (end = &table->rows[table->count - 1].cells[column]; *end;)
		end = &(*end)->next;
	*end = piece;
	str_release(&text);
}

static size_t clamp(size_t value, size_t low, size_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Columns of the longest word, or of all of it when it must stay whole. */
static size_t piece_need(const struct piece *piece)
{
	size_t need = 0, len = strlen(piece->text);

	if (piece->whole)
		return utf8_columns(piece->text);
	for (size_t at = 0; at < len;) {
		size_t word = strcspn(piece->text + at, " ");
		char *copy = xstrndup(piece->text + at, word);
		size_t columns = utf8_columns(copy);

		need = columns > need ? columns : need;
		at += word + 1;
		free(copy);
	}
	return need;
}

static size_t table_need(const struct table *table)
{
	size_t need = CELL_MIN;

	for (size_t r = 0; r < table->count; r++)
		for (size_t c = 0; c < table->columns; c++)
			for (const struct piece *p = table->rows[r].cells[c]; p; p = p->next)
				need = piece_need(p) > need ? piece_need(p) : need;
	return need + GAP;
}

static size_t label_width(const struct table *table)
{
	size_t width = LABEL_MIN;

	for (size_t r = 0; r < table->count; r++) {
		size_t columns = utf8_columns(table->rows[r].label);

		width = columns > width ? columns : width;
	}
	return clamp(width, LABEL_MIN, LABEL_MAX) + INDENT + GAP;
}

/* How many columns go beside each other, at most; without groups evenly spread over the tables. */
static size_t columns_per_chunk(const struct table *table, size_t room)
{
	size_t fit = clamp(room / table_need(table), 1, table->columns);
	size_t chunks = (table->columns + fit - 1) / fit;

	return table->groups ? fit : (table->columns + chunks - 1) / chunks;
}

/* The column after a table that begins with from: whole groups, or else a part of one. */
static size_t chunk_end(const struct table *table, size_t from, size_t each)
{
	size_t end = from + each, whole = end;

	if (end >= table->columns)
		return table->columns;
	if (!table->groups)
		return end;
	while (whole > from && !table->groups[whole])
		whole--;
	return whole > from ? whole : end;
}

static void add_line(struct lines *lines, const char *start, size_t bytes, enum colour colour)
{
	GROW(lines->items, lines->count, lines->capacity);
	lines->items[lines->count++] = (struct line){start, bytes, colour};
}

/* Cuts a text into lines of at most width columns. */
static void wrap(struct lines *lines, const char *text, size_t width, enum colour colour)
{
	do {
		size_t used = layout_line_end(text, width);

		add_line(lines, text, used, colour);
		text += used;
		text += strspn(text, " ");
	} while (*text);
}

static size_t cell_columns(const struct piece *cell)
{
	size_t columns = 0;

	for (const struct piece *p = cell; p; p = p->next)
		columns += utf8_columns(p->text) + (p == cell ? 0 : GAP);
	return columns;
}

/* True when the pieces of every cell fit beside each other. */
static bool row_is_flat(const struct row *row, const struct chunk *chunk)
{
	for (size_t c = chunk->from; c < chunk->to; c++)
		if (cell_columns(row->cells[c]) > chunk->cell - GAP)
			return false;
	return true;
}

static void pad_to(struct str *out, size_t have, size_t want)
{
	while (have++ < want)
		str_add_char(out, ' ');
}

static size_t put(const struct table *table, struct str *out, const struct line *line)
{
	char *text = xstrndup(line->start, line->bytes);
	size_t columns = utf8_columns(text);

	layout_add_coloured(table->layout, out, line->colour, text);
	free(text);
	return columns;
}

/* All pieces on one line; returns its columns. */
static size_t put_flat(const struct table *table, struct str *out, const struct piece *cell)
{
	size_t columns = 0;

	for (const struct piece *p = cell; p; p = p->next) {
		struct line line = {p->text, strlen(p->text), p->colour};

		if (p != cell) {
			str_add(out, "  ");
			columns += GAP;
		}
		columns += put(table, out, &line);
	}
	return columns;
}

static void trim_and_end(struct str *out)
{
	while (out->len && out->text[out->len - 1] == ' ')
		out->text[--out->len] = '\0';
	str_add_char(out, '\n');
}

static void write_row(const struct table *table, const struct row *row, const struct chunk *chunk,
	struct str *out)
{
	size_t count = chunk->to - chunk->from, height;
	bool flat = row_is_flat(row, chunk);
	struct lines label = {NULL, 0, 0}, *cells = xcalloc(count, sizeof(*cells));

	wrap(&label, row->label, chunk->label - INDENT - GAP, COLOUR_NONE);
	height = label.count;
	for (size_t c = 0; c < count && !flat; c++) {
		for (const struct piece *p = row->cells[chunk->from + c]; p; p = p->next)
			wrap(&cells[c], p->text, chunk->cell - GAP, p->colour);
		height = cells[c].count > height ? cells[c].count : height;
	}
	for (size_t h = 0; h < height; h++) {
		size_t columns = INDENT;

		pad_to(out, 0, INDENT);
		if (h < label.count)
			columns += put(table, out, &label.items[h]);
		pad_to(out, columns, chunk->label);
		for (size_t c = 0; c < count; c++) {
			columns = 0;
			if (flat && h == 0)
				columns = put_flat(table, out, row->cells[chunk->from + c]);
			else if (h < cells[c].count)
				columns = put(table, out, &cells[c].items[h]);
			pad_to(out, columns, chunk->cell);
		}
		trim_and_end(out);
	}
	for (size_t c = 0; c < count; c++)
		free(cells[c].items);
	free(cells);
	free(label.items);
}

/* Where the group that holds a column ends, in this chunk. */
static size_t group_end(const struct table *table, size_t column, size_t end)
{
	do
		column++;
	while (column < end && !table->groups[column]);
	return column;
}

static const char *group_name(const struct table *table, size_t column)
{
	while (column > 0 && !table->groups[column])
		column--;
	return table->groups[column];
}

/* The names of the groups, each over its columns. */
static void write_groups(const struct table *table, const struct chunk *chunk, struct str *out)
{
	struct lines *names = xcalloc(chunk->to - chunk->from + 1, sizeof(*names));
	size_t height = 0, width;

	for (size_t c = chunk->from, end; c < chunk->to; c = end) {
		struct lines *name = &names[c - chunk->from];

		end = group_end(table, c, chunk->to);
		wrap(name, group_name(table, c), (end - c) * chunk->cell - GAP, COLOUR_TITLE);
		height = name->count > height ? name->count : height;
	}
	for (size_t h = 0; h < height; h++) {
		pad_to(out, 0, chunk->label);
		for (size_t c = chunk->from, end; c < chunk->to; c = end) {
			const struct lines *name = &names[c - chunk->from];

			end = group_end(table, c, chunk->to);
			width = h < name->count ? put(table, out, &name->items[h]) : 0;
			pad_to(out, width, (end - c) * chunk->cell);
		}
		trim_and_end(out);
	}
	for (size_t i = 0; i < chunk->to - chunk->from; i++)
		free(names[i].items);
	free(names);
}

void table_write(const struct table *table, struct str *out)
{
	struct chunk chunk = {.label = label_width(table)};
	size_t room = (size_t)table->layout->columns - chunk.label + GAP, each;

	if (!table->columns)
		return;
	each = columns_per_chunk(table, room);
	chunk.cell = clamp(room / each, CELL_MIN, CELL_MAX);
	for (size_t from = 0; from < table->columns; from = chunk.to) {
		chunk.from = from;
		chunk.to = chunk_end(table, from, each);
		if (from)
			str_add_char(out, '\n');
		if (table->groups)
			write_groups(table, &chunk, out);
		for (size_t r = 0; r < table->count; r++)
			write_row(table, &table->rows[r], &chunk, out);
	}
}
