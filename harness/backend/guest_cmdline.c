/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/str.h"
#include "backend/guest_cmdline.h"

#if defined(__x86_64__)

#include <x86intrin.h>

enum { READINGS = 100 };

struct moment {
	uint64_t ticks;
	int64_t ns;
};

/* Both clocks at one moment: of many readings the one in which least time passed between them, so
 * that being interrupted in the middle does no harm. */
static struct moment read_both(void)
{
	struct moment best = {0, 0};
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = __rdtsc();
		int64_t ns = clock_now_ns();
		uint64_t width = __rdtsc() - before;

		if (width < best_width) {
			best_width = width;
			best = (struct moment){before + width / 2, ns};
		}
	}
	return best;
}

/* In kHz; 0 where there is none. Measured over 50 ms once, then kept. */
static int64_t tsc_khz(void)
{
	static int64_t khz;
	struct moment start, end;

	if (khz)
		return khz;
	start = read_both();
	clock_sleep_ns(50 * NS_PER_MS);
	end = read_both();
	khz = (int64_t)((double)(end.ticks - start.ticks) * 1e6 / (double)(end.ns - start.ns));
	return khz;
}

#else

static int64_t tsc_khz(void)
{
	return 0;
}

#endif

char *guest_cmdline(enum qemu_accel accel, const char *cmdline)
{
	static const char emulated[] = " tsc=reliable no_timer_check random.trust_cpu=on nokaslr "
				       "cryptomgr.notests=1 quiet";
	int64_t khz = accel == ACCEL_TCG ? tsc_khz() : 0;
	struct str line = STR_INIT;

	str_add(&line, "console=ttyS0");
	if (accel == ACCEL_TCG)
		str_add(&line, emulated);
	if (khz)
		str_addf(&line, " tsc_early_khz=%lld", (long long)khz);
	str_addf(&line, "%s%s panic=-1 oops=panic", cmdline[0] ? " " : "", cmdline);
	return str_take(&line);
}
