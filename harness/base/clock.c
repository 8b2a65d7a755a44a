/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <limits.h>

#include "base/clock.h"

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) != 0)
		BUG("clock %d cannot be read", (int)id);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int clock_poll_ms(int64_t deadline_ns)
{
	int64_t left_ms;

	if (deadline_ns < 0)
		return -1;
	left_ms = (deadline_ns - clock_now_ns() + NS_PER_MS - 1) / NS_PER_MS;
	if (left_ms < 0)
		return 0;
	return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

void clock_sleep_ns(int64_t ns)
{
	struct timespec ts = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};

	if (ns > 0)
		(void)nanosleep(&ts, NULL); /* an early end by a signal is what the caller wants */
}

void clock_add_utc(struct str *s, int64_t wall_ns)
{
	time_t seconds = wall_ns / NS_PER_S;
	struct tm tm;
	char text[32];

	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		BUG("time %lld cannot be printed", (long long)wall_ns);
	str_add(s, text);
}
