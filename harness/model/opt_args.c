/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/name.h"
#include "model/opt.h"

/* A command line -> a struct. */

/* A row and the struct that it belongs to: tables nest. */
struct target {
	const struct opt *row;
	void *base;
};

struct args {
	struct opt_ctx ctx;
	const struct opt *rows;
	void *base;
	const char *const *next;
	size_t positional; /* given so far */
	struct err *err;
};

typedef bool match_fn(const struct opt *row, const void *arg);

/* The first row that matches, looking into nested tables. */
static bool find(
	const struct opt *rows, void *base, match_fn *match, const void *arg, struct target *out)
{
	for (; rows->name; rows++) {
		if (rows->type == OPT_MAP) {
			if (find(rows->rows, (char *)base + rows->offset, match, arg, out))
				return true;
		} else if (match(rows, arg)) {
			*out = (struct target){rows, base};
			return true;
		}
	}
	return false;
}

static bool by_name(const struct opt *row, const void *name)
{
	return !row->positional && strcmp(row->name, name) == 0;
}

static bool by_flag(const struct opt *row, const void *flag)
{
	return !row->positional && row->flag && row->flag == *(const char *)flag;
}

static bool is_list(const struct opt *row)
{
	return row->type == OPT_LIST || row->type == OPT_PATHS;
}

/* Counts positional rows down; a list is never passed. */
static bool by_position(const struct opt *row, const void *left)
{
	size_t *n = *(size_t *const *)left;

	if (!row->positional)
		return false;
	return is_list(row) || (*n)-- == 0;
}

static bool offer_name(const struct opt *row, const void *nearest)
{
	if (!row->positional)
		nearest_try(*(struct nearest *const *)nearest, row->name);
	return false;
}

static int unknown_option(const struct args *args, const char *name)
{
	struct nearest nearest;
	const struct nearest *at = &nearest;
	struct target ignored;

	nearest_init(&nearest, name);
	(void)find(args->rows, args->base, offer_name, &at, &ignored); /* looks at every row */
	if (nearest.found)
		return err_set(args->err, ERR_USAGE, "unknown option --%.60s; did you mean --%s?",
			name, nearest.found);
	return err_set(
		args->err, ERR_USAGE, "unknown option --%.60s; --help lists what there is", name);
}

static int set(const struct args *args, const struct target *to, const char *text)
{
	if (opt_set(&args->ctx, to->row, text, to->base, args->err) == 0)
		return 0;
	return to->row->positional ? err_wrap(args->err, "%s", to->row->name)
				   : err_wrap(args->err, "--%s", to->row->name);
}

static int take_value(struct args *args, const struct target *to, const char *attached)
{
	if (!attached)
		attached = *args->next ? *args->next++ : NULL;
	if (!attached)
		return err_set(args->err, ERR_USAGE, "--%s needs a value", to->row->name);
	return set(args, to, attached);
}

static int parse_long(struct args *args, const char *text)
{
	const char *equals = strchr(text, '=');
	char *name = equals ? xstrndup(text, (size_t)(equals - text)) : xstrdup(text);
	struct target to;
	int ret;

	if (!find(args->rows, args->base, by_name, name, &to))
		ret = unknown_option(args, name);
	else if (to.row->type != OPT_BOOL)
		ret = take_value(args, &to, equals ? equals + 1 : NULL);
	else if (equals)
		ret = err_set(args->err, ERR_USAGE, "--%s takes no value", name);
	else
		ret = set(args, &to, "true");
	free(name);
	return ret;
}

/* "-v", "-j4", "-j 4", or several flags without values: "-vn". */
static int parse_short(struct args *args, const char *text)
{
	for (; *text; text++) {
		struct target to;
		int ret;

		if (!find(args->rows, args->base, by_flag, text, &to))
			return err_set(args->err, ERR_USAGE,
				"unknown option -%c; --help lists what there is", *text);
		if (to.row->type != OPT_BOOL)
			return take_value(args, &to, text[1] ? text + 1 : NULL);
		ret = set(args, &to, "true");
		if (ret)
			return ret;
	}
	return 0;
}

static int parse_positional(struct args *args, const char *text)
{
	size_t left = args->positional++;
	const size_t *at = &left;
	struct target to;

	if (!find(args->rows, args->base, by_position, &at, &to))
		return err_set(args->err, ERR_USAGE, "'%.60s' is one argument too many", text);
	return set(args, &to, text);
}

static int parse_one(struct args *args, bool *ended)
{
	const char *text = *args->next++;

	if (*ended || text[0] != '-' || !text[1])
		return parse_positional(args, text);
	if (strcmp(text, "--") == 0) {
		*ended = true;
		return 0;
	}
	return text[1] == '-' ? parse_long(args, text + 2) : parse_short(args, text + 1);
}

static bool is_unset(const struct opt *row, const void *base)
{
	const void *field = (const char *)base + row->offset;

	if (is_list(row))
		return !**(const char *const *const *)field;
	return !*(const char *const *)field;
}

static int check_required(const struct opt *rows, const void *base, struct err *err)
{
	for (; rows->name; rows++) {
		int ret = 0;

		if (rows->type == OPT_MAP)
			ret = check_required(rows->rows, (const char *)base + rows->offset, err);
		else if (rows->required && is_unset(rows, base))
			ret = err_set(err, ERR_USAGE,
				rows->positional ? "%s is missing: %s" : "--%s is missing: %s",
				rows->name, rows->help);
		if (ret)
			return ret;
	}
	return 0;
}

static bool is_help(const struct opt *row, const void *name)
{
	return row->type == OPT_BOOL && by_name(row, name);
}

int opt_parse_args(struct arena *arena, const struct opt *rows, const char *const *argv, void *base,
	struct err *err)
{
	struct args args = {{arena, NULL, NULL}, rows, base, argv, 0, err};
	struct target help;
	bool ended = false;

	opt_defaults(rows, base, arena);
	while (*args.next) {
		int ret = parse_one(&args, &ended);

		if (ret)
			return ret;
	}
	if (find(rows, base, is_help, "help", &help) &&
		*(const bool *)((const char *)help.base + help.row->offset))
		return 0;
	return check_required(rows, base, err);
}
