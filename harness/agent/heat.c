/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <signal.h>

#include "base/clock.h"

#include "agent/heat.h"
#include "agent/js.h"
#include "agent/snapshot.h"

#define LOOK_NS NS_PER_S

/* SIGTERM is blocked here and ends the run once it has begun. */
static bool is_cancelled(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

json_t *heat_wait(const char *root, const struct run_spec *spec)
{
	int64_t begin_ns = clock_now_ns(), deadline_ns = begin_ns + spec->heat_wait_ns;
	int64_t high_mc = spec->heat_mc + spec->heat_within_mc;
	int64_t low_mc = spec->heat_mc - spec->heat_within_mc;
	int64_t mc = snapshot_temperature_mc(root);
	json_t *o = json_object();

	while (mc > high_mc && !is_cancelled() && clock_now_ns() < deadline_ns) {
		int64_t left_ns = deadline_ns - clock_now_ns();

		clock_sleep_ns(left_ns < LOOK_NS ? left_ns : LOOK_NS);
		mc = snapshot_temperature_mc(root);
	}
	js_int(o, "wanted_mc", spec->heat_mc);
	js_int(o, "within_mc", spec->heat_within_mc);
	js_count(o, "mc", mc);
	js_int(o, "waited_ns", clock_now_ns() - begin_ns);
	js_bool(o, "reached", mc < 0 || (mc <= high_mc && mc >= low_mc));
	return o;
}
