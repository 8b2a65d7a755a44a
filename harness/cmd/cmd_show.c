/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket show: experiments, a boot with its proof, a run with its raw output, a build. */
#include "base/base.h"

#include "base/num.h"
#include "cmd/answer.h"
#include "cmd/show.h"

struct options {
	struct global global;
	const char *what, *which, *in;
	const char *machine;
	bool spec;
};

static const struct opt rows[] = {
	{.name = "WHAT",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, what),
		.help = "boot, run, build, or an experiment; all experiments when left out"},
	{.name = "WHICH",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, which),
		.help = "a boot's place in its experiment, a run's number, a build's key or "
			"variant"},
	{.name = "in",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, in),
		.arg = "EXPERIMENT",
		.help = "where boot and build are looked for; the newest"},
	{.name = "machine",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, machine),
		.arg = "NAME",
		.help = "which machine's boot, when there are several"},
	{.name = "spec",
		.type = OPT_BOOL,
		.offset = offsetof(struct options, spec),
		.help = "an experiment's configuration as YAML that can be run again"},
	GLOBAL_ROWS(options),
	OPT_END,
};

static int show_experiment_named(
	struct cmd *cmd, const struct options *options, const char *name, struct err *err)
{
	int64_t id;
	int ret = store_find(cmd->store, name, &id, err);

	if (ret)
		return ret;
	return options->spec ? show_spec(cmd, id, err) : show_experiment(cmd, id, err);
}

static int show_boot_of(struct cmd *cmd, const struct options *options, struct err *err)
{
	int64_t id, ordinal;
	int ret = num_int(options->which, 1, INT32_MAX, &ordinal, err);

	if (ret)
		return err_wrap(err, "boot");
	ret = store_find(cmd->store, options->in, &id, err);
	return ret ? ret : show_boot(cmd, id, options->machine, (int)ordinal, err);
}

static int show_run_of(struct cmd *cmd, const struct options *options, struct err *err)
{
	int64_t run_id;

	if (num_int(options->which, 1, INT64_MAX, &run_id, err))
		return err_wrap(err, "run");
	return show_run(cmd, run_id, err);
}

static int show_build_of(struct cmd *cmd, const struct options *options, struct err *err)
{
	int64_t id;
	int ret = store_find(cmd->store, options->in, &id, err);

	return ret ? ret : show_build(cmd, id, options->which, err);
}

static const struct {
	const char *name;
	int (*show)(struct cmd *cmd, const struct options *options, struct err *err);
} things[] = {
	{"boot", show_boot_of},
	{"run", show_run_of},
	{"build", show_build_of},
};

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;

	if (!options->what && !options->spec)
		return show_list(cmd, err);
	for (size_t i = 0; options->what && i < ARRAY_SIZE(things); i++) {
		if (strcmp(options->what, things[i].name) != 0)
			continue;
		if (!options->which)
			return err_set(err, ERR_USAGE, "say which %s", things[i].name);
		return things[i].show(cmd, options, err);
	}
	if (options->which && strcmp(options->what, "experiment") == 0)
		return show_experiment_named(cmd, options, options->which, err);
	if (options->which)
		return err_set(err, ERR_USAGE, "'%.60s' is not boot, run, build or experiment",
			options->what);
	return show_experiment_named(cmd, options, options->what, err);
}

const struct verb verb_show = {
	.name = "show",
	.summary = "an experiment, a boot's proof, a run's raw output, a build",
	.about = "Without arguments lists the experiments. `show 3` shows the boots of an "
		 "experiment, `show boot 2` what proved which kernel ran and the runs in it, "
		 "`show run 17` one run with its samples and raw output, `show build KEY` a "
		 "kernel.",
	.needs = NEEDS_READ,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
