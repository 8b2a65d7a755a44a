/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/stop.h"
#include "run/builds.h"
#include "run/fault.h"
#include "run/raw.h"

enum { MAX_LOG = 64 << 20, MAX_CONFIG = 4 << 20 };

/* Who is told about the lines of a build. */
struct building {
	struct engine *engine;
	const char *variant;
};

static void on_line(void *arg, const char *line)
{
	struct building *building = arg;
	struct progress progress = {
		.kind = PROGRESS_BUILD_LINE, .variant = building->variant, .text = line};

	fault_point("build");
	engine_tell(building->engine, &progress);
}

static void tell(struct engine *engine, size_t index, enum progress_kind kind, const char *text)
{
	struct progress progress = {
		.kind = kind,
		.variant = engine->experiment->variants[index]->name,
		.text = text,
	};

	engine_tell(engine, &progress);
}

/* What is built is what the ref meant when it was planned, also when a branch has moved since. */
static struct variant pinned(const struct engine *engine, size_t index)
{
	struct variant variant = *engine->experiment->variants[index];

	if (engine->store && !variant.is_prebuilt && engine->view.variants[index].ref_commit[0])
		variant.ref = engine->view.variants[index].ref_commit;
	return variant;
}

static int call_builder(struct engine *engine, size_t index, struct err *err)
{
	struct variant variant = pinned(engine, index);
	struct building building = {engine, variant.name};
	struct build_env env = {
		.cache_dir = engine->options->build_cache,
		.jobs = engine->options->jobs,
		.progress = on_line,
		.arg = &building,
	};
	int64_t started = clock_now_ns();
	int ret = engine->options->ops->builder_for(&variant)->build(
		&env, &variant, &engine->arena, &engine->builds[index], err);

	estimate_built(engine->estimate, index,
		ret || engine->builds[index].from_cache ? -1 : clock_now_ns() - started);
	return ret;
}

static int load_config(const struct build *build, struct str *config, struct err *err)
{
	return build->config[0] ? file_read(build->config, MAX_CONFIG, config, err) : 0;
}

/* The build's row, with its configuration and its log. */
static int keep(struct engine *engine, size_t index, struct err *err)
{
	const struct build *build = &engine->builds[index];
	struct str config = STR_INIT;
	struct store_raw log = {0};
	char *path = xasprintf("raw/builds/%s-log", build->key);
	size_t logs = 0;
	int ret = load_config(build, &config, err);

	if (!ret && build->log[0]) {
		ret = raw_keep_file(&engine->arena, store_folder(engine->store), path, "log",
			build->log, MAX_LOG, &log, err);
		logs = !ret;
		ret = ret == ERR_NOT_FOUND ? 0 : ret;
	}
	if (!ret)
		ret = store_variant_built(engine->store, engine->view.variants[index].id,
			&(struct store_build){
				.key = build->key,
				.commit = build->commit,
				.tree = build->tree,
				.release = build->release,
				.proc_version = build->proc_version,
				.build_id = build->build_id,
				.config_sha256 = build->config_sha256,
				.config = config.len ? config.text : NULL,
				.compiler = build->compiler,
				.seconds = build->seconds,
				.version = engine->options->version,
			},
			&log, logs, err);
	str_release(&config);
	free(path);
	return ret;
}

/* None of the variant's boots will be made. */
static void discount_boots(struct engine *engine, size_t index)
{
	for (size_t i = 0; i < engine->view.machine_count; i++) {
		const struct store_machine *machine = &engine->view.machines[i];

		for (size_t k = 0; k < machine->boot_count; k++)
			if (machine->boots[k].variant == &engine->view.variants[index] &&
				machine->boots[k].state != STATE_DONE)
				engine_discount(engine, i, &machine->boots[k]);
	}
}

static int failed(struct engine *engine, size_t index, struct err *why, struct err *err)
{
	tell(engine, index, PROGRESS_BUILD_FAILED, why->text);
	discount_boots(engine, index);
	return store_variant_failed(engine->store, engine->view.variants[index].id, why->text, err);
}

static void tell_built(struct engine *engine, size_t index)
{
	const struct build *build = &engine->builds[index];
	struct str text = STR_INIT;

	for (size_t i = 0; i < index; i++) {
		if (!engine->built[i] || strcmp(engine->builds[i].key, build->key))
			continue;
		str_addf(&text, "the same build as %s", engine->experiment->variants[i]->name);
		break;
	}
	if (!text.len && build->from_cache)
		str_add(&text, "built before");
	else if (!text.len)
		num_add_duration(&text, build->seconds * NS_PER_S);
	tell(engine, index, PROGRESS_BUILT, str_text(&text));
	str_release(&text);
}

static int make(struct engine *engine, size_t index, struct err *err)
{
	const struct store_variant *row = &engine->view.variants[index];
	struct err why = ERR_INIT;
	int ret;

	tell(engine, index, PROGRESS_BUILD, NULL);
	ret = store_variant_started(engine->store, row->id, err);
	if (ret)
		return ret;
	fault_point("build-begun");
	ret = call_builder(engine, index, &why);
	if (ret == ERR_INTERRUPTED)
		return err_set(err, ret, "%s", why.text);
	if (ret)
		return failed(engine, index, &why, err);
	fault_point("built");
	ret = keep(engine, index, err);
	if (ret)
		return ret;
	tell_built(engine, index);
	engine->built[index] = true;
	return 0;
}

/* After a resume: the cache has it, or it is made again; it must come out as it was. */
static int look_up(struct engine *engine, size_t index, struct err *err)
{
	const struct store_build *before = engine->view.variants[index].build;
	int ret;

	tell(engine, index, PROGRESS_BUILD, NULL);
	ret = call_builder(engine, index, err);
	if (ret)
		return err_wrap(err, "variant '%s'", engine->experiment->variants[index]->name);
	if (strcmp(engine->builds[index].key, before->key))
		return err_set(err, ERR_INFRA,
			"variant '%s' was built as %.12s before and now comes out as %.12s: its "
			"sources, configuration or compiler have changed; start a new experiment",
			engine->experiment->variants[index]->name, before->key,
			engine->builds[index].key);
	tell_built(engine, index);
	engine->built[index] = true;
	return 0;
}

/* Where boots are appended one by one the baseline is the guest's safe kernel for all of them, also
 * for one that does not come up. */
static bool is_safe_kernel(const struct engine *engine, size_t machine, size_t variant)
{
	return variant == 0 && engine->experiment->design.order == ORDER_ADAPTIVE &&
	       engine->experiment->machines[machine].kind == MACHINE_QEMU;
}

/* True when a kernel of the variant is still to be booted. */
static bool is_needed(const struct engine *engine, size_t index)
{
	for (size_t i = 0; i < engine->view.machine_count; i++) {
		const struct store_machine *machine = &engine->view.machines[i];

		if (engine->experiment->machines[i].boot == BOOT_NONE)
			continue;
		if (is_safe_kernel(engine, i, index))
			return true;
		for (size_t k = 0; k < machine->boot_count; k++)
			if (machine->boots[k].variant == &engine->view.variants[index] &&
				machine->boots[k].state != STATE_DONE &&
				machine->boots[k].state != STATE_FAILED)
				return true;
	}
	return false;
}

int builds_make(struct engine *engine, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < engine->view.variant_count && !ret; i++) {
		ret = stop_check(err);
		if (ret)
			break;
		if (!is_needed(engine, i) || engine->view.variants[i].state == STATE_FAILED)
			estimate_built(engine->estimate, i, -1);
		else if (engine->view.variants[i].build)
			ret = look_up(engine, i, err);
		else
			ret = make(engine, i, err);
	}
	return ret;
}

int builds_try(struct engine *engine, size_t variant, int *failures, struct err *err)
{
	struct err why = ERR_INIT;
	int ret = stop_check(err);

	if (ret)
		return ret;
	tell(engine, variant, PROGRESS_BUILD, NULL);
	ret = call_builder(engine, variant, &why);
	if (ret == ERR_INTERRUPTED)
		return err_set(err, ret, "%s", why.text);
	if (ret) {
		tell(engine, variant, PROGRESS_BUILD_FAILED, why.text);
		*failures += 1;
		return 0;
	}
	tell_built(engine, variant);
	engine->built[variant] = true;
	return 0;
}
