/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "native.h"

#define THREAD_STACK_BYTES (128 * 1024)
#define CACHE_LINE_BYTES 64

static const char *program_name = "native";

/* How many of a kind's kept units make one written unit, and its word in the help text. */
static const struct {
	int64_t scale;
	int digits;
	const char *word;
} kinds[] = {
	[NATIVE_COUNT] = {1, 0, "N"},
	[NATIVE_SECONDS] = {NATIVE_NS_PER_S, 9, "S"},
	[NATIVE_PERCENT] = {1000, 3, "P"},
};

static void complain(const char *fmt, va_list ap)
{
	fprintf(stderr, "%s: ", program_name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

_Noreturn void native_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	/* The program's other threads may still be at work; nothing of theirs is to be flushed. */
	_exit(1);
}

_Noreturn void native_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s: see --help\n", program_name);
	_exit(2);
}

/* Strict: digits, then for a decimal kind at most `digits` digits after one dot. */
static bool parse_decimal(const char *text, enum native_kind kind, int64_t *out)
{
	int64_t value = 0, unit = kinds[kind].scale;
	const char *p = text;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, *p - '0', &value))
			return false;
	if (__builtin_mul_overflow(value, unit, &value))
		return false;
	if (*p == '.' && kinds[kind].digits > 0 && p[1] != '\0')
		for (p++; *p >= '0' && *p <= '9' && unit > 1; p++) {
			unit /= 10;
			if (__builtin_add_overflow(value, (*p - '0') * unit, &value))
				return false;
		}
	if (*p != '\0')
		return false;
	*out = value;
	return true;
}

/* Writes a kept value the way it is typed. */
static void show_value(char *buf, size_t size, enum native_kind kind, int64_t value)
{
	snprintf(buf, size, "%.*g", 15, (double)value / (double)kinds[kind].scale);
}

static struct native_opt *find(struct native_opt *opts, const char *name, size_t len)
{
	for (struct native_opt *o = opts; o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	return NULL;
}

_Noreturn static void help(const char *about, const struct native_opt *opts)
{
	printf("%s: %s\n\n", program_name, about);
	printf("A workload of kbracket's own, not a published benchmark. Prints one result "
	       "line.\n\n");
	printf("  %-20s %s\n", "--help", "this text");
	for (const struct native_opt *o = opts; o->name; o++) {
		char left[64], low[32], high[32], normal[32];

		snprintf(left, sizeof(left), "--%s %s", o->name, kinds[o->kind].word);
		show_value(low, sizeof(low), o->kind, o->min);
		show_value(high, sizeof(high), o->kind, o->max);
		show_value(normal, sizeof(normal), o->kind, *o->value);
		printf("  %-20s %s (%s..%s, default %s)\n", left, o->help, low, high, normal);
	}
	exit(fflush(stdout) ? 1 : 0);
}

static void set_option(struct native_opt *o, const char *text)
{
	char low[32], high[32];
	int64_t value;

	if (o->given)
		native_usage("--%s is given twice", o->name);
	if (!parse_decimal(text, o->kind, &value) || value < o->min || value > o->max) {
		show_value(low, sizeof(low), o->kind, o->min);
		show_value(high, sizeof(high), o->kind, o->max);
		native_usage("--%s \"%.40s\" is not a %snumber from %s to %s", o->name, text,
			kinds[o->kind].digits ? "" : "whole ", low, high);
	}
	*o->value = value;
	o->given = true;
}

void native_parse(
	const char *program, const char *about, struct native_opt *opts, int argc, char **argv)
{
	program_name = program;
	for (int i = 1; i < argc; i++) {
		const char *name = argv[i] + 2, *text;
		struct native_opt *o;

		if (strncmp(argv[i], "--", 2))
			native_usage("\"%.40s\" is not an option", argv[i]);
		if (!strcmp(name, "help"))
			help(about, opts);
		o = find(opts, name, strcspn(name, "="));
		if (!o)
			native_usage("unknown option \"%.40s\"", argv[i]);
		text = strchr(name, '=');
		if (text)
			text++;
		else if (i + 1 < argc)
			text = argv[++i];
		else
			native_usage("--%s needs a value", o->name);
		set_option(o, text);
	}
}

bool native_given(const struct native_opt *opts, const char *name)
{
	for (const struct native_opt *o = opts; o->name; o++)
		if (!strcmp(o->name, name))
			return o->given;
	return false;
}

void native_exclusive(const struct native_opt *opts, const char *one, const char *other)
{
	if (native_given(opts, one) && native_given(opts, other))
		native_usage("--%s and --%s exclude each other", one, other);
}

int64_t native_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NATIVE_NS_PER_S + ts.tv_nsec;
}

__attribute__((noinline)) uint64_t native_burn(uint64_t seed, int64_t iterations)
{
	uint64_t x = seed | 1;

	/* Marsaglia's xorshift64: every step needs the one before it. */
	for (int64_t i = 0; i < iterations; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

void native_sink(uint64_t value)
{
	static _Atomic uint64_t sink;

	atomic_fetch_xor_explicit(&sink, value, memory_order_relaxed);
}

/* The affinity mask at the first call, which has to come before any thread is bound. */
static const cpu_set_t *affinity(void)
{
	static cpu_set_t mask;
	static bool known;

	if (!known && sched_getaffinity(0, sizeof(mask), &mask))
		native_die("cannot read the CPU affinity: %s", strerror(errno));
	known = true;
	return &mask;
}

int native_cpus(void)
{
	return CPU_COUNT(affinity());
}

int native_nth_cpu(int64_t n)
{
	int64_t left = n % native_cpus();

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, affinity()) && left-- == 0)
			return cpu;
	return 0;
}

void *native_alloc(size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes) ||
		posix_memalign(&p, CACHE_LINE_BYTES, bytes ? bytes : 1))
		native_die("out of memory for %zu objects of %zu bytes", count, size);
	return memset(p, 0, bytes);
}

pthread_t native_thread(void *(*body)(void *), void *arg, int cpu)
{
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t mask;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	if (cpu >= 0) {
		CPU_ZERO(&mask);
		CPU_SET(cpu, &mask);
		pthread_attr_setaffinity_np(&attr, sizeof(mask), &mask);
	}
	rc = pthread_create(&thread, &attr, body, arg);
	if (rc)
		native_die(
			"cannot start a thread%s: %s", cpu >= 0 ? " on its CPU" : "", strerror(rc));
	pthread_attr_destroy(&attr);
	return thread;
}

void native_join(pthread_t thread)
{
	int rc = pthread_join(thread, NULL);

	if (rc)
		native_die("cannot join a thread: %s", strerror(rc));
}

void native_barrier_init(pthread_barrier_t *barrier, int64_t parties)
{
	int rc = pthread_barrier_init(barrier, NULL, (unsigned int)parties);

	if (rc)
		native_die("cannot make a barrier: %s", strerror(rc));
}

void native_futex_wait(_Atomic uint32_t *word, uint32_t seen)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void native_futex_wake(_Atomic uint32_t *word, int n)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

bool native_owes(const struct native_slow *slow)
{
	return slow->owed >= NATIVE_FULL_MPCT;
}

bool native_counts(struct native_slow *slow)
{
	if (native_owes(slow)) {
		slow->owed -= NATIVE_FULL_MPCT;
		return false;
	}
	slow->owed += slow->mpct;
	return true;
}

int native_result(double value, const char *unit, const char *fmt, ...)
{
	va_list ap;

	printf("%s: %.6f %s; ", program_name, value, unit);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "%s: cannot write the result: %s\n", program_name, strerror(errno));
		return 1;
	}
	return 0;
}
