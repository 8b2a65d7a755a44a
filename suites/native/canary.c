/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * canary: user-space arithmetic that no kernel change should move; its movement is drift.
 *
 * Every worker is bound to a CPU of its own, as far as there are enough, touches no memory but its
 * registers, and makes no system call but the clock's between rounds. What moves the rate is the
 * machine: heat, frequency, a neighbour, steal time.
 */
#include <inttypes.h>

#include "native.h"

#define ROUND_STEPS 10000 /* arithmetic steps in a round, some tens of microseconds */

struct worker {
	_Alignas(64) int64_t rounds;
	int64_t extra, elapsed_ns;
	pthread_t thread;
};

static int64_t workers = 1, seconds_ns = NATIVE_NS_PER_S, rounds, slow_mpct;
static pthread_barrier_t start;

static struct native_opt opts[] = {
	{"workers", NATIVE_COUNT, &workers, 1, NATIVE_MAX_WORKERS, "bound threads", false},
	{"seconds", NATIVE_SECONDS, &seconds_ns, 1000000, 86400 * NATIVE_NS_PER_S,
		"how long to measure", false},
	{"rounds", NATIVE_COUNT, &rounds, 1, INT64_MAX / 2000,
		"rounds of every worker instead of --seconds", false},
	{"slow-pct", NATIVE_PERCENT, &slow_mpct, 0, 10 * NATIVE_FULL_MPCT,
		"known slowdown: P uncounted rounds for each 100 counted", false},
	{NULL, NATIVE_COUNT, NULL, 0, 0, NULL, false},
};

static void *worker_body(void *arg)
{
	struct native_slow slow = {.mpct = slow_mpct};
	struct worker *w = arg;
	uint64_t x = 88172645463325252; /* Marsaglia's own seed: every worker does the same */
	int64_t begin;

	pthread_barrier_wait(&start);
	begin = native_now_ns();
	while (native_owes(&slow) || (rounds ? w->rounds < rounds : w->elapsed_ns < seconds_ns)) {
		x = native_burn(x, ROUND_STEPS);
		if (native_counts(&slow))
			w->rounds++;
		else
			w->extra++;
		w->elapsed_ns = native_now_ns() - begin;
	}
	native_sink(x);
	return NULL;
}

int main(int argc, char **argv)
{
	int64_t done = 0, extra = 0, longest_ns = 1;
	struct worker *ws;
	double rate = 0;

	native_parse("canary", "arithmetic on bound threads that no kernel change should move",
		opts, argc, argv);
	native_exclusive(opts, "seconds", "rounds");
	ws = native_alloc((size_t)workers, sizeof(*ws));
	native_barrier_init(&start, workers);
	for (int64_t i = 0; i < workers; i++)
		ws[i].thread = native_thread(worker_body, &ws[i], native_nth_cpu(i));
	for (int64_t i = 0; i < workers; i++) {
		native_join(ws[i].thread);
		done += ws[i].rounds;
		extra += ws[i].extra;
		if (ws[i].elapsed_ns > longest_ns)
			longest_ns = ws[i].elapsed_ns;
		rate += (double)ws[i].rounds * NATIVE_NS_PER_S / (double)ws[i].elapsed_ns;
	}
	return native_result(rate, "rounds/s",
		"rounds=%" PRId64 " extra=%" PRId64 " seconds=%.9f workers=%" PRId64
		" cpus=%d slow-pct=%.3f",
		done, extra, (double)longest_ns / NATIVE_NS_PER_S, workers, native_cpus(),
		(double)slow_mpct / 1000);
}
