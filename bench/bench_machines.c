/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_machines: one experiment on very many machines, and what the process that keeps them
 * together costs.
 *
 * The machines are SIMULATED: those of tests/fake_lab.h, where a boot is the writing of some files.
 * All else is real: a worker process for each, the agent and its runs (of a program that prints two
 * numbers), raw output, one database on a disk. So there are far more boots and runs a second than
 * real machines would give, all of them from this one computer.
 *
 * "reference" is the same experiment on one machine, times the number of machines. Nothing may be
 * lost: every value of every run of every boot is there once, or the program exits 1.
 *
 *   bench_machines [FOLDER [MACHINES]]      default build/bench/work, 200
 */
#include "base/base.h"

#include <dirent.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/num.h"
#include "model/store_rows.h"
#include "figure.h"
#include "must.h"
#include "../tests/fake_lab.h"

enum { BOOTS = 4, RUNS = 3, VALUES = 2 };

struct bench {
	char *folder;
	int machines;
	struct arena arena;
	struct experiment experiment;
	struct plan *plans;
	int64_t id;
	char *database;
};

/* What a run of the engine took. */
struct cost {
	double wall_s, own_cpu_s, workers_cpu_s;
	double own_peak_mib, workers_peak_mib; /* resident; proportional share, all together */
	bool failed;
};

static char *experiment_text(const struct bench *bench)
{
	struct str s = STR_INIT;

	str_add(&s, "experiment: many\nmachines:\n");
	for (int m = 1; m <= bench->machines; m++)
		str_addf(&s,
			"  - {machine: m%d, connect: {ssh: nowhere%d}, cpus: 4,\n"
			"     workdir: %s/m%d, programs: {two: %s/two.sh}}\n",
			m, m, bench->folder, m, bench->folder);
	str_addf(&s,
		"baseline: A\n"
		"kernels: {variants: {A: {prebuilt: {image: %s/A}}, B: {prebuilt: {image: "
		"%s/B}}}}\n"
		"variants: [B]\n"
		"suites:\n"
		"  - suite: two\n    program: two\n    conditions: {by: {argv: [two]}}\n"
		"    expect: 10ms\n    timeout: 600s\n    metrics:\n"
		"      x: {unit: ops/s, better: higher, regex: '^x ([0-9]+)$', which: all}\n"
		"design: {order: [A, B, B, A], runs: %d, warmup: 0}\n",
		bench->folder, bench->folder, RUNS);
	return str_take(&s);
}

static void plan(struct bench *bench)
{
	char *text = experiment_text(bench);
	struct diag diag = DIAG_INIT;

	if (experiment_read_text(
		    &bench->arena, "bench", text, strlen(text), &bench->experiment, &diag)) {
		struct str why = STR_INIT;

		diag_write(&diag, &why);
		fprintf(stderr, "%s", str_text(&why));
		exit(3);
	}
	diag_release(&diag);
	bench->plans = arena_alloc(&bench->arena, (size_t)bench->machines * sizeof(*bench->plans));
	for (int m = 0; m < bench->machines; m++)
		MUST(plan_make(&bench->arena, &bench->experiment, &bench->experiment.machines[m], 4,
			&bench->plans[m], &err));
	free(text);
}

static void store(struct bench *bench)
{
	static const struct store_ref refs[2] = {{"", ""}, {"", ""}};
	struct store_new what = {
		.experiment = &bench->experiment,
		.spec = "experiment: many\n",
		.plans = bench->plans,
		.refs = refs,
		.version = "bench",
	};
	struct store *opened;

	bench->database = xasprintf("%s/results/kbracket.db", bench->folder);
	MUST(store_open(bench->database, STORE_WRITE, &opened, &err));
	MUST(store_create(opened, &what, &bench->id, &err));
	store_close(opened);
}

static void open_bench(struct bench *bench, const char *base, int machines)
{
	static const char program[] = "#!/bin/sh\necho x 100; echo x 200\n";
	char *path;

	*bench = (struct bench){.machines = machines};
	bench->folder = xasprintf("%s/machines-XXXXXX", base);
	if (!mkdtemp(bench->folder))
		BUG("mkdtemp %s", bench->folder);
	fake_line(bench->folder, "A", "6.12.0-A 1111111111111111 ok");
	fake_line(bench->folder, "B", "6.12.0-B 2222222222222222 ok");
	fake_write(bench->folder, "two.sh", program, strlen(program));
	path = xasprintf("%s/two.sh", bench->folder);
	if (chmod(path, 0755))
		BUG("chmod");
	free(path);
	plan(bench);
	store(bench);
}

static void close_bench(struct bench *bench)
{
	MUST(file_remove_tree(bench->folder, &err));
	arena_release(&bench->arena);
	free(bench->folder);
	free(bench->database);
}

static double seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/* The whole of it in a child, which tells what it took of CPU time and memory. */
KB_NORETURN static void run_engine(const struct bench *bench, const char *agent, int fd)
{
	struct engine_options options = {
		.ops = &fake_ops,
		.build_cache = bench->folder,
		.machine_cache = bench->folder,
		.agent = agent,
		.native_dir = bench->folder,
		.version = "bench",
	};
	struct rusage own, workers;
	struct store *opened;
	struct cost cost;

	MUST(store_open(bench->database, STORE_WRITE, &opened, &err));
	MUST(engine_run(opened, bench->id, &bench->experiment, bench->plans, &options, &err));
	store_close(opened);
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &workers);
	cost = (struct cost){.own_cpu_s = seconds(&own),
		.workers_cpu_s = seconds(&workers),
		.own_peak_mib = (double)own.ru_maxrss / 1024};
	_exit(write(fd, &cost, sizeof(cost)) == sizeof(cost) ? 0 : 3);
}

/* A number of kB in a file of /proc, from the line that begins with key; 0: it is not there. */
static double proc_kib(const char *pid, const char *file, const char *key)
{
	char *path = xasprintf("/proc/%s/%s", pid, file);
	struct str text = STR_INIT;
	const char *at;
	double kib = 0;

	if (!file_read(path, 1 << 16, &text, NULL) && (at = strstr(str_text(&text), key)))
		kib = strtod(at + strlen(key), NULL);
	str_release(&text);
	free(path);
	return kib;
}

/* What the workers hold at the moment: memory that several share counts for each with its part. */
static double workers_mib(pid_t parent)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	double kib = 0;

	while (folder && (entry = readdir(folder))) {
		const char *pid = entry->d_name;

		if (*pid >= '1' && *pid <= '9' && (pid_t)proc_kib(pid, "status", "PPid:") == parent)
			kib += proc_kib(pid, "smaps_rollup", "\nPss:");
	}
	if (folder)
		closedir(folder);
	return kib / 1024;
}

static struct cost measure(const struct bench *bench, const char *agent)
{
	int64_t started = clock_now_ns();
	double peak = 0;
	struct cost cost = {.failed = true};
	int fds[2], status = -1;
	pid_t pid;

	if (pipe(fds))
		BUG("pipe");
	pid = fork();
	if (pid == 0)
		run_engine(bench, agent, fds[1]);
	close(fds[1]);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		peak = fmax(peak, workers_mib(pid));
		clock_sleep_ns(NS_PER_S / 2);
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
		read(fds[0], &cost, sizeof(cost)) == sizeof(cost)) {
		cost.wall_s = (double)(clock_now_ns() - started) / 1e9;
		cost.workers_peak_mib = peak;
	}
	close(fds[0]);
	return cost;
}

/* How often each value is there. */
struct count {
	const struct bench *bench;
	unsigned char *seen;
	int wrong;
};

static int count_sample(void *arg, const struct store_sample_row *row)
{
	struct count *count = arg;
	int machine = (int)strtol(row->machine + 1, NULL, 10); /* "m7" */

	if (machine < 1 || machine > count->bench->machines || row->boot > BOOTS ||
		row->run > RUNS || row->ordinal > VALUES || row->value != 100.0 * row->ordinal) {
		count->wrong++;
		return 0;
	}
	count->seen[(((machine - 1) * BOOTS + row->boot - 1) * RUNS + row->run - 1) * VALUES +
		    row->ordinal - 1]++;
	return 0;
}

/* Values that are there exactly once; *all: that there should be. */
static int whole(const struct bench *bench, int *all)
{
	struct count count = {.bench = bench};
	struct store *opened;
	int once = 0;

	*all = bench->machines * BOOTS * RUNS * VALUES;
	count.seen = xcalloc((size_t)*all, 1);
	MUST(store_open(bench->database, STORE_READ, &opened, &err));
	MUST(store_each_sample(opened, bench->id, count_sample, &count, &err));
	store_close(opened);
	for (int i = 0; i < *all; i++)
		once += count.seen[i] == 1;
	free(count.seen);
	return count.wrong ? 0 : once;
}

static void tell(const char *name, double ours, const char *unit, double reference)
{
	char left[32], right[32] = "";

	(void)snprintf(left, sizeof(left), "%.1f %s", ours, unit);
	if (!isnan(reference))
		(void)snprintf(right, sizeof(right), "%.1f %s", reference, unit);
	figure_line(name, left, right, ours / reference, "", true);
}

int main(int argc, char **argv)
{
	const char *base = argc > 1 ? argv[1] : "build/bench/work";
	int64_t machines = 200;
	struct bench one, many;
	struct cost alone, all;
	char *program = xstrdup(argv[0]), *folder, *agent, text[64];
	int kept, expected;

	if (argc > 2)
		MUST(num_int(argv[2], 2, 1000, &machines, &err));
	folder = path_dir(program);
	agent = xasprintf("%s/../kbracket-agent", folder);
	MUST(file_mkdirs(base, 0755, &err));
	open_bench(&one, base, 1);
	alone = measure(&one, agent);
	close_bench(&one);
	open_bench(&many, base, (int)machines);
	all = measure(&many, agent);
	kept = whole(&many, &expected);
	close_bench(&many);
	(void)snprintf(text, sizeof(text), "%d machines (simulated)", (int)machines);
	figure_head(text);
	tell("wall clock", all.wall_s, "s", alone.wall_s * (double)machines);
	tell("CPU time of the process that keeps them together", all.own_cpu_s, "s", NAN);
	tell("  of the workers, the agents and the programs", all.workers_cpu_s, "s",
		(alone.own_cpu_s + alone.workers_cpu_s) * (double)machines);
	tell("its peak memory", all.own_peak_mib, "MiB", NAN);
	tell("  of all workers together", all.workers_peak_mib, "MiB", NAN);
	tell("  of each", all.workers_peak_mib * 1024 / (double)machines, "KiB", NAN);
	(void)snprintf(text, sizeof(text), "%d of %d", kept, expected);
	figure_line("values that are stored once", text, "", NAN, "all",
		!all.failed && kept == expected);
	free(program);
	free(folder);
	free(agent);
	return all.failed || alone.failed || kept != expected;
}
