/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdarg.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"
#include "base/stop.h"
#include "run/builds.h"
#include "run/engine_state.h"
#include "run/hooks.h"
#include "run/rig.h"
#include "run/walk.h"
#include "run/workers.h"

/* For consoles, raw output, the database and its log, until the next look. */
enum { ROOM_BYTES = 2 << 20 };

void engine_tell(struct engine *engine, struct progress *progress)
{
	struct estimate_left left;

	if (!engine->options->progress)
		return;
	left = engine->machine == ENGINE_ALL ? estimate_left(engine->estimate)
					     : estimate_left_on(engine->estimate, engine->machine);
	progress->elapsed_ns = clock_now_ns() - engine->started_ns;
	progress->left_ns = left.wall_ns;
	progress->measured = left.measured;
	engine->options->progress(engine->options->arg, progress);
}

void engine_note(struct engine *engine, int64_t boot_id, const char *kind, const char *fmt, ...)
{
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	va_list args;

	va_start(args, fmt);
	str_vaddf(&text, fmt, args);
	va_end(args);
	if (store_event(engine->store, engine->experiment_id, boot_id, kind, str_text(&text), &err))
		log_line(LOG_WARN, "%s: not noted: %s", str_text(&text), err.text);
	str_release(&text);
}

int engine_check_room(const struct engine *engine, struct err *err)
{
	const char *folder = store_folder(engine->store);
	int64_t left = file_free_bytes(folder);
	struct str text = STR_INIT;

	if (left < 0 || left >= ROOM_BYTES)
		return 0;
	num_add_bytes(&text, left);
	err_set(err, ERR_INFRA,
		"the disk is full: %s are left in %s; make room, then `kbracket resume`",
		str_text(&text), folder);
	str_release(&text);
	return ERR_INFRA;
}

void engine_discount(struct engine *engine, size_t machine, const struct store_boot *boot)
{
	const struct plan_boot *plan = &engine->plans[machine].boots[boot->ordinal - 1];

	if (!boot->proved)
		estimate_booted(engine->estimate, machine, -1);
	for (size_t i = 0; i < plan->run_count; i++)
		estimate_ran(engine->estimate, machine, plan->runs[i].condition, -1);
}

static void discount_ended(struct engine *engine, size_t machine)
{
	const struct store_machine *rows = &engine->view.machines[machine];

	for (size_t k = 0; k < rows->boot_count; k++)
		if (rows->boots[k].state == STATE_DONE || rows->boots[k].state == STATE_FAILED)
			engine_discount(engine, machine, &rows->boots[k]);
}

/* A killed kbracket's workers die with it; until the last of them is gone the lock is theirs. */
static int take_lock(struct file_lock *lock, const char *path, struct err *err)
{
	int ret = file_lock_take(lock, path, 0, err);

	return ret == ERR_TIMEOUT && !file_lock_holder(path)
		       ? file_lock_take(lock, path, 10 * NS_PER_S, err)
		       : ret;
}

int engine_lock(struct store *store, int64_t experiment_id, struct file_lock *lock, struct err *err)
{
	char *path = engine_lock_path(store, experiment_id), *folder = path_dir(path);
	int ret = file_mkdirs(folder, 0777, err);

	if (!ret)
		ret = take_lock(lock, path, err);
	free(folder);
	free(path);
	if (ret == ERR_TIMEOUT)
		return err_wrap(err, "another kbracket works on this experiment");
	return ret;
}

char *engine_lock_path(const struct store *store, int64_t experiment_id)
{
	return xasprintf(
		"%s/locks/experiment-%lld.lock", store_folder(store), (long long)experiment_id);
}

static bool same_machine(const struct store_machine *rows, const struct plan *plan)
{
	if (rows->boot_count != plan->boot_count ||
		rows->condition_count != plan->condition_count ||
		strcmp(rows->name, plan->machine->name))
		return false;
	for (size_t i = 0; i < plan->condition_count; i++)
		if (strcmp(rows->conditions[i].name, plan->conditions[i].name) ||
			rows->conditions[i].metric_count != plan->conditions[i].suite->metric_count)
			return false;
	for (size_t i = 0; i < plan->boot_count; i++)
		if (rows->boots[i].ordinal != plan->boots[i].ordinal ||
			rows->boots[i].block != plan->boots[i].block ||
			rows->boots[i].variant->position != (int)plan->boots[i].variant)
			return false;
	return true;
}

/* The rows must be those of the plans: positions are what joins the two. Other machines' plans may
 * have grown in their own processes. */
static int check_plans(const struct engine *engine, struct err *err)
{
	const struct store_view *view = &engine->view;
	bool same = view->machine_count == engine->experiment->machine_count &&
		    view->variant_count == engine->experiment->variant_count;

	for (size_t i = 0; same && i < view->variant_count; i++)
		same = !strcmp(view->variants[i].name, engine->experiment->variants[i]->name);
	for (size_t i = 0; same && i < view->machine_count; i++)
		if (engine->machine == ENGINE_ALL || engine->machine == i)
			same = same_machine(&view->machines[i], &engine->plans[i]);
	return same ? 0
		    : err_set(err, ERR_USAGE,
			      "experiment %lld was planned differently from what its configuration "
			      "gives now; was it written by another version of kbracket?",
			      (long long)engine->experiment_id);
}

/* One machine needs no other process. */
static int walk_machines(struct engine *engine, struct err *err)
{
	bool unusable = false;
	int ret;

	if (engine->view.machine_count > 1)
		return workers_walk(engine, err);
	ret = walk_machine(engine, 0, &unusable, err);
	if (unusable)
		walk_park(engine, 0, err->text);
	engine->machine = ENGINE_ALL;
	return ret;
}

static int walk(struct engine *engine, struct err *err)
{
	int ret = store_experiment_move(engine->store, engine->experiment_id, STATE_STARTED, err);

	if (!ret)
		ret = builds_make(engine, err);
	/* Boots of variants that could not be built have failed by now. */
	if (!ret)
		ret = store_load(
			engine->store, engine->experiment_id, &engine->arena, &engine->view, err);
	if (!ret)
		ret = hooks_call(engine, HOOK_BEFORE_EXPERIMENT, NULL, NULL, NULL, err);
	if (!ret) {
		struct err after = ERR_INIT;
		int end;

		ret = walk_machines(engine, err);
		end = hooks_call(engine, HOOK_AFTER_EXPERIMENT, NULL, NULL, NULL, &after);
		if (!ret && end)
			ret = err_set(err, after.code, "%s", after.text);
	}
	if (ret && store_experiment_move(
			   engine->store, engine->experiment_id, STATE_INTERRUPTED, NULL))
		log_line(LOG_WARN, "the end of the experiment could not be noted in the database");
	return ret;
}

int engine_reload(struct engine *engine, struct err *err)
{
	struct estimate *estimate = NULL;
	int ret = store_load(
		engine->store, engine->experiment_id, &engine->arena, &engine->view, err);

	if (!ret)
		ret = check_plans(engine, err);
	if (!ret)
		ret = estimate_new(
			engine->store, engine->experiment, engine->plans, &estimate, err);
	if (ret)
		return ret;
	estimate_free(engine->estimate);
	engine->estimate = estimate;
	for (size_t i = 0; i < engine->view.machine_count; i++)
		if (engine->machine == ENGINE_ALL || engine->machine == i)
			discount_ended(engine, i);
	return 0;
}

int engine_run(struct store *store, int64_t experiment_id, const struct experiment *experiment,
	const struct plan *plans, const struct engine_options *options, struct err *err)
{
	struct engine engine = {
		.store = store,
		.experiment_id = experiment_id,
		.experiment = experiment,
		.plans = plans,
		.options = options,
		.builds = xcalloc(experiment->variant_count + 1, sizeof(*engine.builds)),
		.built = xcalloc(experiment->variant_count + 1, sizeof(*engine.built)),
		.started_ns = clock_now_ns(),
		.machine = ENGINE_ALL,
	};
	struct file_lock lock = FILE_LOCK_INIT;
	int ret = engine_lock(engine.store, engine.experiment_id, &lock, err);

	if (!ret)
		ret = engine_reload(&engine, err);
	if (!ret)
		ret = walk(&engine, err);
	if (!ret)
		engine_tell(&engine, &(struct progress){.kind = PROGRESS_END});
	file_lock_release(&lock);
	estimate_free(engine.estimate);
	arena_release(&engine.arena);
	free(engine.builds);
	free(engine.built);
	return ret;
}

int engine_build(const struct experiment *experiment, const struct engine_options *options,
	int *failed, struct err *err)
{
	struct engine engine = {
		.experiment = experiment,
		.options = options,
		.builds = xcalloc(experiment->variant_count + 1, sizeof(*engine.builds)),
		.built = xcalloc(experiment->variant_count + 1, sizeof(*engine.built)),
		.started_ns = clock_now_ns(),
		.machine = ENGINE_ALL,
	};
	struct plan *plans = xcalloc(experiment->machine_count + 1, sizeof(*plans));
	int ret;

	for (size_t i = 0; i < experiment->machine_count; i++)
		plans[i].machine = &experiment->machines[i];
	ret = estimate_new(NULL, experiment, plans, &engine.estimate, err);
	*failed = 0;
	for (size_t i = 0; i < experiment->variant_count && !ret; i++)
		ret = builds_try(&engine, i, failed, err);
	estimate_free(engine.estimate);
	arena_release(&engine.arena);
	free(engine.builds);
	free(engine.built);
	free(plans);
	return ret;
}

int engine_ask_cpus(const struct machine_spec *machine, const struct engine_options *options,
	int64_t *cpus, struct err *err)
{
	return rig_ask_cpus(machine, options, cpus, err);
}
