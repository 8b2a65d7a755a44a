/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wakefan: a few messenger threads wake many workers.
 *
 * Each messenger owns a fan of workers. In a round it hands one request to every worker of its
 * fan, waking each from its futex, and sleeps until all have answered; the last answer wakes it.
 * No thread is bound and none spins: where the scheduler puts the woken workers, and how soon it
 * finds them an idle CPU, decides the rate.
 *
 * With --latency 1 the time from handing a request over to its worker's running is measured, too,
 * and printed as a histogram on stderr: "latency: NS COUNT" for each bucket that is not empty. A
 * bucket is less than 1 % wide; NS is its lower edge.
 */
#include <inttypes.h>
#include <stdio.h>

#include "native.h"

enum { WORKER_IDLE, WORKER_ASKED, WORKER_QUIT };

/* Buckets: SUB of them in every power of two from SUB on, one for each ns below. */
enum { SUB_BITS = 7, SUB = 1 << SUB_BITS, BUCKETS = (65 - SUB_BITS) * SUB };

struct messenger;

struct worker {
	_Alignas(64) _Atomic uint32_t word;
	struct messenger *owner;
	int64_t asked_ns;  /* 0: not to be measured */
	uint64_t *latency; /* counts by bucket; NULL: nothing is measured */
	pthread_t thread;
};

struct messenger {
	_Alignas(64) _Atomic uint32_t pending; /* requests not answered yet */
	struct worker *fan;
	int64_t fan_size;
	struct native_slow slow;
	int64_t requests, extra, elapsed_ns;
	pthread_t thread;
};

static int64_t workers = 1, messengers, seconds_ns = NATIVE_NS_PER_S, requests, work = 1000;
static int64_t slow_mpct, latency;
static _Atomic int64_t unclaimed; /* requests left of a fixed amount */
static pthread_barrier_t start;

static struct native_opt opts[] = {
	{"workers", NATIVE_COUNT, &workers, 1, NATIVE_MAX_WORKERS, "worker threads", false},
	{"messengers", NATIVE_COUNT, &messengers, 0, NATIVE_MAX_WORKERS,
		"messenger threads, at most one per worker; 0: two, or one for one worker", false},
	{"seconds", NATIVE_SECONDS, &seconds_ns, 1000000, 86400 * NATIVE_NS_PER_S,
		"how long to measure", false},
	{"requests", NATIVE_COUNT, &requests, 1, INT64_MAX / 2000,
		"a fixed amount of requests instead of --seconds", false},
	{"work", NATIVE_COUNT, &work, 0, 1000000000, "arithmetic steps a request", false},
	{"latency", NATIVE_COUNT, &latency, 0, 1,
		"1: measure from each request to its worker's running", false},
	{"slow-pct", NATIVE_PERCENT, &slow_mpct, 0, 10 * NATIVE_FULL_MPCT,
		"known slowdown: P uncounted requests for each 100 counted", false},
	{NULL, NATIVE_COUNT, NULL, 0, 0, NULL, false},
};

static int bucket_of(uint64_t ns)
{
	int shift = ns < SUB ? 0 : 63 - SUB_BITS - __builtin_clzll(ns);

	return shift * SUB + (int)(ns >> shift);
}

static uint64_t edge_of(int bucket)
{
	int shift = bucket < 2 * SUB ? 0 : bucket / SUB - 1;

	return (uint64_t)(bucket - shift * SUB) << shift;
}

/* The request is there and this worker runs: before anything else is done. */
static void note_latency(struct worker *w)
{
	if (w->latency && w->asked_ns)
		w->latency[bucket_of((uint64_t)(native_now_ns() - w->asked_ns))]++;
}

static void print_latencies(const struct worker *ws)
{
	for (int bucket = 0; bucket < BUCKETS; bucket++) {
		uint64_t count = 0;

		for (int64_t i = 0; i < workers; i++)
			count += ws[i].latency[bucket];
		if (count)
			fprintf(stderr, "latency: %" PRIu64 " %" PRIu64 "\n", edge_of(bucket),
				count);
	}
}

static void *worker_body(void *arg)
{
	struct worker *w = arg;
	uint64_t x = (uint64_t)(uintptr_t)w;
	uint32_t state;

	while ((state = atomic_load(&w->word)) != WORKER_QUIT) {
		if (state == WORKER_IDLE) {
			native_futex_wait(&w->word, WORKER_IDLE);
			continue;
		}
		note_latency(w);
		x = native_burn(x, work);
		atomic_store(&w->word, WORKER_IDLE);
		if (atomic_fetch_sub(&w->owner->pending, 1) == 1)
			native_futex_wake(&w->owner->pending, 1);
	}
	native_sink(x);
	return NULL;
}

static void hand(struct worker *w, uint32_t state, bool counts)
{
	if (w->latency)
		w->asked_ns = counts ? native_now_ns() : 0;
	atomic_store(&w->word, state);
	native_futex_wake(&w->word, 1);
}

static void wait_answers(struct messenger *m)
{
	uint32_t pending;

	while ((pending = atomic_load(&m->pending)))
		native_futex_wait(&m->pending, pending);
}

static void ask(struct messenger *m, int64_t n, bool counts)
{
	atomic_store(&m->pending, (uint32_t)n);
	for (int64_t i = 0; i < n; i++)
		hand(&m->fan[i], WORKER_ASKED, counts);
	wait_answers(m);
}

/* How many requests the next round may make: the fan, or what is left of a fixed amount. */
static int64_t claim(int64_t fan_size)
{
	int64_t left = atomic_load(&unclaimed), n;

	if (!requests)
		return fan_size;
	do {
		n = left < fan_size ? left : fan_size;
	} while (!atomic_compare_exchange_weak(&unclaimed, &left, left - n));
	return n;
}

static void *messenger_body(void *arg)
{
	struct messenger *m = arg;
	int64_t begin, n = m->fan_size;

	pthread_barrier_wait(&start);
	begin = native_now_ns();
	for (;;) {
		bool counts = native_counts(&m->slow);

		if (counts)
			n = claim(m->fan_size);
		if (n == 0)
			break;
		ask(m, n, counts);
		if (counts)
			m->requests += n;
		else
			m->extra += n;
		m->elapsed_ns = native_now_ns() - begin;
		if (!requests && m->elapsed_ns >= seconds_ns && !native_owes(&m->slow))
			break;
	}
	for (int64_t i = 0; i < m->fan_size; i++)
		hand(&m->fan[i], WORKER_QUIT, false);
	return NULL;
}

/* The first workers % messengers fans have one worker more than the others. */
static void launch(struct messenger *ms, struct worker *ws)
{
	int64_t next = 0;

	for (int64_t i = 0; i < messengers; i++) {
		struct messenger *m = &ms[i];

		m->fan = &ws[next];
		m->fan_size = workers / messengers + (i < workers % messengers);
		m->slow.mpct = slow_mpct;
		for (int64_t k = 0; k < m->fan_size; k++) {
			m->fan[k].owner = m;
			if (latency)
				m->fan[k].latency = native_alloc(BUCKETS, sizeof(uint64_t));
			m->fan[k].thread = native_thread(worker_body, &m->fan[k], -1);
		}
		m->thread = native_thread(messenger_body, m, -1);
		next += m->fan_size;
	}
}

int main(int argc, char **argv)
{
	int64_t done = 0, extra = 0, longest_ns = 1;
	struct messenger *ms;
	struct worker *ws;
	double rate = 0;

	native_parse(
		"wakefan", "a few messenger threads wake many worker threads", opts, argc, argv);
	native_exclusive(opts, "seconds", "requests");
	if (messengers > workers)
		native_usage("--messengers %" PRId64 " is more than --workers %" PRId64, messengers,
			workers);
	if (!messengers)
		messengers = workers > 1 ? 2 : 1;
	atomic_store(&unclaimed, requests);
	ms = native_alloc((size_t)messengers, sizeof(*ms));
	ws = native_alloc((size_t)workers, sizeof(*ws));
	native_barrier_init(&start, messengers + 1);
	launch(ms, ws);
	pthread_barrier_wait(&start);
	for (int64_t i = 0; i < messengers; i++) {
		native_join(ms[i].thread);
		done += ms[i].requests;
		extra += ms[i].extra;
		if (ms[i].elapsed_ns > longest_ns)
			longest_ns = ms[i].elapsed_ns;
		if (ms[i].elapsed_ns > 0)
			rate += (double)ms[i].requests * NATIVE_NS_PER_S / (double)ms[i].elapsed_ns;
	}
	for (int64_t i = 0; i < workers; i++)
		native_join(ws[i].thread);
	if (latency)
		print_latencies(ws);
	return native_result(rate, "requests/s",
		"requests=%" PRId64 " extra=%" PRId64 " seconds=%.9f workers=%" PRId64
		" messengers=%" PRId64 " work=%" PRId64 " slow-pct=%.3f",
		done, extra, (double)longest_ns / NATIVE_NS_PER_S, workers, messengers, work,
		(double)slow_mpct / 1000);
}
