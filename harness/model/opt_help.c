/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/utf8.h"
#include "model/opt.h"

/* A table -> --help. */

enum { HELP_WIDTH = 80, HELP_COLUMN_MAX = 28 };

static const char *arg_name(const struct opt *row)
{
	static const char *const names[] = {[OPT_INT] = "N",
		[OPT_DOUBLE] = "X",
		[OPT_TEXT] = "TEXT",
		[OPT_PATH] = "PATH",
		[OPT_BYTES] = "SIZE",
		[OPT_DURATION] = "TIME",
		[OPT_PCT] = "PCT",
		[OPT_CHOICE] = "WORD",
		[OPT_LIST] = "TEXT",
		[OPT_PATHS] = "PATH",
		[OPT_PCTS] = "PCT,..."};

	return row->arg ? row->arg : names[row->type];
}

/* "-j, --jobs N" or "EXPERIMENT". */
static void add_left(struct str *s, const struct opt *row)
{
	if (row->positional) {
		str_add(s, row->name);
		return;
	}
	if (row->flag)
		str_addf(s, "-%c, ", row->flag);
	else
		str_add(s, "    ");
	str_addf(s, "--%s", row->name);
	if (row->type != OPT_BOOL)
		str_addf(s, " %s", arg_name(row));
}

static void add_right(struct str *s, const struct opt *row)
{
	str_add(s, row->help);
	if (row->type == OPT_CHOICE && row->choices) {
		str_add(s, " (");
		for (size_t i = 0; row->choices[i]; i++)
			str_addf(s, "%s%s", i ? ", " : "", row->choices[i]);
		str_add(s, ")");
	}
	if (row->def && row->type != OPT_BOOL)
		str_addf(s, " (default %s)", row->def);
}

typedef void row_fn(const struct opt *row, void *arg);

static void each_row(const struct opt *rows, row_fn *call, void *arg)
{
	for (; rows->name; rows++) {
		if (rows->type == OPT_MAP)
			each_row(rows->rows, call, arg);
		else
			call(rows, arg);
	}
}

static void widen(const struct opt *row, void *arg)
{
	size_t *column = arg;
	struct str left = STR_INIT;
	size_t width;

	add_left(&left, row);
	width = utf8_columns(str_text(&left)) + 4;
	if (width > *column)
		*column = width < HELP_COLUMN_MAX ? width : HELP_COLUMN_MAX;
	str_release(&left);
}

/* Fills words into lines from a column on; the cursor stands at that column. */
static void add_wrapped(struct str *out, const char *text, size_t column)
{
	size_t at = column;

	while (*text) {
		size_t len = strcspn(text, " ");
		char *word = xstrndup(text, len);
		size_t width = utf8_columns(word);

		if (at > column && at + 1 + width > HELP_WIDTH) {
			str_addf(out, "\n%*s", (int)column, "");
			at = column;
		}
		str_addf(out, "%s%s", at > column ? " " : "", word);
		at += width + (at > column ? 1 : 0);
		text += len + strspn(text + len, " ");
		free(word);
	}
	str_add_char(out, '\n');
}

struct help {
	struct str *out;
	size_t column;
	bool positional; /* which rows are being written */
	const char *title;
};

static void write_row(const struct opt *row, void *arg)
{
	struct help *help = arg;
	struct str left = STR_INIT, right = STR_INIT;
	size_t width;

	if (row->positional != help->positional)
		return;
	if (help->title)
		str_addf(help->out, "\n%s:\n", help->title);
	help->title = NULL;
	add_left(&left, row);
	add_right(&right, row);
	width = utf8_columns(str_text(&left)) + 2;
	str_addf(help->out, "  %s", str_text(&left));
	if (width + 2 > help->column) {
		str_addf(help->out, "\n%*s", (int)help->column, "");
		width = help->column;
	}
	str_addf(help->out, "%*s", (int)(help->column - width), "");
	add_wrapped(help->out, str_text(&right), help->column);
	str_release(&left);
	str_release(&right);
}

static void add_usage(const struct opt *row, void *arg)
{
	struct str *usage = arg;
	bool list = row->type == OPT_LIST || row->type == OPT_PATHS;

	if (row->positional)
		str_addf(usage, " %s%s%s%s", row->required ? "" : "[", row->name, list ? "..." : "",
			row->required ? "" : "]");
}

static void note_option(const struct opt *row, void *any)
{
	if (!row->positional)
		*(bool *)any = true;
}

void opt_write_help(const char *command, const struct opt *rows, struct str *out)
{
	struct help help = {out, 0, true, "Arguments"};
	struct str usage = STR_INIT;
	bool any = false;

	each_row(rows, note_option, &any);
	str_addf(out, "Usage: %s ", command);
	if (any)
		str_add(&usage, "[options]");
	each_row(rows, add_usage, &usage);
	add_wrapped(out, str_text(&usage), strlen("Usage: ") + utf8_columns(command) + 1);
	str_release(&usage);
	each_row(rows, widen, &help.column);
	each_row(rows, write_row, &help);
	help.positional = false;
	help.title = "Options";
	each_row(rows, write_row, &help);
}
