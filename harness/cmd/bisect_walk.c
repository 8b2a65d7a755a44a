/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way of a bisect: decide, build, boot, again; then the proof and the answer. */
#include "base/base.h"

#include <math.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "cmd/answer.h"
#include "cmd/bisect.h"
#include "cmd/bisect_boot.h"
#include "judge/bisect_trail.h"
#include "report/bisect.h"
#include "sys/gitrepo.h"

/* Where nothing was ever measured: a kernel takes minutes, a boot a minute, a run seconds. */
static const struct trail_cost first_guess = {600, 60, 10};

static int load_cost(struct bisect_job *job, struct trail_cost *cost, struct err *err)
{
	const struct bisect_record *record = &job->record;
	struct store *store = job->cmd->store;
	int ret = store_build_seconds(store, &cost->build, err);

	if (!ret)
		ret = store_boot_seconds(store, record->machine, &cost->boot, err);
	if (!ret)
		ret = store_run_seconds(store, record->machine, record->condition, &cost->run, err);
	if (isnan(cost->build))
		cost->build = first_guess.build;
	if (isnan(cost->boot))
		cost->boot = first_guess.boot;
	if (isnan(cost->run))
		cost->run = first_guess.run;
	return ret;
}

int bisect_decide(struct bisect_job *job, struct bisect_finding *finding, struct err *err)
{
	struct trail_cost cost;
	int ret = load_cost(job, &cost, err);

	return ret ? ret : bisect_trail(&job->record, &cost, &job->arena, finding, err);
}

/* A bound of the person's own was reached. */
static bool is_late(const struct bisect_job *job)
{
	const struct bisect_record *record = &job->record;
	return record->spec.max_hours > 0 &&
	       (double)(clock_wall_ns() - record->since_ns) > record->spec.max_hours * 3600e9;
}

static int note_late(struct bisect_job *job, struct err *err)
{
	char *text = xasprintf(
		"Stopped after %g hours, as was asked (--max-hours).", job->record.spec.max_hours);
	int ret = bisect_note(job, &(struct bisect_event){.kind = EVENT_NOTE, .text = text}, err);

	free(text);
	return ret;
}

/* The most probable step, for progress. */
static int likeliest(const struct bisect_job *job, const struct bisect_finding *finding)
{
	int best = 1;

	for (size_t i = 1; i <= job->record.listed; i++)
		if (finding->posterior[i] > finding->posterior[best])
			best = (int)i;
	return best;
}

static void tell_next(const struct bisect_job *job, const struct bisect_finding *finding)
{
	const struct bisect_step *next = &job->record.steps[finding->next];
	int best = likeliest(job, finding);

	log_line(LOG_INFO, "%lld boots so far; next %.12s (\"%.60s\")%s%s",
		(long long)finding->boots, next->name, next->subject, finding->why[0] ? ": " : "",
		finding->why);
	if (finding->boots)
		log_line(LOG_INFO,
			"  likeliest so far: %.12s (\"%.50s\") %.1f %%, no change %.1f %%",
			job->record.steps[best].name, job->record.steps[best].subject,
			100 * finding->posterior[best], 100 * finding->none);
}

/* One step of the way: a kernel that is not there yet is built, and everything is thought over
 * again, since its code may be that of another; else it is booted. */
static int take_step(struct bisect_job *job, const struct bisect_finding *finding, struct err *err)
{
	bool built;
	int ret = bisect_build(job, finding->next, &built, err);

	if (ret || built)
		return ret;
	return bisect_boot(job, finding->next, finding->next_runs, err);
}

static int tell_lost_end(
	const struct bisect_job *job, const struct bisect_finding *finding, struct err *err)
{
	return err_set(err, ERR_INFRA,
		"%.12s is an end and cannot be tested (%.300s): begin a bisect with another %s "
		"end, "
		"or, where that was no fault of it, `kbracket bisect undo --of %lld` and `kbracket "
		"resume %lld`",
		job->record.steps[finding->lost_end].name,
		bisect_skipped(&job->record, finding->lost_end),
		finding->lost_end == job->record.bad ? "bad" : "good", (long long)job->id,
		(long long)job->id);
}

int bisect_measure(struct bisect_job *job, struct bisect_finding *finding, struct err *err)
{
	int told = -1, ret;

	for (;;) {
		ret = stop_check(err);
		if (!ret)
			ret = bisect_settle(job, err);
		if (!ret)
			ret = bisect_decide(job, finding, err);
		if (!ret && finding->lost_end >= 0)
			ret = tell_lost_end(job, finding, err);
		if (ret || (finding->word != FOUND_SEARCHING && !finding->splits))
			return ret;
		if (finding->splits) {
			ret = bisect_split(job, finding, err);
		} else if (is_late(job)) {
			return note_late(job, err);
		} else {
			if (told != finding->next || finding->boots)
				tell_next(job, finding);
			told = finding->next;
			ret = take_step(job, finding, err);
		}
		if (ret)
			return ret;
	}
}

/* The person's refs may mean other commits now: what was listed stays. */
static int look_at_ends(struct bisect_job *job, struct err *err)
{
	const struct bisect_record *record = &job->record;
	struct gitrepo *repo = NULL;
	struct err ignored = ERR_INIT;
	struct gitid now;
	char *text;
	int ret = 0;

	if (record->axis != AXIS_COMMITS || gitrepo_open(record->tree, &repo, &ignored))
		return 0; /* builds will tell */
	if (!gitrepo_resolve(repo, record->spec.bad, &now, NULL, &ignored) &&
		strcmp(now.hex, record->steps[record->bad].name)) {
		text = xasprintf("%s meant %.12s when this began and now means %.12s: the bisect "
				 "stays with what it listed.",
			record->spec.bad, record->steps[record->bad].name, now.hex);
		log_line(LOG_WARN, "%s", text);
		if (bisect_last(record, EVENT_NOTE) < 0 ||
			strcmp(record->events[bisect_last(record, EVENT_NOTE)].text, text))
			ret = bisect_note(
				job, &(struct bisect_event){.kind = EVENT_NOTE, .text = text}, err);
		free(text);
	}
	gitrepo_free(repo);
	return ret;
}

static int finish(struct bisect_job *job, struct err *err)
{
	struct bisect_finding finding;
	int ret = look_at_ends(job, err);

	if (!ret)
		ret = bisect_measure(job, &finding, err);
	if (!ret && finding.word == FOUND_SEARCHING)
		return 0; /* --max-hours */
	if (!ret)
		ret = bisect_prove(job, &finding, err);
	return ret ? ret : store_experiment_move(job->cmd->store, job->id, STATE_DONE, err);
}

int bisect_go(struct bisect_job *job, const struct bisect_form *form, struct err *err)
{
	int ret = finish(job, err);

	if (ret == ERR_INTERRUPTED && !strstr(err->text, "resume"))
		return err_wrap(err, "stopped; `kbracket resume %lld` goes on", (long long)job->id);
	if (ret)
		return ret;
	return bisect_answer(job, form, err);
}

static enum status status_of(const struct bisect_report *report)
{
	switch (report->finding->word) {
	case FOUND_CULPRIT:
	case FOUND_RANGE:
	case FOUND_SEVERAL:
		return bisect_report_proved(report) == PROVED_NO ? STATUS_OPEN : STATUS_REGRESSION;
	case FOUND_NONE:
		return STATUS_FINE;
	case FOUND_SEARCHING:
	case FOUND_UNDECIDED:
		return STATUS_OPEN;
	}
	BUG("no such finding");
}

enum status bisect_write(
	struct cmd *cmd, const struct bisect_report *report, const struct bisect_form *form)
{
	struct layout layout = answer_layout();
	struct str out = STR_INIT;

	if (form->mail)
		bisect_report_mail(report, &layout, &out);
	else if (cmd->global->json)
		bisect_report_json(report, &out);
	else
		bisect_report_text(report, cmd->global->verbose, &layout, &out);
	ui_write_text(&out);
	str_release(&out);
	return status_of(report);
}

/* Verdicts of the proofs that have ended. */
static int judge_proofs(struct bisect_job *job, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < job->record.event_count && !ret; i++) {
		const struct bisect_event *event = &job->record.events[i];
		struct store_experiment head;

		if (event->kind != EVENT_PROOF || event->undone)
			continue;
		ret = store_load_head(
			job->cmd->store, event->experiment_id, &job->arena, &head, err);
		if (!ret && head.state == STATE_DONE)
			ret = answer_judge(job->cmd, event->experiment_id, err);
		if (ret == ERR_NOT_FOUND)
			ret = 0; /* pruned */
	}
	return ret;
}

int bisect_answer(struct bisect_job *job, const struct bisect_form *form, struct err *err)
{
	struct bisect_finding finding;
	struct bisect_report report;
	int ret = judge_proofs(job, err);

	if (!ret)
		ret = bisect_decide(job, &finding, err);
	if (!ret)
		ret = bisect_report_load(
			job->cmd->store, &job->record, &finding, &job->arena, &report, err);
	return ret ? ret : (int)bisect_write(job->cmd, &report, form);
}
