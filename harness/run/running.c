/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>

#include "base/clock.h"
#include "base/stop.h"
#include "model/store_result.h"
#include "run/collect.h"
#include "run/fault.h"
#include "run/hooks.h"
#include "run/running.h"
#include "run/runspec.h"

enum { MAX_TRIES = 5 }; /* of a run whose connection is lost before it begins */

static void tell(struct rig *rig, const struct store_boot *boot, enum progress_kind kind,
	const struct store_run *run, size_t count, const char *text)
{
	const struct condition *condition = &rig->plan->conditions[run->condition_position];
	struct progress progress = {
		.kind = kind,
		.machine = rig->plan->machine->name,
		.variant = boot->variant->name,
		.condition = condition->name,
		.text = text,
		.boot = boot->ordinal,
		.boots = (int)rig->rows->boot_count,
		.run = run->position,
		.runs = (int)count,
		.run_kind = run->kind,
	};

	engine_tell(rig->engine, &progress);
}

/* After an answer that was not the agent's: the machine is there and the agent is not. It is put
 * there again; a machine that cannot be given one is lost. */
static int check_agent(struct rig *rig, const struct store_run *run, bool *gone,
	enum collected *end, struct err *err)
{
	static const char *const arguments[] = {"proof", NULL};
	json_t *seen = NULL;
	int ret = remote_json(&rig->remote, arguments, &seen, err);

	json_decref(seen);
	*gone = ret && ret != ERR_INTERRUPTED;
	if (*gone)
		ret = rig->remote.ops->equip(rig->remote.machine, err);
	if (!*gone || ret == ERR_INTERRUPTED)
		return ret;
	*end = ret ? COLLECT_DIED : COLLECT_NEVER_RAN;
	engine_note(rig->engine, run->boot_id, "agent", "the agent did not run on %s: %s",
		rig->plan->machine->name, ret ? err->text : "it was put there again");
	return 0;
}

/* Runs the program. *end COLLECTED: outcome is there. refused: the agent was there and said no. */
static int call_agent(struct rig *rig, struct live *live, const struct store_run *run,
	struct outcome *outcome, enum collected *end, struct str *refused, struct err *err)
{
	char *spec = runspec_json(rig, run, live->kmsg_after);
	char *place = collect_place(rig, run);
	struct remote_answer answer = REMOTE_ANSWER_INIT;
	struct strv arguments = STRV_INIT;
	struct remote_call call = {.input = spec,
		.timeout_ns = runspec_deadline_ns(rig, run),
		.max_bytes = runspec_reply_bytes(rig, run)};
	struct err why = ERR_INIT;
	int64_t received_ns;
	bool gone = false;
	int ret;

	strv_add_many(&arguments, "run", "--spec-on-stdin", place, NULL);
	if (live->last_place.len)
		strv_add_many(&arguments, "--forget", str_text(&live->last_place), NULL);
	call.arguments = strv_argv(&arguments);
	fault_point("run");
	ret = remote_call(&rig->remote, &call, &answer, &why);
	received_ns = clock_now_ns();
	fault_point("ran");
	if (!ret && answer.end == REMOTE_FAILED)
		ret = check_agent(rig, run, &gone, end, &why);
	if (!ret && !gone && answer.end != REMOTE_OK)
		str_add(refused, str_text(&answer.reason));
	else if (!ret && !gone)
		ret = outcome_parse(&answer.out, outcome, &why);
	if (!ret && !gone) {
		outcome->received_ns = received_ns;
		*end = COLLECTED;
	} else if (ret == ERR_INTERRUPTED)
		ret = err_set(err, ret, "%s", why.text);
	else if (!gone)
		ret = collect_reply(rig, live, run, outcome, end, err);
	str_reset(&live->last_place);
	str_add(&live->last_place, place);
	remote_answer_release(&answer);
	strv_release(&arguments);
	free(spec);
	free(place);
	return ret;
}

/* A run without an outcome: the reason is ours. */
static int store_failed(struct rig *rig, const struct live *live, const struct store_run *run,
	const char *reason, const char *detail, struct err *err)
{
	struct store_run_end end = {
		.run_id = run->id,
		.attempt_id = live->attempt_id,
		.reason = reason,
		.detail = detail,
		.wall_ns = -1,
		.exit_code = -1,
		.signal = -1,
		.user_ns = -1,
		.system_ns = -1,
		.max_rss_bytes = -1,
		.voluntary_switches = -1,
		.involuntary_switches = -1,
	};

	return store_run_finish(rig->engine->store, &end, err);
}

void running_forget(struct rig *rig, struct live *live)
{
	const char *arguments[] = {"forget", str_text(&live->last_place), NULL};
	struct remote_call call = {
		.arguments = arguments, .timeout_ns = 20 * NS_PER_S, .urgent = true};
	struct remote_answer answer = REMOTE_ANSWER_INIT;
	struct err ignored = ERR_INIT;

	/* What stays behind when this fails is one folder; nothing reads it again. */
	if (live->last_place.len)
		(void)!remote_call(&rig->remote, &call, &answer, &ignored);
	str_reset(&live->last_place);
	remote_answer_release(&answer);
}

/* The person wants to stop: the program is ended on the machine, the run is planned again. */
static int interrupt(struct rig *rig, const struct store_run *run, struct err *err)
{
	char *place = collect_place(rig, run);
	const char *arguments[] = {"cancel", place, NULL};
	struct remote_call call = {.arguments = arguments,
		.timeout_ns = 20 * NS_PER_S,
		.max_bytes = runspec_reply_bytes(rig, run),
		.urgent = true};
	struct remote_answer answer = REMOTE_ANSWER_INIT;
	struct err ignored = ERR_INIT;
	int64_t again;

	/* A machine that does not answer now is looked after by resume. */
	(void)!remote_call(&rig->remote, &call, &answer, &ignored);
	remote_answer_release(&answer);
	free(place);
	if (store_run_interrupted(
		    rig->engine->store, run->id, "a stop was asked for", &again, &ignored))
		engine_note(rig->engine, run->boot_id, "interrupted", "%s", ignored.text);
	return err->code;
}

/* The connection was lost, or the agent was gone, before the run began: it is planned again. */
static int plan_again(struct rig *rig, const struct live *live, struct store_run *run,
	struct str *failure, bool *again, struct err *err)
{
	static const char why[] = "the agent could not be reached before the program was started";
	int64_t id;

	if (run->attempt_try >= MAX_TRIES) {
		str_add(failure, why);
		return store_failed(rig, live, run, "connection", why, err);
	}
	*again = true;
	return store_run_interrupted(rig->engine->store, run->id, why, &id, err);
}

/* The agent found no room for the run. That is no fault of the run's, and the next ones would go
 * the same way: it is planned again, for when there is room. */
static int machine_is_full(
	struct rig *rig, const struct store_run *run, const struct str *why, struct err *err)
{
	int64_t id;
	int ret = store_run_interrupted(rig->engine->store, run->id, str_text(why), &id, err);

	rig->full = true;
	return ret ? ret
		   : err_set(err, ERR_INFRA,
			     "machine '%s': its disk is full (%s): make room there, then `kbracket "
			     "resume`",
			     rig->plan->machine->name, str_text(why));
}

/* An optional suite without its program. */
static int leave_out(struct rig *rig, const struct live *live, const struct store_run *run,
	struct str *failure, struct err *err)
{
	const struct suite *suite = rig->plan->conditions[run->condition_position].suite;

	str_addf(failure, "program %s not found on %s%s%s", suite->program,
		rig->plan->machine->name, suite->homepage[0] ? "; " : "", suite->homepage);
	return store_failed(rig, live, run, "no-program", str_text(failure), err);
}

static bool has_program(const struct rig *rig, const struct store_run *run)
{
	const struct suite *suite = rig->plan->conditions[run->condition_position].suite;

	return rig->program_paths[suite - rig->engine->experiment->suites] != NULL;
}

/* The hooks of a run; what the boot's had to tell stays. */
static int call_hooks(struct rig *rig, const struct store_boot *boot, struct live *live,
	enum hook_point at, struct err *err)
{
	if (at == HOOK_BEFORE_RUN && live->trouble.len > live->boot_trouble) {
		live->trouble.len = live->boot_trouble;
		live->trouble.text[live->trouble.len] = '\0';
	}
	return hooks_call(rig->engine, at, rig, boot, &live->trouble, err);
}

static int run_one(struct rig *rig, const struct store_boot *boot, struct live *live,
	struct store_run *run, struct str *failure, bool *again, struct err *err)
{
	struct outcome outcome = {.reason = NULL};
	enum collected end = COLLECT_DIED;
	struct err stopped = ERR_INIT;
	int ret = call_hooks(rig, boot, live, HOOK_BEFORE_RUN, err);

	if (!ret)
		ret = store_run_begin(rig->engine->store, run->id, live->attempt_id, err);
	if (ret)
		return ret;
	if (!has_program(rig, run))
		return leave_out(rig, live, run, failure, err);
	ret = call_agent(rig, live, run, &outcome, &end, failure, err);
	if (ret == ERR_INTERRUPTED)
		return interrupt(rig, run, err);
	if (ret)
		return ret;
	(void)!call_hooks(rig, boot, live, HOOK_AFTER_RUN, &stopped); /* after what is stored */
	if (strstr(str_text(failure), strerror(ENOSPC)))
		ret = machine_is_full(rig, run, failure, err);
	else if (failure->len)
		ret = store_failed(rig, live, run, "agent", str_text(failure), err);
	else if (end == COLLECTED)
		ret = collect_store(rig, boot, live, run, &outcome, failure, err);
	else if (end == COLLECT_NEVER_RAN)
		ret = plan_again(rig, live, run, failure, again, err);
	else {
		live->died = true;
		str_add(failure, "the kernel died or the machine was lost");
		ret = store_failed(rig, live, run, "kernel-died", str_text(failure), err);
	}
	outcome_release(&outcome);
	if (!ret && stopped.code)
		ret = err_set(err, stopped.code, "%s", stopped.text);
	return ret;
}

static bool is_ended(const struct store_run *run)
{
	return run->state == STATE_DONE || run->state == STATE_FAILED;
}

/* True when measured runs of the suite are still to come. */
static bool suite_goes_on(const struct rig *rig, const struct store_run *runs, size_t count,
	const struct suite *suite)
{
	for (size_t i = 0; i < count; i++)
		if (runs[i].kind != RUN_WARMUP && !is_ended(&runs[i]) &&
			rig->plan->conditions[runs[i].condition_position].suite == suite)
			return true;
	return false;
}

/* A boot that goes on in a fresh kernel start is warmed up again. */
static int plan_warmups(struct rig *rig, const struct live *live, struct store_run *runs,
	size_t count, bool *added, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++) {
		const struct suite *suite = rig->plan->conditions[runs[i].condition_position].suite;
		int64_t again;

		if (runs[i].kind != RUN_WARMUP || !is_ended(&runs[i]) ||
			runs[i].attempt_id == live->attempt_id ||
			!suite_goes_on(rig, runs, count, suite))
			continue;
		ret = store_warmup_again(rig->engine->store, runs[i].id, &again, err);
		*added = true;
	}
	return ret;
}

static int load(struct rig *rig, const struct store_boot *boot, const struct live *live,
	struct arena *arena, struct store_run **runs, size_t *count, struct err *err)
{
	bool added = false;
	int ret = store_load_runs(rig->engine->store, boot->id, arena, runs, count, err);

	if (!ret)
		ret = plan_warmups(rig, live, *runs, *count, &added, err);
	if (!ret && added)
		ret = store_load_runs(rig->engine->store, boot->id, arena, runs, count, err);
	return ret;
}

static int step(struct rig *rig, const struct store_boot *boot, struct live *live,
	struct store_run *run, size_t count, bool *again, struct err *err)
{
	struct str failure = STR_INIT;
	int64_t started = clock_now_ns();
	int ret;

	tell(rig, boot, PROGRESS_RUN, run, count, NULL);
	ret = run_one(rig, boot, live, run, &failure, again, err);
	if (!ret && !*again) {
		estimate_ran(rig->engine->estimate, rig->index, (size_t)run->condition_position,
			failure.len ? -1 : clock_now_ns() - started);
		tell(rig, boot, PROGRESS_RUN_END, run, count, failure.len ? failure.text : NULL);
	}
	str_release(&failure);
	return ret;
}

/* The kernel died under that run. Counting comes last and no verdict uses it: where nothing else is
 * left, what was measured is whole. */
static int give_up_counting(struct rig *rig, struct live *live, const struct store_run *runs,
	size_t count, size_t died, struct err *err)
{
	int ret = 0;

	for (size_t i = died; i < count; i++)
		if (runs[i].kind != RUN_COUNTED)
			return 0;
	live->measured = true;
	for (size_t i = died + 1; i < count && !ret; i++) {
		if (is_ended(&runs[i]))
			continue;
		ret = store_run_begin(rig->engine->store, runs[i].id, live->attempt_id, err);
		if (!ret)
			ret = store_failed(rig, live, &runs[i], "kernel-died",
				"the kernel had died under counters before", err);
		estimate_ran(
			rig->engine->estimate, rig->index, (size_t)runs[i].condition_position, -1);
	}
	return ret;
}

int running_walk(struct rig *rig, const struct store_boot *boot, struct live *live, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct store_run *runs = NULL;
	size_t count = 0;
	int ret = load(rig, boot, live, &arena, &runs, &count, err);

	for (size_t i = 0; i < count && !ret && !live->died; i++) {
		bool again = false;

		if (is_ended(&runs[i]))
			continue;
		ret = stop_check(err);
		if (!ret)
			ret = engine_check_room(rig->engine, err);
		if (!ret)
			ret = step(rig, boot, live, &runs[i], count, &again, err);
		if (!ret && live->died)
			ret = give_up_counting(rig, live, runs, count, i, err);
		if (!ret && again) {
			ret = store_load_runs(
				rig->engine->store, boot->id, &arena, &runs, &count, err);
			i--; /* the same position: its new try */
		}
	}
	arena_release(&arena);
	return ret;
}
