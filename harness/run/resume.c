/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "run/booting.h"
#include "run/collect.h"
#include "run/console.h"
#include "run/fault.h"
#include "run/prove.h"
#include "run/resume.h"

static const struct store_attempt *last_proved(const struct store_boot *boot)
{
	if (!boot->attempt_count ||
		strcmp(boot->attempts[boot->attempt_count - 1].outcome, "proved"))
		return NULL;
	return &boot->attempts[boot->attempt_count - 1];
}

/* Does the kernel that was proved still run? */
static bool same_kernel(struct rig *rig, const struct store_attempt *attempt)
{
	static const char *const arguments[] = {"proof", NULL};
	json_t *seen = NULL;
	bool same;

	if (remote_json(&rig->remote, arguments, &seen, NULL))
		return false;
	same = !strcmp(json_get_text(seen, "boot_id", ""), attempt->kernel_boot_id);
	json_decref(seen);
	return same;
}

/* It must also still be as it should be. */
static int find_alive(struct rig *rig, const struct store_boot *boot,
	const struct store_attempt *attempt, struct live *live, bool *alive, struct err *err)
{
	struct prove_answer answer = {.detail = ""};
	struct err why = ERR_INIT;
	int ret;

	if (!same_kernel(rig, attempt))
		return 0;
	ret = booting_prove(rig, boot, NULL, &answer, &why);
	if (ret == ERR_INTERRUPTED)
		return err_set(err, ret, "%s", why.text);
	*alive = !ret && !answer.reason;
	if (*alive) {
		live->attempt_id = attempt->id;
		(void)snprintf(live->boot_id, sizeof(live->boot_id), "%s", answer.boot_id);
	}
	return 0;
}

/* A run that was under way when kbracket ended. */
static int settle(struct rig *rig, const struct store_boot *boot, struct live *live, bool alive,
	const struct store_run *run, struct err *err)
{
	struct outcome outcome = {.reason = NULL};
	enum collected end = COLLECT_DIED;
	struct str failure = STR_INIT;
	char *place = collect_place(rig, run);
	int64_t again;
	int ret = alive ? collect_reply(rig, live, run, &outcome, &end, err) : 0;

	if (!ret && end == COLLECTED && !(outcome.reason && !strcmp(outcome.reason, "cancelled"))) {
		engine_note(rig->engine, boot->id, "collected",
			"run %d of boot %d had ended without us and was collected", run->position,
			boot->ordinal);
		ret = collect_store(rig, boot, live, run, &outcome, &failure, err);
	} else if (!ret) {
		ret = store_run_interrupted(
			rig->engine->store, run->id, "kbracket ended while it ran", &again, err);
	}
	if (alive && end != COLLECT_DIED) {
		str_reset(&live->last_place);
		str_add(&live->last_place, place);
	}
	outcome_release(&outcome);
	str_release(&failure);
	free(place);
	return ret;
}

static int settle_runs(struct rig *rig, const struct store_boot *boot, struct live *live,
	bool alive, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct store_run *runs;
	size_t count = 0;
	int ret = store_load_runs(rig->engine->store, boot->id, &arena, &runs, &count, err);

	for (size_t i = 0; i < count && !ret; i++) {
		if (runs[i].state == STATE_STARTED)
			ret = settle(rig, boot, live, alive, &runs[i], err);
		else if (runs[i].state != STATE_PLANNED)
			estimate_ran(rig->engine->estimate, rig->index,
				(size_t)runs[i].condition_position, -1);
	}
	arena_release(&arena);
	return ret;
}

/* Consoles that a dead kbracket left. */
static int keep_consoles(
	struct rig *rig, const struct store_boot *boot, size_t count, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++)
		ret = console_store(rig, boot, boot->attempts[i].id, boot->attempts[i].number, err);
	return ret;
}

int resume_boot(struct rig *rig, const struct store_boot *boot, struct live *live, bool *alive,
	struct err *err)
{
	const struct store_attempt *attempt = last_proved(boot);
	int ret = 0;

	if (boot->state != STATE_STARTED)
		return 0;
	if (attempt)
		ret = find_alive(rig, boot, attempt, live, alive, err);
	if (!ret)
		ret = settle_runs(rig, boot, live, *alive, err);
	if (!ret)
		ret = keep_consoles(rig, boot, boot->attempt_count - *alive, err);
	fault_point("resumed");
	if (!ret && attempt && !*alive)
		engine_note(rig->engine, boot->id, "second-start",
			"boot %d goes on in a new start of its kernel: the old one is gone",
			boot->ordinal);
	return ret;
}
