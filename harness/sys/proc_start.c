/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <signal.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "sys/child.h"
#include "sys/plumbing.h"
#include "sys/proc.h"

/* A killed process that holds on for longer is stuck in the kernel. */
static const int64_t kill_grace_ns = 10 * NS_PER_S;

struct proc {
	struct child child;
	struct proc_result result; /* once ended */
	bool ended;
	char *name;
};

int proc_start(const struct proc_spec *spec, struct proc **out, struct err *err)
{
	struct plumbing plumbing;
	struct child child;
	int ret = plumbing_open_detached(&plumbing, spec, err);

	if (ret == 0)
		ret = child_spawn(&child, spec, plumbing.child_fds, err);
	plumbing_close(&plumbing);
	if (ret)
		return ret;
	*out = xcalloc(1, sizeof(**out));
	(*out)->child = child;
	(*out)->name = xstrdup(spec->argv[0]);
	return 0;
}

pid_t proc_pid(const struct proc *proc)
{
	return proc->child.pid;
}

bool proc_alive(struct proc *proc, struct proc_result *result)
{
	if (!proc->ended && !child_wait(&proc->child, 0))
		return true;
	if (!proc->ended)
		child_reap(&proc->child, &proc->result);
	proc->ended = true;
	if (result) {
		result->exit_code = proc->result.exit_code;
		result->signal = proc->result.signal;
		result->wall_ns = proc->result.wall_ns;
	}
	return false;
}

/* As child_wait, but our own signals do not end it. */
static bool wait_fully(const struct child *child, int64_t deadline_ns)
{
	while (!child_wait(child, deadline_ns))
		if (clock_now_ns() >= deadline_ns)
			return false;
	return true;
}

void proc_kill(struct proc *proc, int64_t grace_ns)
{
	if (proc->ended)
		return;
	if (grace_ns > 0) {
		child_signal(&proc->child, SIGTERM);
		(void)wait_fully(&proc->child, clock_now_ns() + grace_ns); /* SIGKILL follows */
	}
	child_signal(&proc->child, SIGKILL);
	if (wait_fully(&proc->child, clock_now_ns() + kill_grace_ns)) {
		child_reap(&proc->child, &proc->result);
	} else {
		log_line(LOG_WARN, "%s (process %d) does not end, even killed", proc->name,
			(int)proc->child.pid);
		child_give_up(&proc->child);
		proc->result.exit_code = -1;
		proc->result.signal = SIGKILL;
	}
	proc->ended = true;
}

void proc_free(struct proc *proc)
{
	if (!proc)
		return;
	proc_kill(proc, 0);
	free(proc->name);
	free(proc);
}
