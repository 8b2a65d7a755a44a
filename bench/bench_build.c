/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_build: what it costs to have the kernels of an experiment.
 *
 * The founding experiment's variants (kernels/newidle-guest.yaml, `make newidle-tree` first) are
 * built by kbracket's own builder in a cache that is empty at the start and stays for bench_guest:
 * baseline is the clean build, and what everything else is compared with. Then the other variants
 * one after the other, as an experiment builds them: each is an incremental build in the same tree,
 * checkout, configuration and copying of the results included. Then what should not be built at
 * all: the same variant again, and revert, whose source equals baseline's. Both wall clock and CPU
 * time are printed, because a build has to share the CPUs with whatever else runs here.
 *
 *   bench_build [FOLDER [KERNELS]]      default build/bench/work kernels/newidle-guest.yaml
 */
#include "base/base.h"

#include <math.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/file.h"
#include "backend/builder.h"
#include "figure.h"
#include "must.h"

struct cost {
	double wall, cpu; /* seconds */
	bool from_cache;
};

struct shop {
	struct arena arena;
	struct kernels kernels;
	struct build_env env;
	int64_t told_ns;
};

/* A line every ten seconds. */
static void tell(void *arg, const char *line)
{
	struct shop *shop = arg;
	int64_t now = clock_now_ns();

	if (now - shop->told_ns < 10 * NS_PER_S)
		return;
	shop->told_ns = now;
	fprintf(stderr, "  %.76s\n", line);
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* Ours and that of all children that have ended. */
static double cpu_seconds(void)
{
	static const int whos[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
	double seconds = 0;

	for (size_t i = 0; i < ARRAY_SIZE(whos); i++) {
		struct rusage usage;

		getrusage(whos[i], &usage);
		seconds += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
	}
	return seconds;
}

static struct cost build(struct shop *shop, const char *name)
{
	const struct variant *variant = kernels_find(&shop->kernels, name);
	int64_t start = clock_now_ns();
	double cpu = cpu_seconds();
	struct build out;

	if (!variant) {
		fprintf(stderr, "%s has no variant '%s'\n", shop->kernels.file, name);
		exit(2);
	}
	MUST(builder_for(variant)->build(&shop->env, variant, &shop->arena, &out, &err));
	return (struct cost){
		(double)(clock_now_ns() - start) / 1e9, cpu_seconds() - cpu, out.from_cache};
}

static void print_seconds(char text[32], double seconds)
{
	(void)snprintf(text, 32, seconds < 1 ? "%.3f s" : "%.1f s", seconds);
}

static void print(const char *name, const struct cost *ours, const struct cost *clean, bool instant)
{
	char left[32], right[32];

	print_seconds(left, ours->wall);
	print_seconds(right, clean->wall);
	figure_line(name, left, right, ours->wall / clean->wall,
		instant ? "instant (under 1 s)" : "", ours->from_cache && ours->wall < 1);
	print_seconds(left, ours->cpu);
	print_seconds(right, clean->cpu);
	figure_line("  CPU time", left, right, ours->cpu / clean->cpu, "", true);
}

static void read_kernels(struct shop *shop, const char *path)
{
	struct diag diag = DIAG_INIT;
	struct str why = STR_INIT;

	if (kernels_read(&shop->arena, path, &shop->kernels, &diag)) {
		diag_write(&diag, &why);
		fprintf(stderr, "%s", str_text(&why));
		exit(2);
	}
	diag_release(&diag);
}

int main(int argc, char **argv)
{
	static const char *const others[] = {"proportional", "rate-fix", "bresenham"};
	struct shop shop = {.kernels = {.file = NULL}};
	struct cost clean, next;
	char *folder;

	folder = path_join(argc > 1 ? argv[1] : "build/bench/work", "build-cache");
	read_kernels(&shop, argc > 2 ? argv[2] : "kernels/newidle-guest.yaml");
	shop.env = (struct build_env){.cache_dir = folder, .progress = tell, .arg = &shop};
	MUST(file_remove_tree(folder, &err));
	MUST(file_mkdirs(folder, 0755, &err));
	figure_head("Build");
	fprintf(stderr, "(a clean build: some minutes)\n");
	clean = build(&shop, "baseline");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		char *name = xasprintf("%s after %s", others[i], i ? others[i - 1] : "baseline");

		next = build(&shop, others[i]);
		print(name, &next, &clean, false);
		free(name);
	}
	next = build(&shop, "proportional");
	print("proportional again", &next, &clean, true);
	next = build(&shop, "revert");
	print("revert (the source of baseline)", &next, &clean, true);
	arena_release(&shop.arena);
	free(folder);
	return 0;
}
