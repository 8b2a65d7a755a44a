/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "run/runspec.h"
#include "run/trial.h"
#include "run/watch.h"
#include "sys/proc.h"

/* The agent goes on without us: ends what it runs, tear-down included, and waits for that. */
static void cancel(const struct condition *condition, const char *agent, const char *place)
{
	const char *const argv[] = {agent, "cancel", place, NULL};
	struct proc_result result = PROC_RESULT_INIT;

	/* a run that was not begun yet has nothing to be ended */
	(void)!proc_run(&(struct proc_spec){.argv = argv,
				.timeout_ns = runspec_condition_deadline_ns(condition),
				.max_output_bytes = runspec_condition_bytes(condition),
				.ignore_stop = true},
		&result, NULL);
	proc_result_release(&result);
}

static int call_agent(const struct condition *condition, const char *agent, const char *program,
	const char *folder, struct outcome *outcome, struct err *err)
{
	const struct pairs *files = &condition->suite->files;
	const char **paths = xcalloc(files->count + 1, sizeof(*paths));
	char *spec, *place = path_join(folder, "run");
	const char *const argv[] = {agent, "run", "--spec-on-stdin", place, NULL};
	struct proc_result result = PROC_RESULT_INIT;
	int ret;

	for (size_t i = 0; i < files->count; i++)
		paths[i] = files->items[i].value;
	spec = runspec_condition(condition,
		&(struct runspec_places){.program = program, .files = (const char *const *)paths},
		"trial", 0);
	free(paths);
	ret = proc_run(&(struct proc_spec){.argv = argv,
			       .input = spec,
			       .input_len = strlen(spec),
			       .timeout_ns = runspec_condition_deadline_ns(condition),
			       .max_output_bytes = runspec_condition_bytes(condition)},
		&result, err);

	if (!ret && (result.timed_out || result.signal || result.exit_code)) {
		struct str how = STR_INIT;

		proc_describe(&result, &how);
		str_add(&how, ": ");
		str_add_safe(
			&how, str_text(&result.err_out), strnlen(str_text(&result.err_out), 300));
		ret = err_set(err, ERR_INFRA, "the agent: %s", str_text(&how));
		str_release(&how);
	}
	if (ret)
		cancel(condition, agent, place);
	else
		ret = outcome_parse(&result.out, outcome, err);
	proc_result_release(&result);
	free(place);
	free(spec);
	return ret;
}

int trial_run(const struct condition *condition, const char *agent, const char *program,
	struct arena *arena, struct trial *out, struct err *err)
{
	char folder[] = "/tmp/kbracket-trial-XXXXXX";
	struct watch_boot boot = WATCH_BOOT_INIT;
	const struct watch_run watch = {.duration_ns = condition->spec->duration_ns,
		.tolerance_pct = condition->suite->tolerance_pct,
		.overrun_pct = condition->suite->overrun_pct,
		.cpus = condition->cpus};
	struct err ignored = ERR_INIT;
	int ret;

	*out = (struct trial){.outcome = {.reason = NULL}};
	if (!mkdtemp(folder))
		return err_errno(err, ERR_INFRA, errno, "cannot make a folder in /tmp");
	ret = call_agent(condition, agent, program, folder, &out->outcome, err);
	if (!ret)
		watch_flags(
			out->outcome.result, &watch, &boot, arena, &out->flags, &out->flag_count);
	(void)!file_remove_tree(folder, &ignored);
	return ret;
}
