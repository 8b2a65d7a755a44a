/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/stop.h"
#include "cmd/cmd.h"
#include "cmd/places.h"
#include "model/name.h"
#include "report/layout.h"
#include "version.h"

const struct verb *const verbs[] = {
	&verb_init,
	&verb_doctor,
	&verb_calibrate,
	&verb_plan,
	&verb_build,
	&verb_run,
	&verb_resume,
	&verb_status,
	&verb_report,
	&verb_compare,
	&verb_show,
	&verb_profile,
	&verb_suite,
	&verb_reread,
	&verb_judge,
	&verb_bisect,
	&verb_export,
	&verb_import,
	&verb_prune,
	NULL,
};

static const char *const colours[] = {"auto", "always", "never", NULL};

const struct opt global_rows[] = {
	{.name = "results",
		.type = OPT_PATH,
		.offset = offsetof(struct global, results),
		.arg = "DIR",
		.help = "folder of the database and raw output, instead of the lab's"},
	{.name = "db",
		.type = OPT_PATH,
		.offset = offsetof(struct global, db),
		.arg = "FILE",
		.help = "database instead of kbracket.db in that folder"},
	{.name = "color",
		.type = OPT_CHOICE,
		.offset = offsetof(struct global, colour),
		.def = "auto",
		.choices = colours,
		.arg = "WHEN",
		.help = "colour in the answer"},
	{.name = "json",
		.type = OPT_BOOL,
		.offset = offsetof(struct global, json),
		.help = "the answer as JSON"},
	{.name = "verbose",
		.flag = 'v',
		.type = OPT_BOOL,
		.offset = offsetof(struct global, verbose),
		.help = "say more while working"},
	{.name = "help",
		.flag = 'h',
		.type = OPT_BOOL,
		.offset = offsetof(struct global, help),
		.help = "what the verb does and its options"},
	{.name = "version",
		.type = OPT_BOOL,
		.offset = offsetof(struct global, version),
		.help = "the version of kbracket"},
	OPT_END,
};

enum status status_of_error(enum err_code code)
{
	switch (code) {
	case ERR_NONE:
		return STATUS_FINE;
	case ERR_USAGE:
	case ERR_NOT_FOUND:
		return STATUS_USAGE;
	case ERR_INFRA:
	case ERR_TIMEOUT:
		return STATUS_INFRA;
	case ERR_INVALID:
		return STATUS_OPEN;
	case ERR_INTERRUPTED:
		return STATUS_STOPPED;
	}
	BUG("no such error code: %d", (int)code);
}

enum status status_worse(enum status a, enum status b)
{
	static const enum status order[] = {STATUS_STOPPED, STATUS_USAGE, STATUS_REGRESSION,
		STATUS_INFRA, STATUS_OPEN, STATUS_FINE};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return a;
}

static void write_overview(struct str *out)
{
	str_add(out, "usage: kbracket VERB [ARGUMENTS] [OPTIONS]\n\n"
		     "Did this kernel change make these workloads slower on this machine?\n"
		     "Builds the kernels, boots them between boots of their baseline, runs the\n"
		     "workloads, keeps every sample, and says what the numbers can carry.\n\n");
	for (const struct verb *const *verb = verbs; *verb; verb++)
		str_addf(out, "  %-10s %s\n", (*verb)->name, (*verb)->summary);
	str_add(out,
		"\n`kbracket VERB --help` shows the options of a verb; kbracket(1) all of it.\n");
}

static int find_verb(const char *name, const struct verb **out, struct err *err)
{
	struct nearest nearest;

	nearest_init(&nearest, name);
	for (const struct verb *const *verb = verbs; *verb; verb++) {
		if (strcmp((*verb)->name, name) == 0) {
			*out = *verb;
			return 0;
		}
		nearest_try(&nearest, (*verb)->name);
	}
	return err_set(err, ERR_USAGE, "there is no verb '%s'%s; kbracket --help lists them", name,
		nearest_hint(&nearest));
}

/* True for a global option whose value is the next argument. */
static bool takes_next(const char *arg)
{
	for (const struct opt *row = global_rows; row->name; row++)
		if (row->type != OPT_BOOL && str_starts(arg, "--") &&
			strcmp(arg + 2, row->name) == 0)
			return true;
	return false;
}

/* The verb is the first argument that is neither an option nor an option's value. The others go to
 * args, so that global options may stand before it and behind it. */
static const char *split_args(char **argv, struct strv *args)
{
	const char *verb = NULL;

	for (size_t i = 0; argv[i]; i++) {
		if (!verb && argv[i][0] != '-') {
			verb = argv[i];
			continue;
		}
		strv_add(args, argv[i]);
		if (!verb && takes_next(argv[i]) && argv[i + 1])
			strv_add(args, argv[++i]);
	}
	return verb;
}

static int answer_without_verb(struct arena *arena, const struct strv *args, struct err *err)
{
	struct global global = {0};
	struct str out = STR_INIT;
	int ret = opt_parse_args(arena, global_rows, strv_argv(args), &global, err);

	if (!ret && global.version)
		str_add(&out, "kbracket " KB_VERSION "\n");
	else if (!ret)
		write_overview(&out);
	ui_write_text(&out);
	str_release(&out);
	return ret;
}

static void write_verb_help(const struct verb *verb)
{
	const struct layout plain = {80, ui_utf8(), false};
	struct str out = STR_INIT;
	char *command = xasprintf("kbracket %s", verb->name);

	opt_write_help(command, verb->rows, &out);
	str_add_char(&out, '\n');
	layout_paragraph(&plain, &out, 0, 0, verb->about);
	ui_write_text(&out);
	str_release(&out);
	free(command);
}

static int with_store(
	struct cmd *cmd, const struct verb *verb, const void *options, struct err *err)
{
	enum store_mode mode = verb->needs == NEEDS_READ ? STORE_READ : STORE_WRITE;
	int ret = 0;

	if (verb->needs == NEEDS_CHANGE && !file_exists(cmd->db_path))
		return err_set(err, ERR_NOT_FOUND,
			"there is no database %s; --results or --db says where it is",
			cmd->db_path);
	if (verb->needs != NEEDS_NOTHING)
		ret = store_open(cmd->db_path, mode, &cmd->store, err);
	if (ret)
		return ret;
	ret = verb->run(cmd, options, err);
	store_close(cmd->store);
	return ret;
}

static int run_verb(
	struct arena *arena, const struct verb *verb, const struct strv *args, struct err *err)
{
	void *options = arena_alloc(arena, verb->bytes);
	const struct global *global = options;
	struct cmd cmd = {.arena = arena, .global = global};
	int ret = opt_parse_args(arena, verb->rows, strv_argv(args), options, err);

	if (ret)
		return err_wrap(err, "%s", verb->name);
	if (global->help) {
		write_verb_help(verb);
		return STATUS_FINE;
	}
	if (global->version) {
		ui_write("kbracket " KB_VERSION "\n", strlen("kbracket " KB_VERSION "\n"));
		return STATUS_FINE;
	}
	ui_start(global->verbose, (enum ui_colour)global->colour);
	cmd.db_path = global->db
			      ? global->db
			      : arena_printf(arena, "%s/kbracket.db",
					global->results ? global->results : places_results(arena));
	ret = with_store(&cmd, verb, options, err);
	ui_stop();
	return ret;
}

static void tell_error(const struct err *err)
{
	struct str safe = STR_INIT;

	str_add_safe(&safe, err->text, strlen(err->text));
	str_add_char(&safe, '\n');
	(void)fprintf(stderr, "kbracket: %s", str_text(&safe));
	str_release(&safe);
}

/* A file of ours must never become stdout or stderr because the caller closed it. What would be
 * written to a closed stdout is told as an error: it is open, but not for writing. */
static void fill_closed_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc KB_UNUSED, char **argv)
{
	struct arena arena = ARENA_INIT;
	struct strv args = STRV_INIT;
	struct err err = ERR_INIT, flush_err = ERR_INIT;
	const struct verb *verb = NULL;
	const char *name;
	int ret;

	fill_closed_streams();
	(void)setlocale(LC_CTYPE, "");
	(void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error that we tell */
	stop_catch_signals();
	name = split_args(argv + (argv[0] ? 1 : 0), &args);
	if (!name)
		ret = answer_without_verb(&arena, &args, &err);
	else if (!(ret = find_verb(name, &verb, &err)))
		ret = run_verb(&arena, verb, &args, &err);
	if (ret < 0) {
		tell_error(&err);
		ret = (int)status_of_error((enum err_code)ret);
	}
	if (ui_flush(&flush_err)) {
		tell_error(&flush_err);
		ret = (int)status_worse((enum status)ret, STATUS_INFRA);
	}
	strv_release(&args);
	arena_release(&arena);
	return ret;
}
