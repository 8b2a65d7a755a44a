/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/stop.h"
#include "model/store_result.h"
#include "run/booting.h"
#include "run/knobs.h"
#include "run/profiling.h"
#include "run/programs.h"
#include "run/rig.h"
#include "run/rungs.h"
#include "run/walk.h"
#include "run/warmth.h"

char *rig_raw_path(const struct rig *rig, const struct store_boot *boot, const char *name)
{
	return xasprintf("raw/%lld/%s/boot-%03d/%s", (long long)rig->engine->experiment_id,
		rig->plan->machine->name, boot->ordinal, name);
}

void rig_tell(
	struct rig *rig, const struct store_boot *boot, enum progress_kind kind, const char *text)
{
	struct progress progress = {
		.kind = kind,
		.machine = rig->plan->machine->name,
		.variant = boot ? boot->variant->name : NULL,
		.boot = boot ? boot->ordinal : 0,
		.boots = (int)rig->rows->boot_count,
		.text = text,
	};

	engine_tell(rig->engine, &progress);
}

/* Whole command line: the machine's, the variant's, and a panic that ends at the safe kernel. */
static const char *whole_cmdline(struct rig *rig, const char *variant)
{
	const char *machine = rig->plan->machine->cmdline;

	return arena_printf(&rig->engine->arena, "%s%s%s%spanic=5 oops=panic", machine,
		machine[0] ? " " : "", variant, variant[0] ? " " : "");
}

struct boot_image rig_image(struct rig *rig, size_t variant)
{
	const struct build *build = &rig->engine->builds[variant];

	if (!rig_is_booted(rig))
		return (struct boot_image){.image = "", .modules = "", .release = "", .cmdline = "", .config = ""};
	return (struct boot_image){
		.image = build->image,
		.modules = build->modules,
		.release = build->release,
		.cmdline = whole_cmdline(rig, rig->engine->experiment->variants[variant]->cmdline),
		.config = build->config ? build->config : "",
	};
}

/* A guest's safe kernel is the first of the experiment's own that brings it up. */
static int start(struct rig *rig, struct err *err)
{
	const struct engine *engine = rig->engine;
	const char *tried = NULL;
	int ret = err_set(err, ERR_INFRA, "no kernel could be built for it");

	if (!rig_is_booted(rig))
		return engine->options->ops->start(rig->remote.machine, &rig->safe, err);
	for (size_t i = 0; i < engine->view.variant_count; i++) {
		if (!engine->built[i] || (tried && !strcmp(tried, engine->builds[i].key)))
			continue;
		rig->safe = rig_image(rig, i);
		rig->safe.cmdline = whole_cmdline(rig, "");
		ret = engine->options->ops->start(rig->remote.machine, &rig->safe, err);
		if (!ret || ret == ERR_INTERRUPTED || ret == ERR_USAGE ||
			rig->plan->machine->kind != MACHINE_QEMU)
			return ret;
		tried = engine->builds[i].key;
		log_line(LOG_WARN, "%s does not come up with the kernel of %s as its safe one: %s",
			rig->plan->machine->name, engine->experiment->variants[i]->name, err->text);
	}
	return ret;
}

/* Guests are this kbracket's own; this host is everybody's, also of other labs. */
static int take_lock(struct rig *rig, struct err *err)
{
	const struct machine_spec *machine = rig->plan->machine;
	bool here = machine->kind == MACHINE_LOCAL;
	char *path = here ? xasprintf("%s/lock", machine->workdir)
			  : xasprintf("%s/locks/machine-%s.lock", store_folder(rig->engine->store),
				    machine->name);
	int ret = here ? file_mkdirs(machine->workdir, 0700, err) : 0;

	if (!ret)
		ret = file_lock_take(&rig->lock, path, 0, err);
	free(path);
	if (ret == ERR_TIMEOUT)
		return err_wrap(
			err, "another kbracket works on machine '%s'", rig->plan->machine->name);
	return ret;
}

static int open_machine(struct rig *rig, struct err *err)
{
	const struct backend_ops *ops = rig->engine->options->ops;
	int ret = take_lock(rig, err);

	if (!ret)
		ret = warmth_recall(rig, err);
	if (ret)
		return ret;
	rig_tell(rig, NULL, PROGRESS_MACHINE, NULL);
	programs_list(rig);
	ret = ops->open(rig->plan->machine, &rig->env, &rig->remote.machine, err);
	if (ret)
		return ret;
	ret = start(rig, err);
	if (ret)
		return ret;
	rig_tell(rig, NULL, PROGRESS_MACHINE, ops->about(rig->remote.machine));
	ret = programs_find(rig, err);
	return ret ? ret : profiling_check(rig, err);
}

static bool is_ended(const struct store_boot *boot)
{
	return boot->state == STATE_DONE || boot->state == STATE_FAILED;
}

/* What it takes to reach the machine is a matter of the boot that comes first. */
static int64_t next_boot(const struct store_machine *rows)
{
	size_t i = 0;

	while (is_ended(&rows->boots[i]))
		i++;
	return rows->boots[i].id;
}

static int walk_boots(struct rig *rig, bool *unusable, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < rig->rows->boot_count && !ret; i++) {
		if (is_ended(&rig->rows->boots[i]))
			continue;
		ret = stop_check(err);
		rig->boot_id = rig->rows->boots[i].id;
		if (!ret)
			ret = booting_walk(rig, &rig->rows->boots[i], unusable, err);
	}
	return ret;
}

static void close_rig(struct rig *rig)
{
	knobs_restore(rig);
	strv_release(&rig->complaints);
	rig->engine->options->ops->close(rig->remote.machine);
	file_lock_release(&rig->lock);
}

int rig_walk(struct engine *engine, size_t machine, bool *unusable, struct err *err)
{
	struct rig rig = {
		.engine = engine,
		.index = machine,
		.plan = &engine->plans[machine],
		.rows = &engine->view.machines[machine],
		.env = {.cache_dir = engine->options->machine_cache,
			.agent = engine->options->agent,
			.rung = rungs_keep,
			.rung_arg = &rig},
		.remote = {.ops = engine->options->ops},
		.lock = FILE_LOCK_INIT,
		.safe = {.image = "", .modules = "", .release = "", .cmdline = "", .config = ""},
		.first_mc = -1,
	};
	int ret;

	if (!walk_anything_left(rig.rows))
		return 0;
	rig.boot_id = next_boot(rig.rows);
	ret = open_machine(&rig, err);
	*unusable = ret && ret != ERR_INTERRUPTED;
	if (!ret)
		ret = walk_boots(&rig, unusable, err);
	*unusable = *unusable || (ret && rig.full);
	close_rig(&rig);
	return ret;
}

int rig_ask_cpus(const struct machine_spec *machine, const struct engine_options *options,
	int64_t *cpus, struct err *err)
{
	static const char *const arguments[] = {"facts", NULL};
	bool smt = !machine->tune.smt || strcmp(machine->tune.smt, "off") != 0;
	struct machine_env env = {.cache_dir = options->machine_cache, .agent = options->agent};
	struct boot_image safe = {.image = "", .modules = "", .release = "", .cmdline = "", .config = ""};
	struct remote remote = {.ops = options->ops};
	json_t *seen = NULL;
	int64_t count = 0;
	int ret = options->ops->open(machine, &env, &remote.machine, err);

	if (ret)
		return ret;
	ret = options->ops->start(remote.machine, &safe, err);
	if (!ret)
		ret = remote_json(&remote, arguments, &seen, err);
	if (!ret)
		count = json_get_int(seen, smt ? "cpus_online" : "cores", 0);
	if (!ret && (count < 1 || count > MACHINE_CPUS_MAX))
		ret = err_set(err, ERR_INFRA, "it did not tell its number of CPUs");
	if (!ret)
		*cpus = count;
	json_decref(seen);
	options->ops->close(remote.machine);
	return ret ? err_wrap(err, "machine '%s'", machine->name) : 0;
}
