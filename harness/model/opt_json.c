/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/num.h"
#include "sys/json_put.h"
#include "model/opt.h"
#include "model/pair.h"

/* A struct -> JSON -> YAML. */

struct unit {
	const char *name;
	int64_t size;
};

/* In the largest unit that gives a whole number, so that reading it gives the same value. */
static void add_exact(struct str *s, int64_t value, const struct unit *units)
{
	while (units->size > 1 && (value == 0 || value % units->size))
		units++;
	str_addf(s, "%lld%s", (long long)(value / units->size), units->name);
}

void opt_add_duration(struct str *s, int64_t ns)
{
	static const struct unit units[] = {{"d", 86400 * NS_PER_S}, {"h", 3600 * NS_PER_S},
		{"m", 60 * NS_PER_S}, {"s", NS_PER_S}, {"ms", NS_PER_MS}, {"us", 1000}, {"ns", 1}};

	if (ns == 0)
		str_add(s, "0s");
	else
		add_exact(s, ns, units);
}

void opt_add_bytes(struct str *s, int64_t bytes)
{
	static const struct unit units[] = {{"T", INT64_C(1) << 40}, {"G", INT64_C(1) << 30},
		{"M", INT64_C(1) << 20}, {"K", INT64_C(1) << 10}, {"", 1}};

	add_exact(s, bytes, units);
}

void opt_add_pct(struct str *s, double pct)
{
	num_add_double(s, pct);
	str_add_char(s, '%');
}

static json_t *take_text(struct str *s)
{
	json_t *text = json_text(str_text(s));

	str_release(s);
	return text;
}

static json_t *json_bool(const struct opt *row, const void *base)
{
	return json_boolean(*(const bool *)((const char *)base + row->offset));
}

static json_t *json_int(const struct opt *row, const void *base)
{
	return json_integer(*(const int64_t *)((const char *)base + row->offset));
}

static json_t *json_double(const struct opt *row, const void *base)
{
	return json_num(*(const double *)((const char *)base + row->offset));
}

static json_t *json_string_or_none(const struct opt *row, const void *base)
{
	const char *text = *(const char *const *)((const char *)base + row->offset);

	return text && *text ? json_text(text) : NULL;
}

static json_t *json_bytes(const struct opt *row, const void *base)
{
	struct str s = STR_INIT;

	opt_add_bytes(&s, *(const int64_t *)((const char *)base + row->offset));
	return take_text(&s);
}

static json_t *json_duration(const struct opt *row, const void *base)
{
	struct str s = STR_INIT;

	opt_add_duration(&s, *(const int64_t *)((const char *)base + row->offset));
	return take_text(&s);
}

static json_t *json_pct(const struct opt *row, const void *base)
{
	double pct = *(const double *)((const char *)base + row->offset);
	struct str s = STR_INIT;

	if (row->automatic && pct < 0)
		str_add(&s, "auto");
	else
		opt_add_pct(&s, pct);
	return take_text(&s);
}

static json_t *json_choice(const struct opt *row, const void *base)
{
	return json_text(row->choices[*(const int *)((const char *)base + row->offset)]);
}

static json_t *json_list(const struct opt *row, const void *base)
{
	const char *const *items = *(const char *const *const *)((const char *)base + row->offset);
	json_t *list;

	if (!items || !*items)
		return NULL;
	list = json_array();
	for (; *items; items++)
		json_push(list, json_text(*items));
	return list;
}

static json_t *json_pcts(const struct opt *row, const void *base)
{
	const double *items = *(double *const *)((const char *)base + row->offset);
	size_t count = *(const size_t *)((const char *)base + row->count_offset);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		struct str s = STR_INIT;

		opt_add_pct(&s, items[i]);
		json_push(list, take_text(&s));
	}
	return list;
}

static json_t *json_pairs(const struct opt *row, const void *base)
{
	const struct pairs *pairs = (const struct pairs *)((const char *)base + row->offset);
	json_t *map;

	if (!pairs->count)
		return NULL;
	map = json_object();
	for (size_t i = 0; i < pairs->count; i++)
		json_put(map, pairs->items[i].key, json_text(pairs->items[i].value));
	return map;
}

static json_t *json_map(const struct opt *row, const void *base)
{
	json_t *map = opt_json(row->rows, (const char *)base + row->offset);

	if (json_object_size(map))
		return map;
	json_decref(map);
	return NULL;
}

static json_t *json_custom(const struct opt *row, const void *base)
{
	return row->json ? row->json(row, base) : NULL;
}

/* True for a zero that an absent key would give too. */
static bool is_unset(const struct opt *row, const void *base)
{
	static const size_t sizes[] = {[OPT_BOOL] = sizeof(bool),
		[OPT_INT] = sizeof(int64_t),
		[OPT_DOUBLE] = sizeof(double),
		[OPT_BYTES] = sizeof(int64_t),
		[OPT_DURATION] = sizeof(int64_t),
		[OPT_PCT] = sizeof(double),
		[OPT_CHOICE] = sizeof(int),
		[OPT_CUSTOM] = 0};
	static const char zeros[sizeof(double)];

	return !row->required && !row->def && sizes[row->type] &&
	       memcmp((const char *)base + row->offset, zeros, sizes[row->type]) == 0;
}

json_t *opt_json_value(const struct opt *row, const void *base)
{
	static opt_json_fn *const writers[] = {[OPT_BOOL] = json_bool,
		[OPT_INT] = json_int,
		[OPT_DOUBLE] = json_double,
		[OPT_TEXT] = json_string_or_none,
		[OPT_PATH] = json_string_or_none,
		[OPT_BYTES] = json_bytes,
		[OPT_DURATION] = json_duration,
		[OPT_PCT] = json_pct,
		[OPT_CHOICE] = json_choice,
		[OPT_LIST] = json_list,
		[OPT_PATHS] = json_list,
		[OPT_PCTS] = json_pcts,
		[OPT_PAIRS] = json_pairs,
		[OPT_MAP] = json_map,
		[OPT_CUSTOM] = json_custom};

	return is_unset(row, base) ? NULL : writers[row->type](row, base);
}

json_t *opt_json(const struct opt *rows, const void *base)
{
	json_t *map = json_object();

	for (; rows->name; rows++) {
		json_t *value = opt_json_value(rows, base);

		if (value)
			json_put(map, rows->name, value);
	}
	return map;
}
