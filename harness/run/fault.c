/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "run/fault.h"

#ifdef KB_FAULT_POINTS

#include <signal.h>
#include <unistd.h>

#include "base/num.h"

void fault_point(const char *name)
{
	static int64_t reached;
	const char *asked = getenv("KB_FAULT");
	size_t len = strlen(name);
	int64_t count = 1;

	if (!asked || strncmp(asked, name, len) != 0 || (asked[len] && asked[len] != ':'))
		return;
	if (asked[len] == ':' && num_int(asked + len + 1, 1, INT64_MAX, &count, NULL))
		BUG("KB_FAULT=%s: not a count", asked);
	if (++reached == count)
		kill(getpid(), SIGKILL);
}

#endif
