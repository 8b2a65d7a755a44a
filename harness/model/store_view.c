/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/store_db.h"
#include "model/store_view.h"

/* A growing list of structs that ends in the arena. */
struct list {
	char *items;
	size_t count, capacity, size;
};

static void *list_add(struct list *list)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 16;
		list->items = xrealloc(list->items, list->capacity, list->size);
	}
	return list->items + list->size * list->count++;
}

static void *list_keep(struct list *list, struct arena *arena, size_t *count)
{
	void *kept = arena_copy(arena, list->items, list->count, list->size);

	*count = list->count;
	free(list->items);
	*list = (struct list){.size = list->size};
	return kept;
}

static const struct store_build *read_build(struct arena *arena, struct db_rows *rows, int at)
{
	struct store_build *build;

	if (db_is_null(rows, at))
		return NULL;
	build = arena_alloc(arena, sizeof(*build));
	*build = (struct store_build){
		.id = db_int(rows, at),
		.key = store_arena_text(arena, rows, at + 1),
		.commit = store_arena_text(arena, rows, at + 2),
		.tree = store_arena_text(arena, rows, at + 3),
		.release = store_arena_text(arena, rows, at + 4),
		.proc_version = store_arena_text(arena, rows, at + 5),
		.build_id = store_arena_text(arena, rows, at + 6),
		.config_sha256 = store_arena_text(arena, rows, at + 7),
		.compiler = store_arena_text(arena, rows, at + 8),
		.seconds = db_int(rows, at + 9),
		.version = store_arena_text(arena, rows, at + 10),
	};
	return build;
}

/* against and layout_of are filled in afterwards, by position. */
static void read_variant(struct arena *arena, struct db_rows *rows, struct store_variant *out)
{
	*out = (struct store_variant){
		.id = db_int(rows, 0),
		.position = (int)db_int(rows, 1),
		.name = store_arena_text(arena, rows, 2),
		.about = store_arena_text(arena, rows, 3),
		.recipe = store_arena_text(arena, rows, 4),
		.ref_commit = store_arena_text(arena, rows, 5),
		.ref_subject = store_arena_text(arena, rows, 6),
		.state = store_state_parse(db_text(rows, 8)),
		.reason = store_arena_text(arena, rows, 9),
		.runtime_sha256 = store_arena_text(arena, rows, 10),
		.build = read_build(arena, rows, 13),
		.control = db_int(rows, 11),
	};
}

static const struct store_variant *variant_by_id(const struct store_view *view, int64_t id)
{
	for (size_t i = 0; i < view->variant_count; i++)
		if (view->variants[i].id == id)
			return &view->variants[i];
	return NULL;
}

static int load_variants(
	struct store *store, struct arena *arena, struct store_view *view, struct err *err)
{
	struct list list = {.size = sizeof(struct store_variant)};
	struct list against = {.size = sizeof(int64_t)};
	struct list layouts = {.size = sizeof(int64_t)};
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT variant.id, position, name, about, recipe, ref_commit, ref_subject,"
		" against_id, state, reason, runtime_sha256, control, layout_of_id, build.id, key, "
		"commit_hex, "
		"tree_hex,"
		" release, proc_version, build.build_id, config_sha256, compiler, seconds, version"
		" FROM variant LEFT JOIN build ON build.id = variant.build_id"
		" WHERE experiment_id = ? ORDER BY position",
		"i", view->head.id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		read_variant(arena, rows, list_add(&list));
		*(int64_t *)list_add(&against) = store_int_or(rows, 7, 0);
		*(int64_t *)list_add(&layouts) = store_int_or(rows, 12, 0);
	}
	db_end(rows);
	view->variants = list_keep(&list, arena, &view->variant_count);
	for (size_t i = 0; i < view->variant_count; i++) {
		view->variants[i].against =
			variant_by_id(view, ((int64_t *)(void *)against.items)[i]);
		view->variants[i].layout_of =
			variant_by_id(view, ((int64_t *)(void *)layouts.items)[i]);
	}
	free(against.items);
	free(layouts.items);
	return ret;
}

static int load_metrics(struct store *store, struct arena *arena, struct store_condition *condition,
	struct err *err)
{
	struct list list = {.size = sizeof(struct store_metric)};
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT id, position, name, unit, better = 'lower', percentile, pooled FROM metric"
		" WHERE condition_id = ? ORDER BY position",
		"i", condition->id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1)
		*(struct store_metric *)list_add(&list) = (struct store_metric){
			.id = db_int(rows, 0),
			.position = (int)db_int(rows, 1),
			.name = store_arena_text(arena, rows, 2),
			.unit = store_arena_text(arena, rows, 3),
			.lower_is_better = db_int(rows, 4),
			.percentile = db_double(rows, 5),
			.pooled = db_int(rows, 6),
		};
	db_end(rows);
	condition->metrics = list_keep(&list, arena, &condition->metric_count);
	return ret;
}

static void read_condition(struct arena *arena, struct db_rows *rows, struct store_condition *out)
{
	*out = (struct store_condition){
		.id = db_int(rows, 0),
		.position = (int)db_int(rows, 1),
		.suite = store_arena_text(arena, rows, 2),
		.suite_sha256 = store_arena_text(arena, rows, 3),
		.name = store_arena_text(arena, rows, 4),
		.saturation_pct = db_double(rows, 5),
		.effective_pct = db_double(rows, 6),
		.workers = db_int(rows, 7),
		.tasks = db_int(rows, 8),
		.cpus = db_int(rows, 9),
		.argv = store_arena_text(arena, rows, 10),
		.env = store_arena_text(arena, rows, 11),
		.merged = store_arena_text(arena, rows, 12),
		.control = db_int(rows, 13),
		.decides = db_int(rows, 14),
		.skipped = "",
		.program = "",
		.program_sha256 = "",
		.program_version = "",
		.program_built = "",
		.server = "",
		.server_sha256 = "",
		.server_version = "",
		.server_built = "",
	};
}

static int load_conditions(struct store *store, struct arena *arena, int64_t experiment_id,
	struct store_machine *machine, struct err *err)
{
	struct list list = {.size = sizeof(struct store_condition)};
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT condition.id, position, suite.name, suite.sha256, condition.name,"
		" saturation_pct, effective_pct, workers, tasks, cpus, argv, env, merged, control,"
		" decides FROM condition JOIN suite ON suite.id = suite_id"
		" WHERE experiment_id = ? AND machine_id = ? ORDER BY position",
		"ii", experiment_id, machine->id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1)
		read_condition(arena, rows, list_add(&list));
	db_end(rows);
	machine->conditions = list_keep(&list, arena, &machine->condition_count);
	for (size_t i = 0; i < machine->condition_count && !ret; i++)
		ret = load_metrics(store, arena, &machine->conditions[i], err);
	return ret;
}

static struct store_condition *condition_by_id(struct store_machine *machine, int64_t id)
{
	for (size_t i = 0; i < machine->condition_count; i++)
		if (machine->conditions[i].id == id)
			return &machine->conditions[i];
	return NULL;
}

/* The program that each condition's newest run was measured with. */
static int load_programs(struct store *store, struct arena *arena, int64_t experiment_id,
	struct store_machine *machine, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT condition_id, program.name, program.sha256, program.version, server.name,"
		" server.sha256, server.version, program.built, server.built, max(run.id)"
		" FROM boot JOIN run ON run.boot_id = boot.id"
		" JOIN program ON program.id = run.program_id"
		" LEFT JOIN program server ON server.id = run.server_id"
		" WHERE boot.experiment_id = ? AND boot.machine_id = ? GROUP BY condition_id",
		"ii", experiment_id, machine->id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		struct store_condition *condition = condition_by_id(machine, db_int(rows, 0));

		if (!condition)
			continue;
		condition->program = store_arena_text(arena, rows, 1);
		condition->program_sha256 = store_arena_text(arena, rows, 2);
		condition->program_version = store_arena_text(arena, rows, 3);
		condition->server = store_arena_text(arena, rows, 4);
		condition->server_sha256 = store_arena_text(arena, rows, 5);
		condition->server_version = store_arena_text(arena, rows, 6);
		condition->program_built = store_arena_text(arena, rows, 7);
		condition->server_built = store_arena_text(arena, rows, 8);
	}
	db_end(rows);
	return ret;
}

/* Conditions none of whose runs was ever started, because the suite is optional and its program is
 * not there. */
static int load_skipped(struct store *store, struct arena *arena, int64_t experiment_id,
	struct store_machine *machine, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT condition_id, max(iif(run.reason = 'no-program', run.detail, '')) AS why"
		" FROM boot JOIN run ON run.boot_id = boot.id"
		" WHERE boot.experiment_id = ? AND boot.machine_id = ? GROUP BY condition_id"
		" HAVING why != '' AND total(run.state = 'done') = 0",
		"ii", experiment_id, machine->id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		struct store_condition *condition = condition_by_id(machine, db_int(rows, 0));

		if (condition)
			condition->skipped = store_arena_text(arena, rows, 1);
	}
	db_end(rows);
	return ret;
}

static int load_attempts(
	struct store *store, struct arena *arena, struct store_boot *boot, struct err *err)
{
	struct list list = {.size = sizeof(struct store_attempt)};
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT id, number, method, started_ns, ended_ns, outcome, reason, detail,"
		" kernel_boot_id, weak, proof, facts_id FROM attempt WHERE boot_id = ?"
		" ORDER BY number",
		"i", boot->id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		struct store_attempt *attempt = list_add(&list);

		*attempt = (struct store_attempt){
			.id = db_int(rows, 0),
			.number = (int)db_int(rows, 1),
			.method = store_arena_text(arena, rows, 2),
			.started_ns = db_int(rows, 3),
			.ended_ns = store_int_or(rows, 4, 0),
			.outcome = store_arena_text(arena, rows, 5),
			.reason = store_arena_text(arena, rows, 6),
			.detail = store_arena_text(arena, rows, 7),
			.kernel_boot_id = store_arena_text(arena, rows, 8),
			.weak = db_int(rows, 9),
			.proof = store_arena_text(arena, rows, 10),
			.facts_id = store_int_or(rows, 11, 0),
		};
		boot->proved += !strcmp(attempt->outcome, "proved");
	}
	db_end(rows);
	boot->attempts = list_keep(&list, arena, &boot->attempt_count);
	return ret;
}

static int load_boots(struct store *store, struct arena *arena, const struct store_view *view,
	struct store_machine *machine, struct err *err)
{
	struct list list = {.size = sizeof(struct store_boot)};
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT id, ordinal, block, variant_id, state, reason, detail, start FROM boot"
		" WHERE experiment_id = ? AND machine_id = ? ORDER BY ordinal",
		"ii", view->head.id, machine->id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1)
		*(struct store_boot *)list_add(&list) = (struct store_boot){
			.id = db_int(rows, 0),
			.ordinal = (int)db_int(rows, 1),
			.block = (int)db_int(rows, 2),
			.variant = variant_by_id(view, db_int(rows, 3)),
			.state = store_state_parse(db_text(rows, 4)),
			.reason = store_arena_text(arena, rows, 5),
			.detail = store_arena_text(arena, rows, 6),
			.start = store_arena_text(arena, rows, 7),
		};
	db_end(rows);
	machine->boots = list_keep(&list, arena, &machine->boot_count);
	for (size_t i = 0; i < machine->boot_count && !ret; i++)
		ret = load_attempts(store, arena, &machine->boots[i], err);
	return ret;
}

/* Facts of the newest kernel start that was proved. */
static int load_machine_facts(
	struct store *store, struct arena *arena, struct store_machine *machine, struct err *err)
{
	int64_t facts_id = 0;

	machine->facts = "";
	for (size_t i = 0; i < machine->boot_count; i++)
		for (size_t k = 0; k < machine->boots[i].attempt_count; k++)
			if (machine->boots[i].attempts[k].facts_id)
				facts_id = machine->boots[i].attempts[k].facts_id;
	return facts_id ? store_load_facts(store, facts_id, arena, &machine->facts, err) : 0;
}

static int load_machine(struct store *store, struct arena *arena, const struct store_view *view,
	struct store_machine *machine, struct err *err)
{
	int ret = load_conditions(store, arena, view->head.id, machine, err);

	if (!ret)
		ret = load_programs(store, arena, view->head.id, machine, err);
	if (!ret)
		ret = load_skipped(store, arena, view->head.id, machine, err);
	if (!ret)
		ret = load_boots(store, arena, view, machine, err);
	if (!ret)
		ret = store_load_extensions(store, view->head.id, machine->name, arena,
			&machine->extensions, &machine->extension_count, err);
	return ret ? ret : load_machine_facts(store, arena, machine, err);
}

static int load_machines(
	struct store *store, struct arena *arena, struct store_view *view, struct err *err)
{
	struct list list = {.size = sizeof(struct store_machine)};
	struct db_rows *rows;
	/* They were planned in the experiment's order. */
	int ret = db_query(store->db, &rows, err,
		"SELECT machine.id, machine.name, machine.kind FROM condition"
		" JOIN machine ON machine.id = machine_id WHERE experiment_id = ?"
		" GROUP BY machine.id ORDER BY min(condition.id)",
		"i", view->head.id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1)
		*(struct store_machine *)list_add(&list) = (struct store_machine){
			.id = db_int(rows, 0),
			.name = store_arena_text(arena, rows, 1),
			.kind = store_arena_text(arena, rows, 2),
		};
	db_end(rows);
	view->machines = list_keep(&list, arena, &view->machine_count);
	for (size_t i = 0; i < view->machine_count && !ret; i++)
		ret = load_machine(store, arena, view, &view->machines[i], err);
	return ret;
}

static int load_policies(
	struct store *store, struct arena *arena, struct store_view *view, struct err *err)
{
	struct list list = {.size = sizeof(struct store_policy)};
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT reason, policy FROM policy WHERE experiment_id = ? ORDER BY reason", "i",
		view->head.id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		struct store_policy *policy = list_add(&list);

		policy->reason = store_arena_text(arena, rows, 0);
		if (!flag_policy_parse(db_text(rows, 1), &policy->policy))
			BUG("policy %s", db_text(rows, 1));
	}
	db_end(rows);
	view->policies = list_keep(&list, arena, &view->policy_count);
	return ret;
}

int store_load(struct store *store, int64_t experiment_id, struct arena *arena,
	struct store_view *out, struct err *err)
{
	struct store_view view = {0};
	int ret = store_load_head(store, experiment_id, arena, &view.head, err);

	if (!ret)
		ret = store_check(store, experiment_id, err);
	if (!ret)
		ret = load_variants(store, arena, &view, err);
	if (!ret)
		ret = load_machines(store, arena, &view, err);
	if (!ret)
		ret = load_policies(store, arena, &view, err);
	if (!ret)
		*out = view;
	return ret;
}
