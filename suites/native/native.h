/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kbracket's own small workloads share: strict options, clock, threads, futex words, the
 * known slowdown, and the one result line.
 *
 * The programs are ours, written for this harness; their numbers compare kernels with each other
 * and nothing else. They use libc only and link static, so that they run on any kernel.
 *
 * Order of calls: native_parse, then threads, then native_result. A program prints nothing on
 * stdout before native_result, which is its last act: a run that is interrupted or ends early has
 * no result line. No signal is caught. Exit status: 0 result printed (or --help), 1 the run
 * failed, 2 bad arguments.
 */
#ifndef KB_SUITES_NATIVE_H
#define KB_SUITES_NATIVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NATIVE_MAX_WORKERS 10000
#define NATIVE_NS_PER_S 1000000000LL
#define NATIVE_FULL_MPCT 100000 /* 100 % in thousandths of a percent */

enum native_kind {
	NATIVE_COUNT,	/* whole number */
	NATIVE_SECONDS, /* decimal seconds, kept as nanoseconds */
	NATIVE_PERCENT, /* decimal percent, kept as thousandths of a percent */
};

/* One option. The caller fills all but `given`; *value holds the default before parsing. */
struct native_opt {
	const char *name; /* without the dashes */
	enum native_kind kind;
	int64_t *value;
	int64_t min, max; /* in the unit kept */
	const char *help;
	bool given;
};

/*
 * Parses "--name value" and "--name=value" into the table. --help prints the table and exits 0.
 * An unknown or repeated option, a missing value, anything that is not exactly a number in range,
 * or a stray word prints what is wrong on stderr and exits 2. The last entry has name NULL.
 */
void native_parse(
	const char *program, const char *about, struct native_opt *opts, int argc, char **argv);

/* Ends with exit status 2 when both options were given; both must be in the table. */
void native_exclusive(const struct native_opt *opts, const char *one, const char *other);

/* Whether the option was on the command line. */
bool native_given(const struct native_opt *opts, const char *name);

/* Prints "program: text" on stderr and exits 1 (the run failed) or 2 (bad arguments). */
_Noreturn void native_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void native_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* CLOCK_MONOTONIC in ns. */
int64_t native_now_ns(void);

/*
 * Pure user-space arithmetic: `iterations` dependent steps. The return value depends on all of
 * them and must be used (see native_sink), or the compiler would leave the work out.
 */
uint64_t native_burn(uint64_t seed, int64_t iterations);
void native_sink(uint64_t value);

/* Number of CPUs this process may use, and the n-th of them (n counts round and round). */
int native_cpus(void);
int native_nth_cpu(int64_t n);

/* Zeroed memory, aligned to a cache line, never NULL (ends with status 1). Never freed. */
void *native_alloc(size_t count, size_t size);

/* Starts a thread with a small stack, bound to a CPU when cpu >= 0; ends with status 1 if it can't.
 */
pthread_t native_thread(void *(*body)(void *), void *arg, int cpu);
void native_join(pthread_t thread);
void native_barrier_init(pthread_barrier_t *barrier, int64_t parties);

/* Sleeps while *word == seen (may also return early); wakes up to n sleepers. Private futexes. */
void native_futex_wait(_Atomic uint32_t *word, uint32_t seen);
void native_futex_wake(_Atomic uint32_t *word, int n);

/*
 * The known slowdown. With --slow-pct P, P extra units of work are done and thrown away for every
 * 100 units that count, evenly spread, so that a counted unit costs P % more time on any machine:
 * seconds grow by P %, a rate is divided by 1 + P / 100. No calibration, no clock.
 */
struct native_slow {
	int64_t mpct; /* P in thousandths of a percent */
	int64_t owed; /* extra work owed, in thousandths of a percent of a unit */
};

/* Called once per unit of work: true when the unit counts, false when it is an extra one. */
bool native_counts(struct native_slow *slow);
/* Whether the next unit would be an extra one: a fixed amount of work ends only when it is not. */
bool native_owes(const struct native_slow *slow);

/*
 * Prints "program: <value> <unit>; <text>\n" on stdout and returns the exit status of the program:
 * 0, or 1 with a message when the line could not be written.
 */
int native_result(double value, const char *unit, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
