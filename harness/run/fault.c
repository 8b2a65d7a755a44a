/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "run/fault.h"

#ifdef KB_FAULT_POINTS

#include <signal.h>
#include <unistd.h>

#include "base/num.h"

static pid_t worker_parent;
static const char *worker_name = "";

void fault_worker(pid_t parent, const char *name)
{
	worker_parent = parent;
	worker_name = name;
}

/* What is asked of this process: the text behind "MACHINE/"; NULL: nothing. */
static const char *asked_of_us(void)
{
	const char *asked = getenv("KB_FAULT"), *slash = asked ? strchr(asked, '/') : NULL;
	size_t len = slash ? (size_t)(slash - asked) : 0;

	if (!slash)
		return asked;
	return strlen(worker_name) == len && !strncmp(asked, worker_name, len) ? slash + 1 : NULL;
}

void fault_point(const char *name)
{
	static int64_t reached;
	const char *asked = asked_of_us();
	size_t len = strlen(name);
	int64_t count = 1;

	if (!asked || strncmp(asked, name, len) != 0 || (asked[len] && asked[len] != ':'))
		return;
	if (asked[len] == ':' && num_int(asked + len + 1, 1, INT64_MAX, &count, NULL))
		BUG("KB_FAULT=%s: not a count", asked);
	if (++reached != count)
		return;
	if (worker_parent && getenv("KB_FAULT_ALL"))
		kill(worker_parent, SIGKILL);
	kill(getpid(), SIGKILL);
}

#endif
