/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "cmd/answer.h"
#include "cmd/follow.h"
#include "cmd/places.h"
#include "cmd/study.h"
#include "model/name.h"
#include "version.h"

static void set_engine(struct cmd *cmd, struct study *study)
{
	study->engine = (struct engine_options){
		.ops = &backend_ops_real,
		.build_cache = study->lab.cache,
		.machine_cache = arena_printf(cmd->arena, "%s/guests", study->lab.cache),
		.agent = places_agent(cmd->arena),
		.native_dir = places_native(cmd->arena),
		.version = KB_VERSION,
		.progress = follow_progress,
	};
}

int study_tell_mistakes(struct diag *diag, struct err *err)
{
	struct str text = STR_INIT;
	int ret;

	diag_write(diag, &text);
	/* an error's text would not hold all of them */
	(void)fputs(str_text(&text), stderr);
	ret = err_set(err, ERR_USAGE, "%zu mistake%s in the files; nothing was started",
		diag->count, diag->count == 1 ? "" : "s");
	str_release(&text);
	diag_release(diag);
	return ret;
}

int study_read(struct cmd *cmd, const char *file, struct study *out, struct err *err)
{
	struct diag diag = DIAG_INIT;
	int ret = lab_find(cmd->arena, file, &out->lab, err);

	if (ret)
		return ret;
	if (experiment_read(cmd->arena, file, &out->experiment, &diag))
		return study_tell_mistakes(&diag, err);
	diag_release(&diag);
	if (out->experiment.design.order == ORDER_ADAPTIVE)
		return err_set(err, ERR_USAGE,
			"%s: an adaptive order plans no boots by itself; order is bracketed, "
			"shuffled, or a list of variants",
			file);
	set_engine(cmd, out);
	return 0;
}

int study_read_text(struct cmd *cmd, const char *beside, const char *name, const char *text,
	struct study *out, struct err *err)
{
	struct diag diag = DIAG_INIT;
	int ret = lab_find(cmd->arena, beside, &out->lab, err);

	if (ret)
		return ret;
	name = arena_printf(cmd->arena, "%s/configs/%s", out->lab.root, name);
	if (experiment_read_text(cmd->arena, name, text, strlen(text), &out->experiment, &diag))
		return study_tell_mistakes(&diag, err);
	diag_release(&diag);
	set_engine(cmd, out);
	return 0;
}

int study_read_stored(
	struct cmd *cmd, const struct store_experiment *head, struct study *out, struct err *err)
{
	struct diag diag = DIAG_INIT;
	struct err no_lab = ERR_INIT;
	const char *name =
		arena_printf(cmd->arena, "configuration of experiment %lld", (long long)head->id);

	if (head->kind == KIND_IMPORT)
		return err_set(err, ERR_USAGE, "experiment %lld was imported: nothing can be run",
			(long long)head->id);
	if (lab_find(cmd->arena, NULL, &out->lab, &no_lab))
		out->lab.cache =
			arena_printf(cmd->arena, "%s/../kernels/cache", store_folder(cmd->store));
	if (experiment_read_text(
		    cmd->arena, name, head->spec, strlen(head->spec), &out->experiment, &diag))
		return study_tell_mistakes(&diag, err);
	diag_release(&diag);
	set_engine(cmd, out);
	return 0;
}

int study_keep_machine(struct experiment *experiment, const char *name, struct err *err)
{
	struct nearest nearest;

	nearest_init(&nearest, name);
	for (size_t i = 0; i < experiment->machine_count; i++) {
		if (strcmp(experiment->machines[i].name, name) == 0) {
			experiment->machines = &experiment->machines[i];
			experiment->machine_count = 1;
			return 0;
		}
		nearest_try(&nearest, experiment->machines[i].name);
	}
	return err_set(err, ERR_USAGE, "it has no machine '%s'%s", name, nearest_hint(&nearest));
}

static int find_cpus(struct study *study, const struct machine_spec *machine, bool may_ask,
	int64_t *cpus, struct err *err)
{
	*cpus = machine->cpus;
	if (machine->kind == MACHINE_QEMU)
		*cpus = machine->qemu.cpus;
	else if (machine->kind == MACHINE_LOCAL)
		*cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (*cpus > 0)
		return 0;
	if (!may_ask)
		return err_set(err, ERR_USAGE,
			"machine %s: how many CPUs it has is not in %s; add 'cpus: N' there, or "
			"--ask makes contact",
			machine->name, machine->place.file);
	log_line(LOG_INFO, "asking %s for its number of CPUs", machine->name);
	return engine_ask_cpus(machine, &study->engine, cpus, err);
}

int study_plan(struct cmd *cmd, struct study *study, bool may_ask, struct err *err)
{
	const struct experiment *experiment = &study->experiment;
	int ret = 0;

	study->plans =
		arena_alloc(cmd->arena, (experiment->machine_count + 1) * sizeof(*study->plans));
	for (size_t i = 0; i < experiment->machine_count && !ret; i++) {
		const struct machine_spec *machine = &experiment->machines[i];
		int64_t cpus;

		ret = find_cpus(study, machine, may_ask, &cpus, err);
		if (!ret)
			ret = plan_make(
				cmd->arena, experiment, machine, cpus, &study->plans[i], err);
	}
	return ret;
}

/* The numbers of CPUs that the plan was made for: they are in the stored conditions. */
static void keep_cpus(const struct store_view *view, struct study *study)
{
	for (size_t i = 0; i < view->machine_count && i < study->experiment.machine_count; i++)
		if (view->machines[i].condition_count && !study->experiment.machines[i].cpus)
			study->experiment.machines[i].cpus = view->machines[i].conditions[0].cpus;
}

static int extend_again(
	struct cmd *cmd, struct study *study, int64_t id, size_t machine, struct err *err)
{
	struct plan_extension *extensions;
	size_t count;
	int ret = store_load_extensions(cmd->store, id, study->experiment.machines[machine].name,
		cmd->arena, &extensions, &count, err);

	for (size_t i = 0; !ret && i < count; i++)
		ret = plan_extend(cmd->arena, &study->plans[machine], &extensions[i], err);
	return ret;
}

int study_plan_stored(struct cmd *cmd, struct study *study, int64_t id, struct err *err)
{
	struct store_view view;
	int ret = store_load(cmd->store, id, cmd->arena, &view, err);

	if (!ret) {
		keep_cpus(&view, study);
		ret = study_plan(cmd, study, true, err);
	}
	for (size_t m = 0; !ret && m < study->experiment.machine_count; m++)
		ret = extend_again(cmd, study, id, m, err);
	return ret;
}

int study_append(struct cmd *cmd, struct study *study, int64_t id, size_t machine,
	const struct plan_extension *extension, struct err *err)
{
	int ret = plan_extend(cmd->arena, &study->plans[machine], extension, err);

	return ret ? ret
		   : store_extend(cmd->store, id, study->experiment.machines[machine].name,
			     &study->plans[machine], extension, err);
}

static bool boots_kernels(const struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->machine_count; i++)
		if (experiment->machines[i].boot != BOOT_NONE)
			return true;
	return false;
}

int study_resolve(struct cmd *cmd, struct study *study, struct err *err)
{
	const struct experiment *experiment = &study->experiment;
	bool needed = boots_kernels(experiment);
	int ret = 0;

	for (size_t i = 0; i < experiment->suite_count && !ret; i++)
		ret = suite_pin_files(cmd->arena, &experiment->suites[i], err);

	study->refs =
		arena_alloc(cmd->arena, (experiment->variant_count + 1) * sizeof(*study->refs));
	for (size_t i = 0; i < experiment->variant_count && !ret; i++) {
		const struct variant *variant = experiment->variants[i];
		struct resolved resolved = {"", ""};

		if (needed)
			ret = study->engine.ops->builder_for(variant)->resolve(
				variant, cmd->arena, &resolved, err);
		if (ret)
			err_wrap(err, "variant '%s'", variant->name);
		study->refs[i] = (struct store_ref){resolved.commit, resolved.subject};
	}
	return ret;
}

int study_open_store(
	struct cmd *cmd, const struct study *study, enum store_mode mode, struct err *err)
{
	if (!cmd->global->db && !cmd->global->results)
		cmd->db_path = study->lab.database;
	return store_open(cmd->db_path, mode, &cmd->store, err);
}

int study_create(struct cmd *cmd, const struct study *study, enum store_kind kind, int64_t *id,
	struct err *err)
{
	char *spec = experiment_dump(&study->experiment);
	struct store_new what = {
		.kind = kind,
		.experiment = &study->experiment,
		.spec = spec,
		.plans = study->plans,
		.refs = study->refs,
		.version = KB_VERSION,
	};
	int ret = store_create(cmd->store, &what, id, err);

	free(spec);
	if (!ret)
		log_line(LOG_INFO, "%s %lld: %s", store_kind_name(kind), (long long)*id,
			study->experiment.name);
	return ret;
}

int study_walk(struct cmd *cmd, const struct study *study, int64_t id, struct err *err)
{
	int ret = engine_run(cmd->store, id, &study->experiment, study->plans, &study->engine, err);

	log_line(LOG_PROGRESS, "%s", "");
	if (ret == ERR_INTERRUPTED)
		return err_wrap(err, "stopped; `kbracket resume %lld` goes on", (long long)id);
	if (ret)
		return err_wrap(err, "experiment %lld stays unfinished (`kbracket resume %lld`)",
			(long long)id, (long long)id);
	return 0;
}

/* True when a machine has come to its end: there is something to report. */
static bool any_ended(const struct store_view *view)
{
	for (size_t m = 0; m < view->machine_count; m++) {
		const struct store_machine *machine = &view->machines[m];
		size_t ended = 0;

		for (size_t b = 0; b < machine->boot_count; b++)
			ended += machine->boots[b].state == STATE_DONE ||
				 machine->boots[b].state == STATE_FAILED;
		if (ended == machine->boot_count)
			return true;
	}
	return false;
}

/* Something stands in the way on some machines: what the others gave is told all the same. */
static int report_others(
	struct cmd *cmd, int64_t id, bool allow_open, enum err_code why, struct err *err)
{
	struct err failure = *err, other = ERR_INIT;
	struct store_view view;
	int status;

	if (why == ERR_INTERRUPTED || store_load(cmd->store, id, cmd->arena, &view, &other) ||
		view.machine_count < 2 || !any_ended(&view))
		return why;
	log_line(LOG_WARN, "%s", failure.text);
	status = answer_report(cmd, id, allow_open, err);
	return status < 0 ? status : (int)status_worse(status_of_error(why), (enum status)status);
}

int study_run(struct cmd *cmd, struct study *study, int64_t id, bool allow_open, struct err *err)
{
	int ret;

	study_let_grow(cmd, study, id);
	ret = study_walk(cmd, study, id, err);
	if (ret)
		return report_others(cmd, id, allow_open, (enum err_code)ret, err);
	ret = store_experiment_move(cmd->store, id, STATE_DONE, err);
	return ret ? ret : answer_report(cmd, id, allow_open, err);
}
