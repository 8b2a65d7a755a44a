/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket bisect: which commit changed the numbers. */
#include "base/base.h"

#include "base/file.h"
#include "base/log.h"
#include "base/num.h"
#include "base/strv.h"
#include "cmd/answer.h"
#include "cmd/bisect.h"
#include "cmd/bisect_oracle.h"
#include "judge/bisect_trail.h"
#include "model/bisect_log.h"
#include "report/bisect.h"

enum { LOG_MAX_BYTES = 4 << 20, MORE_BOOTS_MAX = 10000 };

struct options {
	struct global global;
	const char *what, *which, *mark, *of;
	bool mail, step;
	int64_t jobs;
	struct bisect_spec spec;
	struct bisect_oracle oracle;
};

static const struct opt rows[] = {
	{.name = "WHAT",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, what),
		.help = "begin, status, report, skip, mark, undo, more, log or replay; a new "
			"bisect is begun and walked to its end when left out"},
	{.name = "WHICH",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, which),
		.help = "skip, mark: a commit of the list; more: boots; replay: a file that log "
			"wrote"},
	{.name = "MARK",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, mark),
		.help = "mark: good or bad; skip: why"},
	{.name = "of",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, of),
		.arg = "BISECT",
		.help = "number or name of an earlier bisect; the newest when left out"},
	{.name = "mail",
		.type = OPT_BOOL,
		.offset = offsetof(struct options, mail),
		.help = "write the answer as the draft of a mail to the culprit's author"},
	{.name = "step",
		.type = OPT_BOOL,
		.offset = offsetof(struct options, step),
		.help = "for `git bisect run`: measure the commit that is checked out in the "
			"current folder against the ends of a bisect; exit 0 good, 1 bad, 125 "
			"not to be told"},
	JOBS_ROW(options),
	{.name = "bisect",
		.type = OPT_MAP,
		.offset = offsetof(struct options, spec),
		.rows = bisect_opts},
	{.name = "oracle",
		.type = OPT_MAP,
		.offset = offsetof(struct options, oracle),
		.rows = bisect_oracle_opts},
	GLOBAL_ROWS(options),
	OPT_END,
};

static const struct bisect_form *form_of(const struct options *options, struct bisect_form *form)
{
	form->mail = options->mail;
	return form;
}

/* --- verbs of its own: a loaded bisect, what was asked --- */

static int do_walk(struct bisect_job *job, const struct options *options, struct err *err)
{
	struct bisect_form form;

	return bisect_go(job, form_of(options, &form), err);
}

static int do_answer(struct bisect_job *job, const struct options *options, struct err *err)
{
	struct bisect_form form;

	return bisect_answer(job, form_of(options, &form), err);
}

static int do_begin(
	struct bisect_job *job, const struct options *options KB_UNUSED, struct err *err KB_UNUSED)
{
	struct str out = STR_INIT;

	str_addf(&out, "bisect %lld: %zu %s listed; `kbracket resume %lld` walks it\n",
		(long long)job->id, job->record.listed, bisect_axis_name(job->record.axis),
		(long long)job->id);
	ui_write_text(&out);
	str_release(&out);
	return STATUS_FINE;
}

/* Adds what a person says of a step; the kernels to test are chosen anew. */
static int say_of(struct bisect_job *job, const struct options *options,
	enum bisect_event_kind kind, const char *text, struct err *err)
{
	int position, ret;

	if (!options->which)
		return err_set(err, ERR_USAGE, "which commit? A number of the list, or its id");
	ret = bisect_step_find(&job->record, options->which, &position, err);
	if (!ret && kind != EVENT_SKIP && (position == 0 || position == job->record.bad))
		ret = err_set(err, ERR_USAGE, "the ends cannot be marked: begin another bisect");
	if (!ret)
		ret = bisect_note(job,
			&(struct bisect_event){.kind = kind, .position = position, .text = text},
			err);
	if (!ret && kind != EVENT_SKIP)
		ret = bisect_restage(job, err);
	return ret ? ret : do_answer(job, options, err);
}

static int do_skip(struct bisect_job *job, const struct options *options, struct err *err)
{
	return say_of(job, options, EVENT_SKIP, options->mark ? options->mark : "by hand", err);
}

static int do_mark(struct bisect_job *job, const struct options *options, struct err *err)
{
	if (!options->mark || (strcmp(options->mark, "good") && strcmp(options->mark, "bad")))
		return err_set(err, ERR_USAGE, "mark it as what? `bisect mark COMMIT good|bad`");
	return say_of(job, options, strcmp(options->mark, "good") ? EVENT_BAD : EVENT_GOOD,
		"by hand", err);
}

/* What can be taken back: what a person or a measurement said. */
static bool can_be_undone(const struct bisect_event *event)
{
	return !event->undone && (event->kind == EVENT_SKIP || event->kind == EVENT_GOOD ||
					 event->kind == EVENT_BAD || event->kind == EVENT_BOOT);
}

static int do_undo(struct bisect_job *job, const struct options *options, struct err *err)
{
	const struct bisect_record *record = &job->record;
	size_t i = record->event_count;
	bool was_mark;
	int ret;

	while (i > 0 && !can_be_undone(&record->events[i - 1]))
		i--;
	if (!i)
		return err_set(err, ERR_USAGE, "there is nothing to undo");
	log_line(LOG_INFO, "undone: %s of %.12s", bisect_event_name(record->events[i - 1].kind),
		record->steps[record->events[i - 1].position].name);
	was_mark =
		record->events[i - 1].kind == EVENT_GOOD || record->events[i - 1].kind == EVENT_BAD;
	ret = bisect_note(job,
		&(struct bisect_event){
			.kind = EVENT_UNDO, .other = (int)record->events[i - 1].number, .text = ""},
		err);
	if (!ret && was_mark)
		ret = bisect_restage(job, err);
	return ret ? ret : do_answer(job, options, err);
}

/* A larger budget: `resume` goes on with it. */
static int do_more(struct bisect_job *job, const struct options *options, struct err *err)
{
	int64_t boots;
	char *text;
	int ret;

	if (!options->which)
		return err_set(err, ERR_USAGE, "how many boots more? `bisect more 20`");
	ret = num_int(options->which, 1, MORE_BOOTS_MAX, &boots, err);
	if (ret)
		return err_wrap(err, "bisect more");
	text = xasprintf("Given %lld boots more.", (long long)boots);
	ret = bisect_note(job,
		&(struct bisect_event){.kind = EVENT_NOTE, .other = (int)boots, .text = text}, err);
	free(text);
	return ret ? ret : do_answer(job, options, err);
}

static int do_log(
	struct bisect_job *job, const struct options *options KB_UNUSED, struct err *err KB_UNUSED)
{
	struct str out = STR_INIT;

	bisect_log_write(&job->record, &out);
	ui_write_text(&out);
	str_release(&out);
	return STATUS_FINE;
}

static const struct action {
	const char *name;
	int (*run)(struct bisect_job *job, const struct options *options, struct err *err);
} actions[] = {
	{"begin", do_begin},
	{"status", do_answer},
	{"report", do_answer},
	{"skip", do_skip},
	{"mark", do_mark},
	{"undo", do_undo},
	{"more", do_more},
	{"log", do_log},
	{NULL, do_walk},
};

/* --- replay: neither database nor machine --- */

static int replay(struct cmd *cmd, const struct options *options, struct err *err)
{
	static const struct trail_cost cost = {600, 60, 10};
	struct bisect_finding finding;
	struct bisect_record record;
	struct bisect_report report;
	struct bisect_form form;
	struct str text = STR_INIT;
	int ret;

	if (!options->which)
		return err_set(err, ERR_USAGE, "replay which file? One that `bisect log` wrote");
	ret = file_read(options->which, LOG_MAX_BYTES, &text, err);
	if (!ret)
		ret = bisect_log_read(
			cmd->arena, options->which, str_text(&text), text.len, &record, err);
	str_release(&text);
	if (!ret)
		ret = bisect_trail(&record, &cost, cmd->arena, &finding, err);
	if (!ret)
		ret = bisect_report_load(NULL, &record, &finding, cmd->arena, &report, err);
	return ret ? ret : (int)bisect_write(cmd, &report, form_of(options, &form));
}

static int ask_oracle(struct cmd *cmd, const struct options *options, struct err *err)
{
	struct bisect_oracle oracle = options->oracle;

	oracle.confidence = (double)options->spec.confidence_pct / 100;
	oracle.max_boots = options->spec.max_boots;
	oracle.json = cmd->global->json;
	return bisect_ask_oracle(&oracle, err);
}

static const struct action *find_action(const char *what, struct err *err)
{
	size_t i = 0;

	while (actions[i].name && (!what || strcmp(actions[i].name, what)))
		i++;
	if (!actions[i].name && what) {
		err_set(err, ERR_USAGE,
			"'%.60s' is none of begin, status, report, skip, mark, undo, more, log, "
			"replay",
			what);
		return NULL;
	}
	return &actions[i];
}

static bool is_new(const struct options *options)
{
	return !options->step && (!options->what || !strcmp(options->what, "begin"));
}

static int open_stored(
	struct cmd *cmd, const struct options *options, struct bisect_job *job, struct err *err)
{
	struct study study = {0};
	struct err no_lab = ERR_INIT;
	int64_t id;
	int ret;

	if (lab_find(cmd->arena, NULL, &study.lab, &no_lab))
		study.lab.database = cmd->db_path;
	ret = study_open_store(cmd, &study, STORE_WRITE, err);
	if (!ret)
		ret = store_bisect_find(cmd->store, options->of, &id, err);
	return ret ? ret : bisect_open(cmd, id, job, err);
}

/* git takes 128 and more as the end of its bisect, 1 to 127 as what a commit is. */
static int run_step(struct bisect_job *job, int64_t jobs, int ret, struct err *err)
{
	struct str text = STR_INIT;

	if (!ret)
		ret = bisect_prepare(job, jobs, err);
	if (!ret)
		ret = bisect_step(job, err);
	if (ret >= 0)
		return ret;
	str_add_safe(&text, err->text, strlen(err->text));
	log_line(LOG_WARN, "%s", str_text(&text));
	str_release(&text);
	return 128 + (int)status_of_error((enum err_code)ret) % 100;
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	const struct action *action;
	struct bisect_job job = {.cmd = cmd};
	int ret;

	if (options->oracle.command)
		return ask_oracle(cmd, options, err);
	if (options->what && !strcmp(options->what, "replay"))
		return replay(cmd, options, err);
	action = find_action(options->what, err);
	if (!action)
		return ERR_USAGE;
	ret = is_new(options) ? bisect_begin(cmd, &options->spec, options->jobs, &job, err)
			      : open_stored(cmd, options, &job, err);
	if (options->step)
		ret = run_step(&job, options->jobs, ret, err);
	else if (!ret)
		ret = action->run(&job, options, err);
	bisect_close(&job);
	store_close(cmd->store);
	cmd->store = NULL;
	return ret;
}

const struct verb verb_bisect = {
	.name = "bisect",
	.summary = "which commit changed the numbers, and how sure that is",
	.about = "Measures commits between a good and a bad one on a machine until one of "
		 "them can be named with the asked-for probability, however much the "
		 "numbers scatter, and proves it against its parent. Commits that do not "
		 "build or boot are passed over. It can be stopped at any time; `kbracket "
		 "resume` goes on. Exits 0 when nothing changed, 1 when a culprit was found, "
		 "4 when it is not decided or the proof fails.",
	.needs = NEEDS_NOTHING,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
