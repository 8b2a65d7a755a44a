/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/strv.h"
#include "model/toggle.h"
#include "run/booting.h"
#include "run/console.h"
#include "run/fault.h"
#include "run/hooks.h"
#include "run/knobs.h"
#include "run/parts.h"
#include "run/programs.h"
#include "run/prove.h"
#include "run/resume.h"
#include "run/rig.h"
#include "run/running.h"

enum { TRIES = 2 }; /* failed starts of a boot's kernel, over all sessions */

/* The machine loads no kernel at all as it is set up: no boot is to blame, and none is lost. */
static const char REFUSED[] = "refused";

/* Why a try failed. */
struct failure {
	const char *reason;
	bool final;    /* trying again is of no use */
	bool answered; /* a kernel runs: it is not the start that failed */
	struct err err;
};

static const struct variant *variant_of(const struct rig *rig, const struct store_boot *boot)
{
	return rig->engine->experiment->variants[boot->variant->position];
}

static struct prove_expect expectation(
	struct rig *rig, const struct store_boot *boot, const char *old_boot_id)
{
	const struct build *build = &rig->engine->builds[boot->variant->position];
	struct prove_expect expect = {
		.booted = rig_is_booted(rig),
		.build_id = "",
		.release = "",
		.proc_version = "",
		.cmdline = rig_image(rig, (size_t)boot->variant->position).cmdline,
		.cpus = rig->plan->cpus,
		.features = variant_of(rig, boot)->features,
		.scheduler = argv_count(variant_of(rig, boot)->scheduler) > 0,
	};

	if (expect.booted) {
		expect.build_id = build->build_id;
		expect.release = build->release;
		expect.proc_version = build->proc_version;
		expect.old_boot_id = old_boot_id;
	}
	return expect;
}

static int read_proof(struct rig *rig, json_t **seen, struct err *err)
{
	static const char *const arguments[] = {"proof", NULL};

	return remote_json(&rig->remote, arguments, seen, err);
}

static char *read_facts(struct rig *rig)
{
	static const char *const arguments[] = {"facts", NULL};
	struct str text = STR_INIT;
	json_t *facts = NULL;
	struct err err = ERR_INIT;

	if (remote_json(&rig->remote, arguments, &facts, &err)) {
		engine_note(rig->engine, 0, "facts", "%s: %s", rig->plan->machine->name, err.text);
		return NULL;
	}
	json_write(facts, false, &text);
	json_decref(facts);
	return str_take(&text);
}

/* The kernel alone: its CPUs, features and scheduler are set afterwards. */
static int prove_kernel(struct rig *rig, const struct prove_expect *whole,
	struct prove_answer *answer, const char **features, struct err *err)
{
	struct prove_expect expect = *whole;
	json_t *seen = NULL;
	int ret = read_proof(rig, &seen, err);

	if (ret)
		return ret;
	expect.features = NULL;
	expect.cpus = 0;
	expect.scheduler =
		!strcmp(json_get_text(json_object_get(seen, "sched_ext"), "state", ""), "enabled");
	prove_check(&expect, seen, NULL, &rig->engine->arena, answer);
	*features = arena_strdup(&rig->engine->arena, json_get_text(seen, "features", ""));
	json_decref(seen);
	return 0;
}

/* Sets the switches when the right kernel is there, then looks again. */
static int set_and_prove(struct rig *rig, const struct store_boot *boot, const char *old_boot_id,
	struct prove_answer *answer, struct failure *failure)
{
	struct prove_expect expect = expectation(rig, boot, old_boot_id);
	json_t *seen = NULL, *held = NULL;
	int ret = prove_kernel(rig, &expect, answer, &expect.features_before, &failure->err);

	if (!ret && !answer->reason) {
		ret = knobs_apply(rig, variant_of(rig, boot), &held, &failure->err);
		failure->reason = "switches";
		failure->answered = ret != 0;
		failure->final = ret == ERR_NOT_FOUND;
		if (!ret)
			ret = read_proof(rig, &seen, &failure->err);
	}
	if (!ret && !answer->reason)
		prove_check(&expect, seen, held, &rig->engine->arena, answer);
	json_decref(seen);
	json_decref(held);
	return ret;
}

int booting_prove(struct rig *rig, const struct store_boot *boot, const char *old_boot_id,
	struct prove_answer *answer, struct err *err)
{
	struct failure failure = {.reason = "boot-failed"};
	int ret = set_and_prove(rig, boot, old_boot_id, answer, &failure);

	return ret ? err_set(err, ret, "%s", failure.err.text) : 0;
}

static char *present_boot_id(struct rig *rig)
{
	json_t *seen = NULL;
	char *id;

	if (!rig_is_booted(rig) || read_proof(rig, &seen, NULL))
		return NULL;
	id = xstrdup(json_get_text(seen, "boot_id", ""));
	json_decref(seen);
	return id;
}

/* A part of a boot that runs already. Without that kernel there is no such part. */
static int join_kernel(struct rig *rig, const struct store_boot *boot, const char *boot_id,
	struct prove_answer *answer, struct failure *failure)
{
	json_t *seen = NULL;
	bool there = !read_proof(rig, &seen, NULL);
	bool same = there && !strcmp(json_get_text(seen, "boot_id", ""), boot_id);

	json_decref(seen);
	if (same)
		return set_and_prove(rig, boot, NULL, answer, failure);
	failure->answered = there;
	failure->reason = "toggle-lost";
	failure->final = true;
	return err_set(&failure->err, ERR_INFRA,
		"the kernel start that the other parts of this toggle were measured in is over");
}

/* One that goes through the firmware although the machine boots by kexec. */
static bool is_cold(const struct rig *rig, const struct store_boot *boot)
{
	int64_t every = rig->plan->machine->cold_every;

	return every && boot->ordinal % every == 0;
}

/* Starts the kernel and proves it. On failure says why; the attempt stays open. */
static int start_kernel(struct rig *rig, const struct store_boot *boot, struct live *live,
	struct prove_answer *answer, struct failure *failure)
{
	struct boot_image image = rig_image(rig, (size_t)boot->variant->position);
	char *console = console_path(rig, boot, live->attempt_number);
	char *old_boot_id = present_boot_id(rig);
	const char *joined = parts_boot_id(rig, boot);
	int ret = console_prepare(console, &failure->err);

	failure->reason = "boot-failed";
	image.cold = is_cold(rig, boot);
	if (!ret && !joined)
		ret = rig->remote.ops->boot(rig->remote.machine, &image, console, &failure->err);
	if (ret == ERR_USAGE)
		failure->reason = REFUSED;
	fault_point("booted");
	if (!ret && joined)
		ret = join_kernel(rig, boot, joined, answer, failure);
	else if (!ret)
		ret = set_and_prove(rig, boot, old_boot_id, answer, failure);
	if (!ret && answer->reason) {
		failure->reason = answer->reason;
		ret = err_set(&failure->err, ERR_INFRA, "%s", answer->detail);
	}
	free(old_boot_id);
	free(console);
	return ret;
}

static int end_attempt(struct rig *rig, const struct store_boot *boot, const struct live *live,
	const struct prove_answer *answer, const struct failure *failure, struct err *err)
{
	char *facts = failure ? NULL : read_facts(rig);
	struct store_raw console;
	size_t consoles = 0;
	struct store_attempt_end end = {
		.reason = failure ? failure->reason : NULL,
		.detail = failure ? failure->err.text : NULL,
		.kernel_boot_id = answer->boot_id,
		.weak = answer->weak,
		.proof = answer->json,
		.facts = facts,
		.raws = &console,
	};
	int ret = failure ? console_keep(rig, boot, live->attempt_number, &console, &consoles, err)
			  : 0;

	end.raw_count = consoles;
	if (!ret)
		ret = store_attempt_finish(rig->engine->store, live->attempt_id, &end, err);
	if (!ret && failure)
		console_remove(rig, boot, live->attempt_number);
	free(facts);
	return ret;
}

static void tell_proved(
	struct rig *rig, const struct store_boot *boot, const struct prove_answer *answer)
{
	struct str text = STR_INIT;

	if (rig_is_booted(rig))
		str_add(&text, rig->engine->builds[boot->variant->position].release);
	if (rig_is_booted(rig) && answer->weak)
		str_add(&text, ", weak proof (no build-id)");
	rig_tell(rig, boot, PROGRESS_PROVED, str_text(&text));
	str_release(&text);
}

/* One try. 0 with failure->reason NULL: proved. Not 0: the walk must stop. */
static int try_once(struct rig *rig, const struct store_boot *boot, struct live *live,
	struct failure *failure, struct err *err)
{
	struct prove_answer answer = {.detail = ""};
	int64_t started = clock_now_ns();
	const char *method = parts_boot_id(rig, boot) ? TOGGLE_METHOD
			     : is_cold(rig, boot)
				     ? boot_method_name(BOOT_REBOOT)
				     : rig->remote.ops->boot_method(rig->remote.machine);
	int ret = engine_check_room(rig->engine, err);

	str_reset(&live->trouble);
	if (!ret)
		ret = hooks_call(rig->engine, HOOK_BEFORE_BOOT, rig, boot, &live->trouble, err);
	live->boot_trouble = live->trouble.len;
	if (!ret)
		ret = store_attempt_begin(
			rig->engine->store, boot->id, method, &live->attempt_id, err);
	if (ret)
		return ret;
	live->attempt_number++;
	fault_point("boot");
	rig_tell(rig, boot, PROGRESS_BOOT, NULL);
	ret = start_kernel(rig, boot, live, &answer, failure);
	if (ret == ERR_INTERRUPTED)
		return err_set(err, ret, "%s", failure->err.text);
	if (ret) {
		rig_tell(rig, boot, PROGRESS_BOOT_FAILED, failure->err.text);
		return end_attempt(rig, boot, live, &answer, failure, err);
	}
	failure->reason = NULL;
	(void)snprintf(live->boot_id, sizeof(live->boot_id), "%s", answer.boot_id);
	ret = end_attempt(rig, boot, live, &answer, NULL, err);
	parts_note(rig, boot, live->boot_id);
	fault_point("proved");
	estimate_booted(rig->engine->estimate, rig->index, clock_now_ns() - started);
	if (!ret)
		tell_proved(rig, boot, &answer);
	return ret;
}

static int recover(struct rig *rig, const struct store_boot *boot, bool *unusable, struct err *err)
{
	int ret;

	if (!rig_is_booted(rig))
		return 0;
	rig_tell(rig, boot, PROGRESS_RECOVER, NULL);
	engine_note(rig->engine, boot->id, "recover", "%s is brought back after a failed boot",
		rig->plan->machine->name);
	knobs_forget(rig);
	ret = rig->remote.ops->recover(rig->remote.machine, &rig->safe, err);
	*unusable = ret && ret != ERR_INTERRUPTED;
	if (*unusable)
		engine_note(rig->engine, boot->id, "lost", "%s: %s", rig->plan->machine->name,
			err->text);
	return ret;
}

static int fail_boot(struct rig *rig, const struct store_boot *boot, const struct failure *failure,
	struct err *err)
{
	engine_discount(rig->engine, rig->index, boot);
	return store_boot_finish(
		rig->engine->store, boot->id, failure->reason, failure->err.text, err);
}

/* The machine is left alone from here on, and its boots stay planned. */
static int park(struct rig *rig, const struct store_boot *boot, const struct failure *failure,
	bool *unusable, struct err *err)
{
	*unusable = true;
	engine_note(rig->engine, boot->id, "lost", "%s: %s", rig->plan->machine->name,
		failure->err.text);
	return err_set(err, ERR_INFRA, "%s", failure->err.text);
}

/* Tries until the kernel is proved or the boot has failed. */
static int start_boot(struct rig *rig, const struct store_boot *boot, struct live *live,
	bool *unusable, bool *failed, struct err *err)
{
	int tries = 0;

	for (size_t i = 0; i < boot->attempt_count; i++)
		tries += !strcmp(boot->attempts[i].outcome, "failed") &&
			 strcmp(boot->attempts[i].reason, REFUSED);
	for (;;) {
		struct failure failure = {.reason = "boot-failed"};
		int ret = try_once(rig, boot, live, &failure, err);

		if (ret || !failure.reason)
			return ret;
		if (!strcmp(failure.reason, REFUSED))
			return park(rig, boot, &failure, unusable, err);
		tries++;
		*failed = tries >= TRIES || failure.final || !rig_is_booted(rig);
		if (*failed)
			ret = fail_boot(rig, boot, &failure, err);
		/* a kernel that answers needs no recovery, and a toggle goes on in it */
		if (!ret && !failure.answered)
			ret = recover(rig, boot, unusable, err);
		if (ret || *failed)
			return ret;
	}
}

/* The kernel died under a run: its boot has failed, the machine is brought back. */
static int bury(struct rig *rig, const struct store_boot *boot, bool *unusable, struct err *err)
{
	struct failure failure = {.reason = "kernel-died"};
	int ret;

	(void)err_set(&failure.err, ERR_INFRA, "the kernel died or the machine was lost in a run");
	rig_tell(rig, boot, PROGRESS_BOOT_FAILED, failure.err.text);
	ret = fail_boot(rig, boot, &failure, err);
	return ret ? ret : recover(rig, boot, unusable, err);
}

static int finish(struct rig *rig, const struct store_boot *boot, struct live *live, bool *unusable,
	struct err *err)
{
	int ret = console_store(rig, boot, live->attempt_id, live->attempt_number, err);

	if (!ret && live->died && !live->measured)
		return bury(rig, boot, unusable, err);
	if (!ret)
		ret = store_boot_finish(rig->engine->store, boot->id, NULL, NULL, err);
	fault_point("boot-done");
	if (!ret)
		rig_tell(rig, boot, PROGRESS_BOOT_END, NULL);
	if (!ret && live->died)
		ret = recover(rig, boot, unusable, err);
	return ret;
}

int booting_walk(struct rig *rig, const struct store_boot *boot, bool *unusable, struct err *err)
{
	struct live live = {
		.watch = WATCH_BOOT_INIT,
		.kmsg_after = -1,
		.attempt_number =
			boot->attempt_count ? boot->attempts[boot->attempt_count - 1].number : 0,
	};
	bool failed = false, alive = false;
	int ret = resume_boot(rig, boot, &live, &alive, err);

	if (!ret && !alive)
		ret = start_boot(rig, boot, &live, unusable, &failed, err);
	if (!ret && !failed)
		ret = programs_check(rig, err);
	if (!ret && !failed)
		ret = running_walk(rig, boot, &live, err);
	if (!ret && !failed)
		ret = finish(rig, boot, &live, unusable, err);
	if (!ret)
		ret = hooks_call(rig->engine, HOOK_AFTER_BOOT, rig, boot, NULL, err);
	/* after another error it may be all there is of a run that could not be stored */
	if (!live.died && (!ret || ret == ERR_INTERRUPTED))
		running_forget(rig, &live);
	str_release(&live.last_place);
	str_release(&live.trouble);
	return ret;
}
