/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_LAYOUT_H
#define KB_REPORT_LAYOUT_H

#include "base/base.h"

#include "base/str.h"

/*
 * Text of a fixed width: paragraphs and tables that wrap and never cut. What comes from outside is
 * made safe here, once: callers hand in raw names.
 */
struct layout {
	int columns; /* 80; at least 40 */
	bool utf8;   /* false: nothing above 0x7e is written, other characters as \xNN */
	bool colour; /* ANSI colours */
};

enum colour { COLOUR_NONE, COLOUR_BAD, COLOUR_GOOD, COLOUR_OPEN, COLOUR_INVALID, COLOUR_TITLE };

/* "±" or "+-"; "×" or "x". */
const char *layout_plus_minus(const struct layout *layout);
const char *layout_times(const struct layout *layout);

/* Appends text from outside, made safe for the layout. */
void layout_add_safe(const struct layout *layout, struct str *out, const char *text);
/* Appends text between the codes of a colour; plain when the layout has none. */
void layout_add_coloured(
	const struct layout *layout, struct str *out, enum colour colour, const char *text);

/* Bytes of the longest start of text that has at most that many columns. */
size_t layout_columns_bytes(const char *text, size_t columns);
/* Bytes of text that make one line of at most that many columns: up to a blank where there is one,
 * else cut inside the word. */
size_t layout_line_end(const char *text, size_t columns);

/* Appends a paragraph and a newline. It breaks at blanks, inside a word only when that alone is
 * wider than a line. The first line begins with `first` blanks, the others with `rest`. The text is
 * made safe. */
void layout_paragraph(
	const struct layout *layout, struct str *out, int first, int rest, const char *text);
/* `left` at the start and `right` at the end of one line; on two when both do not fit. Both are
 * made safe. */
void layout_ends(const struct layout *layout, struct str *out, const char *left, const char *right);

/*
 * A table: a label and one cell per column in each row. A cell holds pieces. When the columns do
 * not fit in the width, they are split into several tables below each other, each with all rows.
 * In a row whose cells all fit, pieces stand beside each other, else below each other. Columns can
 * be grouped under names; a group is not split where it fits in the width.
 */
struct table;

/* The layout must outlive the table. */
struct table *table_new(const struct layout *layout, size_t columns);
/* From this column on, up to the next call's, columns belong to a group with that name (made safe).
 * Called in the order of the columns, the first time for column 0. */
void table_group(struct table *table, size_t column, const char *name);
/* Starts a row; the label is made safe. */
void table_row(struct table *table, const char *label);
/* Adds a piece to a cell of the last row; made safe. Columns are made wide enough to keep a `whole`
 * piece on one line where the table's width allows it; other pieces wrap at blanks. */
KB_PRINTF(5, 6)
void table_piece(
	struct table *table, size_t column, enum colour colour, bool whole, const char *fmt, ...);
void table_write(const struct table *table, struct str *out);
void table_free(struct table *table); /* NULL is fine */

#endif
