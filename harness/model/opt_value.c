/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "model/opt.h"
#include "model/pair.h"

/* One value: text <-> field. */

struct bounds {
	double min, max;
};

static const char *const no_items[] = {NULL};

/* The largest whole number that a double holds exactly; more than any count needs. */
static const double int_max = 9007199254740992.0;
static const double year_ns = 366 * 86400e9;

static struct bounds bounds_of(const struct opt *row, double highest)
{
	if (row->min == 0 && row->max == 0)
		return (struct bounds){0, highest};
	return (struct bounds){row->min, row->max};
}

static void add_in_unit(struct str *s, enum opt_type type, double value)
{
	if (type == OPT_BYTES)
		opt_add_bytes(s, (int64_t)value);
	else if (type == OPT_DURATION)
		opt_add_duration(s, (int64_t)value);
	else if (type == OPT_PCT || type == OPT_PCTS)
		opt_add_pct(s, value);
	else
		num_add_double(s, value);
}

static int check_bounds(
	const struct opt *row, const char *text, double value, double highest, struct err *err)
{
	struct bounds bounds = bounds_of(row, highest);
	struct str range = STR_INIT;

	if (value >= bounds.min && value <= bounds.max)
		return 0;
	add_in_unit(&range, row->type, bounds.min);
	str_add(&range, " to ");
	add_in_unit(&range, row->type, bounds.max);
	(void)err_set(err, ERR_USAGE, "%.60s is out of range: %s", text, str_text(&range));
	str_release(&range);
	return ERR_USAGE;
}

static int set_bool(const struct opt_ctx *ctx KB_UNUSED, const struct opt *row KB_UNUSED,
	const char *text, void *field, struct err *err)
{
	bool yes = strcmp(text, "true") == 0;

	if (!yes && strcmp(text, "false") != 0)
		return err_set(err, ERR_USAGE, "'%.60s' is neither true nor false", text);
	*(bool *)field = yes;
	return 0;
}

static int set_int(const struct opt_ctx *ctx KB_UNUSED, const struct opt *row, const char *text,
	void *field, struct err *err)
{
	int64_t value = INT64_MAX;
	bool digits = *text && strspn(text, "0123456789") == strlen(text);
	int ret = num_int(text, INT64_MIN, INT64_MAX, &value, err);

	if (ret == 0 || digits) /* more digits than fit are beyond any bound */
		ret = check_bounds(row, text, (double)value, int_max, err);
	if (ret == 0)
		*(int64_t *)field = value;
	return ret;
}

static int set_double(const struct opt_ctx *ctx KB_UNUSED, const struct opt *row, const char *text,
	void *field, struct err *err)
{
	double value;
	int ret = num_double(text, &value, err);

	if (ret == 0)
		ret = check_bounds(row, text, value, 1e300, err);
	if (ret == 0)
		*(double *)field = value;
	return ret;
}

static int set_bytes(const struct opt_ctx *ctx KB_UNUSED, const struct opt *row, const char *text,
	void *field, struct err *err)
{
	int64_t value;
	int ret = num_bytes(text, &value, err);

	if (ret == 0)
		ret = check_bounds(row, text, (double)value, int_max, err);
	if (ret == 0)
		*(int64_t *)field = value;
	return ret;
}

static int set_duration(const struct opt_ctx *ctx KB_UNUSED, const struct opt *row,
	const char *text, void *field, struct err *err)
{
	int64_t value;
	int ret = num_duration_ns(text, &value, err);

	if (ret == 0)
		ret = check_bounds(row, text, (double)value, year_ns, err);
	if (ret == 0)
		*(int64_t *)field = value;
	return ret;
}

static int read_pct(const struct opt *row, const char *text, double *out, struct err *err)
{
	double value;
	int ret = num_pct(text, 1e300, &value, err);

	if (ret == 0)
		ret = check_bounds(row, text, value, 100, err);
	if (ret == 0)
		*out = value;
	return ret;
}

static int set_pct(const struct opt_ctx *ctx KB_UNUSED, const struct opt *row, const char *text,
	void *field, struct err *err)
{
	if (row->automatic && strcmp(text, "auto") == 0) {
		*(double *)field = -1;
		return 0;
	}
	return read_pct(row, text, field, err);
}

/* Adds percentages separated by commas. */
static int add_pcts(const struct opt_ctx *ctx, const struct opt *row, const char *text, void *base,
	struct err *err)
{
	double **items = (double **)((char *)base + row->offset);
	size_t *count = (size_t *)((char *)base + row->count_offset);
	const char *end = strchr(text, ',');
	char *one = end ? arena_strndup(ctx->arena, text, (size_t)(end - text))
			: arena_strdup(ctx->arena, text);
	double *grown, value;
	int ret = read_pct(row, one, &value, err);

	if (ret)
		return ret;
	grown = arena_alloc(ctx->arena, (*count + 1) * sizeof(*grown));
	if (*count)
		memcpy(grown, *items, *count * sizeof(*grown));
	grown[(*count)++] = value;
	*items = grown;
	return end ? add_pcts(ctx, row, end + 1, base, err) : 0;
}

static int set_choice(const struct opt_ctx *ctx KB_UNUSED, const struct opt *row, const char *text,
	void *field, struct err *err)
{
	struct str known = STR_INIT;

	for (int i = 0; row->choices[i]; i++) {
		if (strcmp(row->choices[i], text) == 0) {
			*(int *)field = i;
			str_release(&known);
			return 0;
		}
		str_addf(&known, "%s%s", i ? ", " : "", row->choices[i]);
	}
	(void)err_set(err, ERR_USAGE, "'%.60s' is not one of: %s", text, str_text(&known));
	str_release(&known);
	return ERR_USAGE;
}

static int run_check(opt_check_fn *check, const char *text, struct err *err)
{
	struct err what = ERR_INIT;

	if (check && check(text, &what))
		return err_set(err, ERR_USAGE, "'%.60s' %s", text, what.text);
	return 0;
}

static const char *text_of(const struct opt_ctx *ctx, const struct opt *row, const char *text)
{
	bool path = row->type == OPT_PATH || row->type == OPT_PATHS;

	return path ? opt_path(ctx, text) : arena_strdup(ctx->arena, text);
}

static int set_text(const struct opt_ctx *ctx, const struct opt *row, const char *text, void *field,
	struct err *err)
{
	int ret = run_check(row->check, text, err);

	if (ret == 0)
		*(const char **)field = text_of(ctx, row, text);
	return ret;
}

static int add_item(const struct opt_ctx *ctx, const struct opt *row, const char *text, void *field,
	struct err *err)
{
	const char *const **list = field;
	size_t count = 0;
	const char **grown;
	int ret = run_check(row->check, text, err);

	if (ret)
		return ret;
	while (*list && (*list)[count])
		count++;
	grown = arena_alloc(ctx->arena, (count + 2) * sizeof(*grown));
	if (count)
		memcpy(grown, *list, count * sizeof(*grown));
	grown[count] = text_of(ctx, row, text);
	*list = grown;
	return 0;
}

typedef int set_fn(const struct opt_ctx *ctx, const struct opt *row, const char *text, void *field,
	struct err *err);

static set_fn *const setters[] = {[OPT_BOOL] = set_bool,
	[OPT_INT] = set_int,
	[OPT_DOUBLE] = set_double,
	[OPT_TEXT] = set_text,
	[OPT_PATH] = set_text,
	[OPT_BYTES] = set_bytes,
	[OPT_DURATION] = set_duration,
	[OPT_PCT] = set_pct,
	[OPT_CHOICE] = set_choice,
	[OPT_LIST] = add_item,
	[OPT_PATHS] = add_item,
	[OPT_CUSTOM] = NULL};

int opt_set(const struct opt_ctx *ctx, const struct opt *row, const char *text, void *base,
	struct err *err)
{
	if (row->type == OPT_PCTS)
		return add_pcts(ctx, row, text, base, err);
	if ((size_t)row->type >= ARRAY_SIZE(setters) || !setters[row->type])
		BUG("option %s cannot be set from text", row->name);
	return setters[row->type](ctx, row, text, (char *)base + row->offset, err);
}

void opt_defaults(const struct opt *rows, void *base, struct arena *arena)
{
	struct opt_ctx ctx = {arena, NULL, NULL};
	struct err err = ERR_INIT;

	for (const struct opt *row = rows; row->name; row++) {
		if (row->type == OPT_MAP)
			opt_defaults(row->rows, (char *)base + row->offset, arena);
		else if (row->def && opt_set(&ctx, row, row->def, base, &err))
			BUG("default of %s: %s", row->name, err.text);
		else if (!row->def && (row->type == OPT_LIST || row->type == OPT_PATHS))
			*(const char *const **)((char *)base + row->offset) = no_items;
	}
}

/* Drops leading "./" and, for each leading "../", the last part of dir. */
static char *join_short(const char *dir, const char *path)
{
	char *base = xstrdup(dir);
	char *joined;

	for (;;) {
		const char *last = path_name(base);

		if (str_starts(path, "./")) {
			path += 2;
		} else if (str_starts(path, "../") && strcmp(last, "..") != 0 &&
			   strcmp(last, ".") != 0 && *last) {
			char *up = path_dir(base);

			free(base);
			base = up;
			path += 3;
		} else {
			break;
		}
	}
	joined = path_join(base, path);
	free(base);
	return joined;
}

const char *opt_path(const struct opt_ctx *ctx, const char *text)
{
	char *joined = ctx->dir ? join_short(ctx->dir, text) : path_join(NULL, text);
	const char *kept = arena_strdup(ctx->arena, joined);

	free(joined);
	return kept;
}

const char *opt_dir_of(struct arena *arena, const char *file)
{
	char *dir = path_dir(file);
	char *real = realpath(dir, NULL);
	const char *kept = arena_strdup(arena, real ? real : dir);

	free(real);
	free(dir);
	return kept;
}

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;
	bool have_a = stat(a, &sa) == 0, have_b = stat(b, &sb) == 0;

	return have_a && have_b ? sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino
				: have_a == have_b;
}

const char *opt_file_beside(struct arena *arena, const char *file, const char *path)
{
	char *dir = path_dir(file);
	char *plain = path_join(dir, path), *brief = join_short(dir, path);
	const char *kept = arena_strdup(arena, same_file(plain, brief) ? brief : plain);

	free(brief);
	free(plain);
	free(dir);
	return kept;
}
