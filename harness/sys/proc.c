/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/stop.h"
#include "sys/child.h"
#include "sys/plumbing.h"
#include "sys/proc.h"

enum {
	PUMP_BYTES = 1 << 20,  /* of one stream in one turn of the loop */
	DRAIN_BYTES = 1 << 20, /* after the end; a pipe holds no more */
	TAIL_BYTES = 600,      /* of a failed command's words in an error text */
};

static const int64_t term_grace_ns = 2 * NS_PER_S;
static const int64_t kill_grace_ns = 10 * NS_PER_S;

/* How far the kill ladder has been climbed. */
enum rung { RUNG_NONE, RUNG_TERM, RUNG_KILL };

struct run {
	const struct proc_spec *spec;
	struct proc_result *result;
	struct child child;
	struct plumbing plumbing;
	int64_t deadline_ns; /* of the spec, then of the present rung; negative: none */
	enum rung rung;
	bool interrupted;
};

static void climb(struct run *run)
{
	run->rung = run->rung == RUNG_NONE ? RUNG_TERM : RUNG_KILL;
	child_signal(&run->child, run->rung == RUNG_TERM ? SIGTERM : SIGKILL);
	run->deadline_ns =
		clock_now_ns() + (run->rung == RUNG_TERM ? term_grace_ns : kill_grace_ns);
}

/* Decides whether the child has to go, and why. */
static void check_reasons(struct run *run)
{
	bool passed = run->deadline_ns >= 0 && clock_now_ns() >= run->deadline_ns;

	if (run->rung != RUNG_NONE) {
		if (passed && run->rung == RUNG_TERM)
			climb(run);
		return;
	}
	run->interrupted = !run->spec->ignore_stop && stop_requested();
	run->result->output_limit = plumbing_is_over(&run->plumbing);
	run->result->timed_out = passed;
	if (run->interrupted || run->result->output_limit || passed ||
		plumbing_write_errno(&run->plumbing))
		climb(run);
}

static void wait_for_events(struct run *run)
{
	bool may_stop = !run->spec->ignore_stop && run->rung == RUNG_NONE;
	struct pollfd fds[] = {{.fd = run->child.pidfd, .events = POLLIN},
		{.fd = may_stop ? stop_fd() : -1, .events = POLLIN},
		{.fd = run->plumbing.streams[0].fd, .events = POLLIN},
		{.fd = run->plumbing.streams[1].fd, .events = POLLIN}};

	(void)poll(fds, ARRAY_SIZE(fds), clock_poll_ms(run->deadline_ns)); /* EINTR: look again */
}

/* Returns false when even SIGKILL did not end it. */
static bool watch(struct run *run)
{
	while (!child_wait(&run->child, 0)) {
		if (run->rung == RUNG_KILL && clock_now_ns() >= run->deadline_ns)
			return false;
		wait_for_events(run);
		plumbing_pump(&run->plumbing, PUMP_BYTES);
		check_reasons(run);
	}
	return true;
}

/* The child is running: see it to its end. */
static int see_through(struct run *run, struct err *err)
{
	const char *name = run->spec->argv[0];

	if (!watch(run)) {
		child_give_up(&run->child);
		return err_set(err, ERR_INFRA, "%s (process %d) does not end, even killed", name,
			(int)run->child.pid);
	}
	child_reap(&run->child, run->result);
	plumbing_pump(&run->plumbing, DRAIN_BYTES);
	if (run->interrupted)
		return err_set(err, ERR_INTERRUPTED, "%s was interrupted", name);
	if (plumbing_write_errno(&run->plumbing))
		return err_errno(err, ERR_INFRA, plumbing_write_errno(&run->plumbing),
			"cannot write the output of %s to %s", name, run->spec->output_path);
	run->result->output_limit |= plumbing_is_over(&run->plumbing);
	return 0;
}

int proc_run(const struct proc_spec *spec, struct proc_result *result, struct err *err)
{
	struct run run = {.spec = spec, .result = result, .deadline_ns = -1};
	int ret;

	proc_result_release(result);
	result->timeout_ns = spec->timeout_ns;
	if (!spec->ignore_stop) {
		ret = stop_check(err);
		if (ret)
			return ret;
	}
	ret = plumbing_open(&run.plumbing, spec, result, err);
	if (ret == 0)
		ret = child_spawn(&run.child, spec, run.plumbing.child_fds, err);
	plumbing_close_child_ends(&run.plumbing);
	if (ret == 0) {
		if (spec->timeout_ns > 0)
			run.deadline_ns = run.child.started_ns + spec->timeout_ns;
		ret = see_through(&run, err);
	}
	plumbing_close(&run.plumbing);
	return ret;
}

void proc_describe(const struct proc_result *result, struct str *out)
{
	if (result->timed_out) {
		str_add(out, "no end within ");
		num_add_duration(out, result->timeout_ns);
	} else if (result->output_limit) {
		str_add(out, "ended by us for printing too much");
	} else if (result->signal) {
		str_addf(
			out, "killed by signal %d (%s)", result->signal, strsignal(result->signal));
	} else {
		str_addf(out, "exit %d", result->exit_code);
	}
}

/* The last lines of what it said, on one line. */
static void add_tail(struct str *out, const struct str *said)
{
	size_t end = said->len, start;

	while (end && strchr("\r\n \t", said->text[end - 1]))
		end--;
	start = end > TAIL_BYTES ? end - TAIL_BYTES : 0;
	if (start) {
		const char *newline = memchr(said->text + start, '\n', end - start);

		if (newline)
			start = (size_t)(newline - said->text) + 1;
	}
	while (start < end) {
		const char *line = said->text + start;
		const char *newline = memchr(line, '\n', end - start);
		size_t len = newline ? (size_t)(newline - line) : end - start;

		str_add_safe(out, line, len && line[len - 1] == '\r' ? len - 1 : len);
		if (newline)
			str_add(out, " | ");
		start += len + 1;
	}
}

static int bad_end(const struct proc_spec *spec, const struct proc_result *result, struct err *err)
{
	struct str text = STR_INIT;
	int ret;

	proc_describe(result, &text);
	if (spec->output_path)
		str_addf(&text, "; its output is in %s", spec->output_path);
	else if (result->err_out.len || result->out.len)
		str_add(&text, ": ");
	add_tail(&text, result->err_out.len ? &result->err_out : &result->out);
	ret = err_set(err, result->timed_out ? ERR_TIMEOUT : ERR_INFRA, "%s: %s", spec->argv[0],
		str_text(&text));
	str_release(&text);
	return ret;
}

int proc_check(const struct proc_spec *spec, struct str *out, struct err *err)
{
	struct proc_result result = PROC_RESULT_INIT;
	int ret = proc_run(spec, &result, err);

	if (ret == 0 && (result.exit_code != 0 || result.timed_out || result.output_limit))
		ret = bad_end(spec, &result, err);
	if (ret == 0 && out) {
		str_release(out);
		*out = result.out;
		result.out = (struct str)STR_INIT;
	}
	proc_result_release(&result);
	return ret;
}

void proc_result_release(struct proc_result *result)
{
	str_release(&result->out);
	str_release(&result->err_out);
	*result = (struct proc_result)PROC_RESULT_INIT;
}
