/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"
#include "base/str.h"
#include "backend/lab.h"

/*
 * The ladder back to a lab machine's own kernel. It answers with that: done. It answers with a
 * kernel of ours: it is restarted. It does not answer: it is waited for, since a panic restarts it,
 * and then power-cycled. Each rung has a deadline, and is reported when it ends.
 */

/* To connect and to ask have a limit each. */
enum { POWER_CYCLES = 2, ASK_S = 20, LOOK_S = 60, POWER_S = 120 };

enum found { FOUND_OWN, FOUND_OURS, FOUND_NOTHING };

static const char *const found_names[] = {
	[FOUND_OWN] = "own", [FOUND_OURS] = "ours", [FOUND_NOTHING] = "nothing"};

/* What a person is told at its begin. */
static void begin(const struct machine *machine, struct machine_rung *rung, const char *what)
{
	struct str text = STR_INIT;

	num_add_duration(&text, rung->limit_ns);
	log_line(LOG_INFO, "machine '%s': %s (at most %s)", machine->spec->name, what,
		str_text(&text));
	str_release(&text);
	rung->began_ns = clock_wall_ns();
	rung->took_ns = -clock_now_ns();
}

/* Returns what the walk up the ladder returns: ret when it must stop, 0 when it may go on. */
static int end(struct machine *machine, struct machine_rung *rung, int ret, const char *found,
	const struct err *why)
{
	bool refused = ssh_was_refused(lab_of(machine)->ssh);

	rung->took_ns += clock_now_ns();
	rung->found = ret && refused ? "failed" : found;
	rung->detail = ret ? why->text : "";
	if (machine->env->rung && ret != ERR_INTERRUPTED)
		machine->env->rung(machine->env->rung_arg, rung);
	/* waiting or the power switch do not mend a refusal */
	return ret == ERR_INTERRUPTED || (ret && refused) ? ret : 0;
}

static int see(struct machine *machine, enum found *found, struct err *err)
{
	struct str release = STR_INIT;
	bool is_ours = false;
	int ret = lab_running(machine, &is_ours, &release, err);

	*found = ret ? FOUND_NOTHING : is_ours ? FOUND_OURS : FOUND_OWN;
	str_release(&release);
	return ret;
}

static int look(struct machine *machine, enum found *found, struct err *err)
{
	struct machine_rung rung = {.kind = "look", .limit_ns = LOOK_S * NS_PER_S};
	int ret;

	begin(machine, &rung, "looking which kernel it runs");
	ret = see(machine, found, err);
	return end(machine, &rung, ret, found_names[*found], err);
}

/* Waits for an answer from another boot than that (NULL: any), and looks which kernel gives it. */
static int await(struct machine *machine, const char *old_boot_id, int64_t wait_ns,
	enum found *found, struct err *err)
{
	int ret = machine_wait_answer(machine, old_boot_id, clock_now_ns() + wait_ns, err);

	*found = FOUND_NOTHING;
	return ret ? ret : see(machine, found, err);
}

static int wait_for_it(struct machine *machine, enum found *found, struct err *err)
{
	struct machine_rung rung = {.kind = "wait", .limit_ns = machine->spec->power_wait_ns};
	int ret;

	begin(machine, &rung, "it does not answer: waiting for it to restart");
	ssh_drop(lab_of(machine)->ssh);
	ret = await(machine, NULL, rung.limit_ns, found, err);
	return end(machine, &rung, ret, found_names[*found], err);
}

/* A shut-down of its own; the kernel of the default boot entry comes next. */
static int restart(struct machine *machine, enum found *found, struct err *err)
{
	struct machine_rung rung = {.kind = "restart",
		.limit_ns = machine->spec->boot_timeout_ns + 4 * ASK_S * NS_PER_S};
	struct str old = STR_INIT;
	int ret;

	begin(machine, &rung, "it answers with a kernel of kbracket's: restarting it");
	lab_of(machine)->turns++;
	*found = FOUND_NOTHING;
	ret = machine_boot_id(machine, ASK_S * NS_PER_S, &old, err);
	if (ret == 0)
		ret = machine_command(machine, machine_reboot_argv, ASK_S * NS_PER_S, err);
	ssh_drop(lab_of(machine)->ssh);
	if (ret == 0)
		ret = await(machine, str_text(&old), machine->spec->boot_timeout_ns, found, err);
	str_release(&old);
	return end(machine, &rung, ret, found_names[*found], err);
}

/* *failed: the command itself did not do it. */
static int power_cycle(struct machine *machine, enum found *found, bool *failed, struct err *err)
{
	struct proc_spec spec = {
		.argv = machine->spec->power_cycle, .timeout_ns = POWER_S * NS_PER_S};
	struct machine_rung rung = {
		.kind = "power", .limit_ns = spec.timeout_ns + machine->spec->boot_timeout_ns};
	int ret;

	begin(machine, &rung, "it does not answer: power cycle");
	lab_of(machine)->turns++;
	*found = FOUND_NOTHING;
	ssh_drop(lab_of(machine)->ssh);
	ret = proc_check(&spec, NULL, err);
	*failed = ret != 0;
	if (ret)
		return end(machine, &rung, err_wrap(err, "the power command"), "failed", err);
	ret = await(machine, NULL, machine->spec->boot_timeout_ns, found, err);
	return end(machine, &rung, ret, found_names[*found], err);
}

static int check_turns(struct machine *machine, struct err *err)
{
	if (lab_of(machine)->turns < machine->spec->power_limit)
		return 0;
	return err_set(err, ERR_INFRA,
		"it was restarted or power-cycled %d times and no kernel of kbracket's came up in "
		"between: look at it, then `kbracket resume` (power: {limit: ...} is how often)",
		lab_of(machine)->turns);
}

static int climb_by_power(struct machine *machine, enum found *found, struct err *err)
{
	bool failed = false;
	int ret = 0;

	if (!machine->spec->power_cycle[0])
		return err_set(err, ERR_INFRA,
			"it does not answer and its file has no power: {cycle: ...} command; "
			"restart it, then `kbracket resume`");
	for (int i = 0; ret == 0 && *found != FOUND_OWN && i < POWER_CYCLES; i++) {
		ret = check_turns(machine, err);
		if (ret == 0)
			ret = power_cycle(machine, found, &failed, err);
	}
	return ret == 0 && failed ? err->code : ret;
}

static int climb(struct machine *machine, enum found *found, struct err *err)
{
	int ret = look(machine, found, err);

	if (ret == 0 && *found == FOUND_NOTHING)
		ret = wait_for_it(machine, found, err);
	if (ret == 0 && *found == FOUND_OURS)
		ret = check_turns(machine, err);
	if (ret == 0 && *found == FOUND_OURS)
		ret = restart(machine, found, err);
	if (ret == 0 && *found != FOUND_OWN)
		ret = climb_by_power(machine, found, err);
	return ret;
}

int lab_recover(struct machine *machine, struct err *err)
{
	enum found found = FOUND_NOTHING;
	struct err why = ERR_INIT;
	int ret = climb(machine, &found, &why);

	if (ret)
		return err_set(err, (enum err_code)ret, "%s", why.text);
	if (found == FOUND_OURS)
		return err_set(err, ERR_INFRA,
			"it keeps coming up with a kernel of kbracket's: its default boot entry is "
			"not its own kernel");
	if (found == FOUND_NOTHING)
		return err_set(err, ERR_INFRA,
			"it does not come back after %d power cycles: look at it, then `kbracket "
			"resume`",
			POWER_CYCLES);
	return 0;
}
