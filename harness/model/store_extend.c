/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "model/store_db.h"
#include "model/store_plan.h"
#include "sys/json.h"

/* Boots of a plan: those of a new experiment, and those that are appended to one. */

enum { LIST_MAX = 1 << 20 }; /* bytes of a list of positions */

static int add_runs(struct store *store, const struct plan_boot *boot, int64_t boot_id,
	const int64_t *condition_ids, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < boot->run_count && !ret; i++) {
		const struct plan_run *run = &boot->runs[i];

		ret = db_run(store->db, err,
			"INSERT INTO run (boot_id, position, condition_id, kind, ordinal, try,"
			" state) VALUES (?, ?, ?, ?, ?, 1, 'planned')",
			"iiiii", boot_id, (int64_t)i + 1, condition_ids[run->condition],
			(int64_t)run->kind, (int64_t)run->ordinal);
	}
	return ret;
}

int store_add_boots(struct store *store, const struct store_boots *whose, const struct plan *plan,
	size_t first, struct err *err)
{
	int ret = 0;

	for (size_t i = first; i < plan->boot_count && !ret; i++) {
		const struct plan_boot *boot = &plan->boots[i];

		ret = db_run(store->db, err,
			"INSERT INTO boot (experiment_id, machine_id, ordinal, block, variant_id,"
			" state) VALUES (?, ?, ?, ?, ?, 'planned')",
			"iiiii", whose->experiment_id, whose->machine_id, (int64_t)boot->ordinal,
			(int64_t)boot->block, whose->variant_ids[boot->variant]);
		if (!ret)
			ret = add_runs(
				store, boot, db_last_id(store->db), whose->condition_ids, err);
	}
	return ret;
}

/* Ids in the order of their positions, of which there must be count; freed by the caller. */
static int read_ids(struct db_rows *rows, int64_t **ids, size_t count, struct err *err)
{
	int64_t *items = xcalloc(count + 1, sizeof(*items));
	size_t n = 0;
	int ret;

	while ((ret = db_next(rows, err)) == 1 && n < count)
		items[n++] = db_int(rows, 0);
	if (ret == 1 || (ret == 0 && n < count))
		ret = err_set(err, ERR_USAGE,
			"the experiment has other variants or conditions than the plan");
	db_end(rows);
	if (ret)
		free(items);
	else
		*ids = items;
	return ret;
}

static int load_ids(struct store *store, const struct plan *plan, struct store_boots *whose,
	int64_t **variant_ids, int64_t **condition_ids, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT id FROM variant WHERE experiment_id = ? ORDER BY position", "i",
		whose->experiment_id);

	if (!ret)
		ret = read_ids(rows, variant_ids, plan->experiment->variant_count, err);
	if (!ret)
		ret = db_query(store->db, &rows, err,
			"SELECT id FROM condition WHERE experiment_id = ? AND machine_id = ?"
			" ORDER BY position",
			"ii", whose->experiment_id, whose->machine_id);
	if (!ret)
		ret = read_ids(rows, condition_ids, plan->condition_count, err);
	whose->variant_ids = *variant_ids;
	whose->condition_ids = *condition_ids;
	return ret;
}

static char *positions_json(const size_t *items, size_t count)
{
	json_t *list = json_array();
	struct str text = STR_INIT;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer((json_int_t)items[i]));
	json_write(list, false, &text);
	json_decref(list);
	return str_take(&text);
}

static int add_extension(struct store *store, const struct store_boots *whose,
	const struct plan_extension *extension, struct err *err)
{
	char *variants = positions_json(extension->variants, extension->boot_count);
	char *conditions = positions_json(extension->conditions, extension->condition_count);
	int ret = db_run(store->db, err,
		"INSERT INTO extension SELECT ?1, ?2, coalesce(max(number), 0) + 1, ?3, ?4, ?5, ?6,"
		" ?7, ?8, ?9, ?10 FROM extension WHERE experiment_id = ?1 AND machine_id = ?2",
		"iiiittiiti", whose->experiment_id, whose->machine_id, (int64_t)extension->block,
		(int64_t)extension->repeats, variants, conditions, extension->runs,
		extension->warmup, extension->reason, clock_wall_ns());

	free(variants);
	free(conditions);
	return ret;
}

/* Two that look at one experiment must not append the same boots both. */
static int check_length(
	struct store *store, const struct store_boots *whose, size_t wanted, struct err *err)
{
	int64_t boots;
	int ret = db_get_int(store->db, &boots, err,
		"SELECT count(*) FROM boot WHERE experiment_id = ? AND machine_id = ?", "ii",
		whose->experiment_id, whose->machine_id);

	if (!ret && boots != (int64_t)wanted)
		ret = err_set(err, ERR_USAGE,
			"the plan has %lld boots and not %zu: another kbracket has appended to it",
			(long long)boots, wanted);
	return ret;
}

static int extend(struct store *store, int64_t experiment_id, const char *machine,
	const struct plan *plan, const struct plan_extension *extension, struct err *err)
{
	struct store_boots whose = {.experiment_id = experiment_id};
	int64_t *variant_ids = NULL, *condition_ids = NULL;
	size_t before = plan->boot_count - extension->boot_count;
	int ret = db_get_int(store->db, &whose.machine_id, err,
		"SELECT id FROM machine WHERE name = ?", "t", machine);

	if (!ret)
		ret = check_length(store, &whose, before, err);
	if (!ret)
		ret = load_ids(store, plan, &whose, &variant_ids, &condition_ids, err);
	if (!ret)
		ret = add_extension(store, &whose, extension, err);
	if (!ret)
		ret = store_add_boots(store, &whose, plan, before, err);
	if (!ret)
		ret = store_experiment_move(store, experiment_id, STATE_STARTED, err);
	free(variant_ids);
	free(condition_ids);
	return ret;
}

int store_extend(struct store *store, int64_t experiment_id, const char *machine,
	const struct plan *plan, const struct plan_extension *extension, struct err *err)
{
	int ret = db_begin(store->db, err);

	if (ret)
		return ret;
	ret = extend(store, experiment_id, machine, plan, extension, err);
	return db_finish(store->db, ret, err);
}

/* A list of positions that add_extension wrote; anything else was changed by another program. */
static int read_positions(struct store *store, struct arena *arena, const char *text,
	const size_t **out, size_t *count, struct err *err)
{
	struct err why = ERR_INIT;
	size_t *items = NULL;
	json_t *list = NULL;
	bool good =
		json_parse(text, strlen(text), LIST_MAX, &list, &why) == 0 && json_is_array(list);

	*count = good ? json_array_size(list) : 0;
	items = arena_alloc(arena, (*count + 1) * sizeof(*items));
	for (size_t i = 0; good && i < *count; i++) {
		const json_t *item = json_array_get(list, i);

		good = json_is_integer(item) && json_integer_value(item) >= 0 &&
		       json_integer_value(item) < INT32_MAX;
		items[i] = good ? (size_t)json_integer_value(item) : 0;
	}
	json_decref(list);
	*out = items;
	if (good)
		return 0;
	return err_set(err, ERR_INFRA,
		"the database %s is damaged: what was appended to a plan cannot be read; was it "
		"changed by another program? Use a copy from before",
		db_path(store->db));
}

static int read_extension(struct store *store, struct arena *arena, struct db_rows *rows,
	struct plan_extension *out, struct err *err)
{
	int ret;

	*out = (struct plan_extension){
		.block = (int)db_int(rows, 0),
		.repeats = (int)db_int(rows, 1),
		.runs = db_int(rows, 4),
		.warmup = db_int(rows, 5),
		.reason = store_arena_text(arena, rows, 6),
	};
	ret = read_positions(store, arena, store_arena_text(arena, rows, 2), &out->variants,
		&out->boot_count, err);
	return ret ? ret
		   : read_positions(store, arena, store_arena_text(arena, rows, 3),
			     &out->conditions, &out->condition_count, err);
}

int store_load_extensions(struct store *store, int64_t experiment_id, const char *machine,
	struct arena *arena, struct plan_extension **out, size_t *count, struct err *err)
{
	struct plan_extension *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT block, repeats, variants, conditions, runs, warmup, reason FROM extension"
		" JOIN machine ON machine.id = machine_id"
		" WHERE experiment_id = ? AND machine.name = ? ORDER BY number",
		"it", experiment_id, machine);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		ret = read_extension(store, arena, rows, &items[n], err);
		if (ret)
			break;
		n++;
	}
	db_end(rows);
	if (!ret) {
		*out = arena_copy(arena, items, n, sizeof(*items));
		*count = n;
	}
	free(items);
	return ret;
}
