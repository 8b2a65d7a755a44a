/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <stdarg.h>

#include "base/clock.h"
#include "model/validity.h"
#include "run/kernel_log.h"
#include "run/watch.h"

/*
 * Above these a run is flagged. /proc/stat counts in ticks of 10 ms, and the kernel's bookkeeping
 * of a program's CPU time differs from it by a few per cent, hence the allowances.
 */
static const struct {
	double busy_before_cpus; /* mean number of CPUs that others used before the start */
	double busy_before_s;	 /* and this much CPU time in all */
	double busy_share;	 /* others' CPU time as a part of what all CPUs could give */
	double busy_own_share;	 /* allowed beside that, of the program's own CPU time */
	double busy_s;		 /* and beside that */
	double steal_share;	 /* of what all CPUs could give */
	double steal_s;
	double step_s;	   /* between the wall clock and the monotonic clock */
	double step_share; /* of the wall time: clocks are slewed by 0.05 % at most */
	double swap_pages;
	double rate_s;	   /* between our clock and the machine's, over all of a boot so far */
	double rate_share; /* of that time */
} limits = {
	.busy_before_cpus = 0.5,
	.busy_before_s = 0.03,
	.busy_share = 0.05,
	.busy_own_share = 0.05,
	.busy_s = 0.05,
	.steal_share = 0.01,
	.steal_s = 0.02,
	.step_s = 0.02,
	.step_share = 0.001,
	.swap_pages = 16,
	.rate_s = 1,
	.rate_share = 0.02,
};

enum { MAX_FLAGS = 32, DISK_LEFT_BYTES = 1 << 20 };

/* One run's look around, while its flags are gathered. */
struct watch {
	const json_t *result, *before, *after;
	const struct watch_run *run;
	struct watch_boot *boot;
	struct arena *arena;
	struct store_flag *flags;
	size_t count;
};

static void flag(struct watch *watch, const char *reason, const char *fmt, ...) KB_PRINTF(3, 4);

static void flag(struct watch *watch, const char *reason, const char *fmt, ...)
{
	struct str detail = STR_INIT;
	va_list args;

	if (!validity_find(reason))
		BUG("'%s' is not in the validity ledger", reason);
	if (watch->count == MAX_FLAGS)
		return;
	va_start(args, fmt);
	str_vaddf(&detail, fmt, args);
	va_end(args);
	watch->flags[watch->count++] =
		(struct store_flag){reason, arena_strdup(watch->arena, str_text(&detail))};
	str_release(&detail);
}

/* after - before; NaN when either is not known. */
static double difference(const struct watch *watch, const char *key)
{
	int64_t before = json_get_int(watch->before, key, INT64_MIN);
	int64_t after = json_get_int(watch->after, key, INT64_MIN);

	if (before == INT64_MIN || after == INT64_MIN)
		return (double)NAN;
	return (double)after - (double)before;
}

static double cpu_seconds(const struct watch *watch, const char *key)
{
	const json_t *before = json_object_get(watch->before, "cpu");
	const json_t *after = json_object_get(watch->after, "cpu");
	int64_t a = json_get_int(before, key, INT64_MIN), b = json_get_int(after, key, INT64_MIN);

	if (a == INT64_MIN || b == INT64_MIN)
		return (double)NAN;
	return ((double)b - (double)a) / (double)NS_PER_S;
}

static double seconds(const json_t *object, const char *key)
{
	int64_t ns = json_get_int(object, key, INT64_MIN);

	return ns == INT64_MIN ? (double)NAN : (double)ns / (double)NS_PER_S;
}

static void watch_length(struct watch *watch)
{
	double wall = seconds(watch->result, "wall_ns");
	double asked = (double)watch->run->duration_ns / (double)NS_PER_S;
	double off = asked > 0 ? 100 * (wall - asked) / asked : 0;
	double allowed = watch->run->tolerance_pct;

	if (!(allowed > 0) || !(asked > 0))
		return;
	if (isnan(wall)) {
		flag(watch, "short", "how long it ran is not known");
		return;
	}
	if (off > 0 && watch->run->overrun_pct > 0)
		allowed = watch->run->overrun_pct;
	if (fabs(off) > allowed)
		flag(watch, "short", "ran %.3f s of %.3f s; %.3g %% are allowed", wall, asked,
			allowed);
}

static void watch_kernel(struct watch *watch)
{
	const json_t *kmsg = json_object_get(watch->result, "kmsg");
	int64_t taint = json_get_int(watch->after, "taint", -1);
	struct kernel_log logs[KERNEL_LOG_REASONS];
	size_t count = kernel_log_sort(kmsg, watch->run->dmesg_allow, logs);

	for (size_t i = 0; i < count; i++) {
		struct str line = STR_INIT;

		str_add_safe(&line, logs[i].first, strnlen(logs[i].first, 160));
		flag(watch, logs[i].reason, "%lld: %s", (long long)logs[i].count, str_text(&line));
		str_release(&line);
	}
	if (watch->boot->taint >= 0 && taint >= 0 && (taint & ~watch->boot->taint))
		flag(watch, "taint", "was %lld, became %lld", (long long)watch->boot->taint,
			(long long)taint);
}

static void watch_heat(struct watch *watch)
{
	double core = difference(watch, "throttle_core");
	double package = difference(watch, "throttle_package");

	if (core > 0 || package > 0)
		flag(watch, "throttled", "%.0f core and %.0f package events", core > 0 ? core : 0,
			package > 0 ? package : 0);
}

static void watch_temperature(struct watch *watch)
{
	const json_t *heat = json_object_get(watch->result, "heat");

	if (!json_get_bool(heat, "reached", true))
		flag(watch, "temperature",
			"it began at %.1f C after %.0f s of waiting, not at %.1f",
			(double)json_get_int(heat, "mc", 0) / 1000,
			(double)json_get_int(heat, "waited_ns", 0) / (double)NS_PER_S,
			(double)json_get_int(heat, "wanted_mc", 0) / 1000);
}

static void watch_cpu_use(struct watch *watch)
{
	const json_t *window = json_object_get(watch->result, "window");
	double wall = seconds(watch->result, "wall_ns"), all = wall * (double)watch->run->cpus;
	double steal = cpu_seconds(watch, "steal_ns"), busy = cpu_seconds(watch, "busy_ns");
	double before = seconds(window, "busy_ns"), length = seconds(window, "wall_ns");
	double own = seconds(watch->result, "cgroup_cpu_ns");
	double reaped = seconds(watch->result, "user_ns") + seconds(watch->result, "system_ns");
	double others;

	/* Without a cgroup, only what the program waited for is known. */
	own = own > reaped || isnan(reaped) ? own : reaped;
	others = busy - own;
	if (steal > limits.steal_s && steal > limits.steal_share * all)
		flag(watch, "steal", "%.3f s, %.2g %% of all CPU time", steal, 100 * steal / all);
	if (before > limits.busy_before_s && before > limits.busy_before_cpus * length)
		flag(watch, "busy-before", "%.2f CPUs in the %.0f ms before", before / length,
			1e3 * length);
	if (others > limits.busy_share * all + limits.busy_own_share * own + limits.busy_s)
		flag(watch, "busy", "others used %.3f s of CPU time, the program %.3f s", others,
			own);
}

static void watch_clock(struct watch *watch)
{
	double step = (difference(watch, "realtime_ns") - difference(watch, "monotonic_ns")) /
		      (double)NS_PER_S;
	double wall = seconds(watch->result, "wall_ns");

	if (fabs(step) > limits.step_s + limits.step_share * wall)
		flag(watch, "clock-step", "by %.3f s", step);
}

/* A kernel that took the speed of its clock wrong at boot measures everything wrong: its clock is
 * held against ours, from the first result of the boot on. */
static void watch_clock_rate(struct watch *watch)
{
	struct watch_boot *boot = watch->boot;
	int64_t here_ns = watch->run->clock_here_ns;
	int64_t there_ns = json_get_int(watch->after, "monotonic_ns", 0);
	double here, there;

	if (!here_ns || !there_ns)
		return;
	if (!boot->clock_here_ns) {
		boot->clock_here_ns = here_ns;
		boot->clock_there_ns = there_ns;
	}
	here = (double)(here_ns - boot->clock_here_ns) / (double)NS_PER_S;
	there = (double)(there_ns - boot->clock_there_ns) / (double)NS_PER_S;
	if (fabs(there - here) > limits.rate_s + limits.rate_share * here)
		flag(watch, "clock-rate", "%.2f s there in %.2f s here", there, here);
}

static void watch_memory(struct watch *watch)
{
	double in = difference(watch, "swap_in"), out = difference(watch, "swap_out");

	if (in > limits.swap_pages || out > limits.swap_pages)
		flag(watch, "swapping", "%.0f pages in, %.0f out", in > 0 ? in : 0,
			out > 0 ? out : 0);
	if (difference(watch, "oom_kills") > 0)
		flag(watch, "out-of-memory", "%.0f processes", difference(watch, "oom_kills"));
}

static void watch_disk(struct watch *watch)
{
	int64_t left = json_get_int(watch->result, "disk_free_bytes", -1);

	if (left >= 0 && left < DISK_LEFT_BYTES)
		flag(watch, "disk-full", "%lld bytes are left", (long long)left);
}

static void describe_scheduler(const json_t *snapshot, char *out, size_t size)
{
	const json_t *scheduler = json_object_get(snapshot, "sched_ext");

	if (json_is_object(scheduler))
		(void)snprintf(out, size, "%s %s, load %lld", json_get_text(scheduler, "state", ""),
			json_get_text(scheduler, "ops", ""),
			(long long)json_get_int(scheduler, "enable_seq", 0));
}

/* One that failed and was loaded again has been counted up. */
static void watch_scheduler(struct watch *watch)
{
	char before[128] = "", after[128] = "";
	const char *first = watch->boot->scheduler;
	struct str safe = STR_INIT;

	describe_scheduler(watch->before, before, sizeof(before));
	describe_scheduler(watch->after, after, sizeof(after));
	if (strcmp(before, first) || strcmp(after, first)) {
		const char *other = strcmp(before, first) ? before : after;

		str_add_safe(&safe, other, strlen(other));
		flag(watch, "scheduler", "was %s, became %s", first, str_text(&safe));
	}
	str_release(&safe);
}

/* Both must be as before the boot's first run. */
static void watch_text(struct watch *watch, const char *key, const char *reason, const char *first)
{
	const char *before = json_get_text(watch->before, key, "");
	const char *after = json_get_text(watch->after, key, "");
	const char *other = strcmp(before, first) ? before : after;
	struct str safe = STR_INIT;

	if (strcmp(other, first)) {
		str_add_safe(&safe, other, strnlen(other, 100));
		flag(watch, reason, "was %s, became %s", first[0] ? first : "unknown",
			safe.len ? safe.text : "unknown");
	}
	str_release(&safe);
}

static void remember(struct watch_boot *boot, const json_t *before)
{
	if (boot->cpus_online[0] || boot->governors[0] || boot->taint >= 0)
		return;
	(void)snprintf(boot->governors, sizeof(boot->governors), "%s",
		json_get_text(before, "governors", ""));
	(void)snprintf(boot->cpus_online, sizeof(boot->cpus_online), "%s",
		json_get_text(before, "cpus_online", ""));
	describe_scheduler(before, boot->scheduler, sizeof(boot->scheduler));
	boot->taint = json_get_int(before, "taint", -1);
}

void watch_flags(const json_t *result, const struct watch_run *run, struct watch_boot *boot,
	struct arena *arena, struct store_flag **flags, size_t *count)
{
	struct watch watch = {
		.result = result,
		.before = json_object_get(result, "before"),
		.after = json_object_get(result, "after"),
		.run = run,
		.boot = boot,
		.arena = arena,
		.flags = arena_alloc(arena, MAX_FLAGS * sizeof(*watch.flags)),
	};
	/* that it was not is its reason */
	bool started = strcmp(json_get_text(result, "state", ""), "not-started") != 0;

	if (started)
		watch_length(&watch);
	if (run->hooks && *run->hooks)
		flag(&watch, "hook", "%s", run->hooks);
	if (!json_is_object(watch.before) || !json_is_object(watch.after)) {
		if (started)
			flag(&watch, "no-environment",
				"the agent did not look before and after the run");
	} else {
		remember(boot, watch.before);
		watch_kernel(&watch);
		watch_heat(&watch);
		watch_temperature(&watch);
		watch_cpu_use(&watch);
		watch_clock(&watch);
		watch_clock_rate(&watch);
		watch_memory(&watch);
		watch_disk(&watch);
		watch_scheduler(&watch);
		watch_text(&watch, "governors", "governor", boot->governors);
		watch_text(&watch, "cpus_online", "cpus-changed", boot->cpus_online);
		/* told once */
		if (json_get_int(watch.after, "taint", -1) >= 0)
			boot->taint = json_get_int(watch.after, "taint", -1);
	}
	*flags = watch.flags;
	*count = watch.count;
}
