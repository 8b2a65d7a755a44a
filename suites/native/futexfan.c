/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * futexfan: one main thread wakes bounded batches of bound workers.
 *
 * Worker i is bound to the i-th CPU the process may use, round and round. Whenever a batch of
 * workers is idle, the main thread, which is not bound, wakes all of them and goes back to sleep;
 * the worker that makes the next batch complete wakes it. The wakers and the woken meet on one
 * futex each; no thread spins.
 */
#include <inttypes.h>

#include "native.h"

enum { WORKER_IDLE, WORKER_ASKED, WORKER_QUIT };

struct worker {
	_Alignas(64) _Atomic uint32_t word;
	pthread_t thread;
};

static int64_t workers = 1, batch, seconds_ns = NATIVE_NS_PER_S, completions, work = 1000;
static int64_t slow_mpct;
static struct worker *ws;
static _Alignas(64) _Atomic uint32_t idle;    /* workers idle */
static _Alignas(64) _Atomic uint32_t awaited; /* ... and how many the main thread waits for */

static struct native_opt opts[] = {
	{"workers", NATIVE_COUNT, &workers, 1, NATIVE_MAX_WORKERS, "bound worker threads", false},
	{"batch", NATIVE_COUNT, &batch, 0, NATIVE_MAX_WORKERS,
		"workers woken at a time, at most all; 0: half of them, at least one", false},
	{"seconds", NATIVE_SECONDS, &seconds_ns, 1000000, 86400 * NATIVE_NS_PER_S,
		"how long to measure", false},
	{"completions", NATIVE_COUNT, &completions, 1, INT64_MAX / 2000,
		"a fixed amount of completions instead of --seconds", false},
	{"work", NATIVE_COUNT, &work, 0, 1000000000, "arithmetic steps a completion", false},
	{"slow-pct", NATIVE_PERCENT, &slow_mpct, 0, 10 * NATIVE_FULL_MPCT,
		"known slowdown: P uncounted completions for each 100 counted", false},
	{NULL, NATIVE_COUNT, NULL, 0, 0, NULL, false},
};

/* One more idle worker; exactly one of them completes the number the main thread sleeps for. */
static void become_idle(struct worker *w)
{
	uint32_t now;

	atomic_store(&w->word, WORKER_IDLE);
	now = atomic_fetch_add(&idle, 1) + 1;
	if (now == atomic_load(&awaited))
		native_futex_wake(&idle, 1);
}

static void *worker_body(void *arg)
{
	struct worker *w = arg;
	uint64_t x = (uint64_t)(uintptr_t)w;
	uint32_t state;

	become_idle(w);
	while ((state = atomic_load(&w->word)) != WORKER_QUIT) {
		if (state == WORKER_IDLE) {
			native_futex_wait(&w->word, WORKER_IDLE);
			continue;
		}
		x = native_burn(x, work);
		become_idle(w);
	}
	native_sink(x);
	return NULL;
}

static void hand(struct worker *w, uint32_t state)
{
	atomic_store(&w->word, state);
	native_futex_wake(&w->word, 1);
}

static void wait_idle(int64_t n)
{
	uint32_t seen;

	/* Published before idle is read: a worker that adds itself after that sees it. */
	atomic_store(&awaited, (uint32_t)n);
	while ((seen = atomic_load(&idle)) < n)
		native_futex_wait(&idle, seen);
}

/* Wakes the next n idle workers in ring order; the caller has seen that there are as many. */
static void wake_batch(int64_t n)
{
	static int64_t next;

	atomic_fetch_sub(&idle, (uint32_t)n);
	for (; n > 0; next = (next + 1) % workers)
		if (atomic_load(&ws[next].word) == WORKER_IDLE) {
			hand(&ws[next], WORKER_ASKED);
			n--;
		}
}

static int64_t measure(int64_t *done, int64_t *extra)
{
	struct native_slow slow = {.mpct = slow_mpct};
	int64_t begin = native_now_ns();

	while (native_owes(&slow) ||
		(completions ? *done < completions : native_now_ns() - begin < seconds_ns)) {
		int64_t left = completions - *done;
		int64_t n = completions && left > 0 && left < batch ? left : batch;

		wait_idle(n);
		wake_batch(n);
		*(native_counts(&slow) ? done : extra) += n;
	}
	wait_idle(workers);
	return native_now_ns() - begin;
}

int main(int argc, char **argv)
{
	int64_t done = 0, extra = 0, elapsed_ns;

	native_parse("futexfan", "one main thread wakes batches of bound worker threads", opts,
		argc, argv);
	native_exclusive(opts, "seconds", "completions");
	if (batch > workers)
		native_usage("--batch %" PRId64 " is more than --workers %" PRId64, batch, workers);
	if (!batch)
		batch = workers > 1 ? workers / 2 : 1;
	ws = native_alloc((size_t)workers, sizeof(*ws));
	for (int64_t i = 0; i < workers; i++)
		ws[i].thread = native_thread(worker_body, &ws[i], native_nth_cpu(i));
	wait_idle(workers);
	elapsed_ns = measure(&done, &extra);
	for (int64_t i = 0; i < workers; i++)
		hand(&ws[i], WORKER_QUIT);
	for (int64_t i = 0; i < workers; i++)
		native_join(ws[i].thread);
	return native_result((double)done * NATIVE_NS_PER_S / (double)elapsed_ns, "completions/s",
		"completions=%" PRId64 " extra=%" PRId64 " seconds=%.9f workers=%" PRId64
		" batch=%" PRId64 " cpus=%d work=%" PRId64 " slow-pct=%.3f",
		done, extra, (double)elapsed_ns / NATIVE_NS_PER_S, workers, batch, native_cpus(),
		work, (double)slow_mpct / 1000);
}
