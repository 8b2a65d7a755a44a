/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "backend/lab.h"

/*
 * The ladder back to a lab machine's own kernel. It answers with that: done. It answers with a
 * kernel of ours: it is restarted. It does not answer: it is waited for, since a panic restarts it,
 * and then power-cycled. Each rung has a deadline.
 */

enum { POWER_CYCLES = 2, ASK_S = 20, POWER_S = 120 };

enum found { FOUND_OWN, FOUND_OURS, FOUND_NOTHING };

static void tell(const struct machine *machine, const char *what)
{
	log_line(LOG_INFO, "machine '%s': %s", machine->spec->name, what);
}

static int look(struct machine *machine, enum found *found, struct err *err)
{
	struct str release = STR_INIT;
	bool is_ours = false;
	int ret = lab_running(machine, &is_ours, &release, err);

	*found = ret ? FOUND_NOTHING : is_ours ? FOUND_OURS : FOUND_OWN;
	str_release(&release);
	/* waiting or the power switch mend none of these */
	return ret == ERR_INTERRUPTED || (ret && ssh_was_refused(lab_of(machine)->ssh)) ? ret : 0;
}

/* Waits for an answer and looks which kernel gives it. */
static int wait_and_look(
	struct machine *machine, int64_t wait_ns, enum found *found, struct err *err)
{
	int ret = machine_wait_answer(machine, NULL, clock_now_ns() + wait_ns, err);

	*found = FOUND_NOTHING;
	if (ret == 0)
		return look(machine, found, err);
	return ret == ERR_INTERRUPTED || ssh_was_refused(lab_of(machine)->ssh) ? ret : 0;
}

/* A shut-down of its own; the kernel of the default boot entry comes next. */
static int restart(struct machine *machine, enum found *found, struct err *err)
{
	static const char *const argv[] = {"sh", "-c",
		"sync; (sleep 0.2; systemctl reboot || reboot || reboot -f) >/dev/null 2>&1 "
		"</dev/null &",
		NULL};
	struct str old = STR_INIT;
	int ret = machine_boot_id(machine, ASK_S * NS_PER_S, &old, err);

	tell(machine, "it answers with a kernel of kbracket's: restarting it");
	if (ret == 0)
		ret = machine_command(machine, argv, ASK_S * NS_PER_S, err);
	ssh_drop(lab_of(machine)->ssh);
	if (ret == 0)
		ret = machine_wait_answer(machine, str_text(&old),
			clock_now_ns() + machine->spec->boot_timeout_ns, err);
	str_release(&old);
	if (ret == 0)
		return look(machine, found, err);
	*found = FOUND_NOTHING;
	return ret == ERR_INTERRUPTED ? ret : 0;
}

static int power_cycle(struct machine *machine, enum found *found, struct err *err)
{
	struct proc_spec spec = {
		.argv = machine->spec->power_cycle, .timeout_ns = POWER_S * NS_PER_S};
	int ret;

	if (!spec.argv[0])
		return err_set(err, ERR_INFRA,
			"it does not answer and its file has no power: {cycle: ...} command; "
			"restart it, then `kbracket resume`");
	tell(machine, "it does not answer: power cycle");
	ssh_drop(lab_of(machine)->ssh);
	ret = proc_check(&spec, NULL, err);
	if (ret)
		return err_wrap(err, "power cycle");
	return wait_and_look(machine, machine->spec->boot_timeout_ns, found, err);
}

static int climb(struct machine *machine, enum found *found, struct err *err)
{
	int ret = look(machine, found, err);

	if (ret == 0 && *found == FOUND_NOTHING) {
		tell(machine, "it does not answer: waiting for it to restart");
		ssh_drop(lab_of(machine)->ssh);
		ret = wait_and_look(machine, machine->spec->power_wait_ns, found, err);
	}
	if (ret == 0 && *found == FOUND_OURS)
		ret = restart(machine, found, err);
	for (int i = 0; ret == 0 && *found != FOUND_OWN && i < POWER_CYCLES; i++)
		ret = power_cycle(machine, found, err);
	return ret;
}

int lab_recover(struct machine *machine, struct err *err)
{
	enum found found = FOUND_NOTHING;
	int ret = climb(machine, &found, err);

	if (ret == 0 && found == FOUND_OURS)
		return err_set(err, ERR_INFRA,
			"it keeps coming up with a kernel of kbracket's: its default boot entry is "
			"not "
			"its own kernel");
	if (ret == 0 && found == FOUND_NOTHING)
		return err_set(err, ERR_INFRA,
			"it does not come back after %d power cycles: look at it, then `kbracket "
			"resume`",
			POWER_CYCLES);
	return ret;
}
