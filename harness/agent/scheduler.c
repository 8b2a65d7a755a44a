/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

#include "agent/js.h"
#include "agent/probe.h"
#include "agent/reap.h"
#include "agent/scheduler.h"
#include "agent/tool.h"

#define MARK "KBRACKET_SCHEDULER"
#define SCX "/sys/kernel/sched_ext"
#define START_NS (30 * NS_PER_S)
#define STOP_NS (5 * NS_PER_S)
#define NAP_NS (20 * NS_PER_MS)

static void put_line(json_t *o, const char *key, const char *root, const char *path)
{
	struct str line = STR_INIT;

	js_text(o, key, probe_line(&line, root, "%s", path) ? str_text(&line) : NULL);
	str_release(&line);
}

json_t *scheduler_look(const char *root)
{
	json_t *o;

	if (!probe_exists(root, SCX "/state"))
		return NULL;
	o = json_object();
	put_line(o, "state", root, SCX "/state");
	put_line(o, "ops", root, SCX "/root/ops");
	js_count(o, "enable_seq", probe_int(root, -1, SCX "/enable_seq"));
	js_count(o, "rejected", probe_int(root, -1, SCX "/nr_rejected"));
	return o;
}

static bool is_state(const char *root, const char *wanted)
{
	struct str state = STR_INIT;
	bool same = probe_line(&state, root, SCX "/state") && strcmp(state.text, wanted) == 0;

	str_release(&state);
	return same;
}

static bool has_ops(const char *root)
{
	struct str ops = STR_INIT;
	bool some = probe_line(&ops, root, SCX "/root/ops") && ops.len > 0;

	str_release(&ops);
	return some;
}

/* The last line of the log that is not empty, in parentheses. */
static void add_last_line(int log_fd, struct str *out)
{
	char tail[400];
	off_t size = lseek(log_fd, 0, SEEK_END), most = (off_t)sizeof(tail);
	ssize_t got = pread(log_fd, tail, sizeof(tail), size > most ? size - most : 0);
	const char *start;

	while (got > 0 && strchr("\r\n", tail[got - 1]))
		got--;
	if (got <= 0)
		return;
	start = memrchr(tail, '\n', (size_t)got);
	start = start ? start + 1 : tail;
	str_add(out, " (");
	str_add_safe(out, start, (size_t)(tail + got - start));
	str_add(out, ")");
}

static int wait_enabled(
	const char *root, const struct scheduler *scheduler, int log_fd, struct err *err)
{
	int64_t deadline = clock_now_ns() + START_NS;
	struct str last = STR_INIT;
	const char *what = NULL;

	while (!is_state(root, "enabled") || !has_ops(root)) {
		if (!scheduler_runs(scheduler))
			what = "it ended before it scheduled anything";
		else if (clock_now_ns() > deadline)
			what = "it was not enabled within 30 s";
		if (what)
			break;
		clock_sleep_ns(NAP_NS);
	}
	if (what) {
		add_last_line(log_fd, &last);
		(void)err_set(err, ERR_INFRA, "%s%s", what, str_text(&last));
		str_release(&last);
	}
	return what ? ERR_INFRA : 0;
}

int scheduler_start(const char *root, const char *const *argv, const char *log_path,
	struct scheduler *out, struct err *err)
{
	struct err ignored = ERR_INIT;
	int log_fd, ret;

	if (!probe_exists(root, SCX "/state"))
		return err_set(err, ERR_NOT_FOUND,
			"this kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT)");
	if (!is_state(root, "disabled"))
		return err_set(err, ERR_INFRA, "another sched_ext scheduler is loaded");
	log_fd = open(log_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (log_fd < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot make %s", log_path);
	(void)setenv(MARK, "1", 1); /* memory alone can fail it */
	*out = (struct scheduler){tool_start(argv, log_fd, err), 0};
	(void)unsetenv(MARK);
	out->started = tool_started(out->pid);
	ret = out->pid < 0 ? ERR_INFRA : wait_enabled(root, out, log_fd, err);
	if (ret) {
		(void)!scheduler_stop(root, out, &ignored); /* the first error is told */
		*out = (struct scheduler){0, 0};
	}
	(void)close(log_fd); /* the scheduler has its own */
	return ret;
}

bool scheduler_runs(const struct scheduler *scheduler)
{
	return scheduler->pid > 0 && scheduler->started >= 0 &&
	       tool_started(scheduler->pid) == scheduler->started;
}

static bool wait_gone(const struct scheduler *scheduler)
{
	int64_t deadline = clock_now_ns() + STOP_NS;

	while (scheduler_runs(scheduler)) {
		(void)waitpid(scheduler->pid, NULL, WNOHANG); /* when it is our own child */
		if (clock_now_ns() > deadline)
			return false;
		clock_sleep_ns(NAP_NS);
	}
	return true;
}

int scheduler_stop(const char *root, const struct scheduler *scheduler, struct err *err)
{
	int64_t deadline;

	if (scheduler_runs(scheduler)) {
		(void)kill(scheduler->pid, SIGTERM);
		if (!wait_gone(scheduler)) {
			(void)kill(-scheduler->pid, SIGKILL);
			if (!wait_gone(scheduler))
				return err_set(err, ERR_INFRA, "process %d cannot be killed",
					(int)scheduler->pid);
		}
	}
	deadline = clock_now_ns() + STOP_NS;
	while (probe_exists(root, SCX "/state") && !is_state(root, "disabled")) {
		if (clock_now_ns() > deadline)
			return err_set(err, ERR_INFRA,
				"its process is gone, but the kernel still says that it schedules");
		clock_sleep_ns(NAP_NS);
	}
	return 0;
}

void scheduler_stop_strangers(const char *root)
{
	if (probe_exists(root, SCX "/state") && !is_state(root, "disabled"))
		(void)reap_strangers(MARK "=1"); /* how many there were */
}
