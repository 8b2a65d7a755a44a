/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_guest: what a run and a boot cost, in a QEMU guest of 8 CPUs.
 *
 * Runs: the engine walks a real experiment of one boot. Each of its runs, from before its first
 * step until its rows and files are stored, stands against the same program with the same arguments
 * called bare over the same ssh connection; the two alternate. The program is bench/lookout.c: it
 * keeps a CPU busy for 300 ms and counts the context switches of kbracket-agent and of the ssh
 * server while it does.
 *
 * Boots: a kexec of the running guest against a cold boot of the same guest with the same kernel,
 * alternating, both until the agent answers.
 *
 *   bench_guest [FOLDER [KERNELS]]      default build/bench/work kernels/newidle-guest.yaml
 *
 * The kernel is the variant baseline, from the cache that bench_build left, else built first.
 */
#include "base/base.h"

#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "run/engine.h"
#include "model/store_plan.h"
#include "model/store_rows.h"
#include "figure.h"
#include "must.h"

enum { RUNS = 24, BOOTS = 3, CPUS = 8, RUN_MS = 300 };

struct guest {
	struct arena arena;
	const char *folder, *cache, *agent, *native;
	struct experiment experiment;
	struct plan plan;
	/* while the engine works: */
	struct machine *machine;
	int64_t begun_ns, told_ns;
	double ours[RUNS], bare[RUNS]; /* seconds */
	size_t count;
};

/* Functions behind struct backend_ops have no argument of ours. */
static struct guest *present;

static double since(int64_t start_ns)
{
	return (double)(clock_now_ns() - start_ns) / 1e9;
}

static void say(void *arg KB_UNUSED, enum log_level level, const char *line)
{
	if (level != LOG_DEBUG)
		fprintf(stderr, "  %.100s\n", line);
}

static char *experiment_text(const char *kernels)
{
	return xasprintf(
		"experiment: bench\n"
		"machines: [{machine: guest, connect: {qemu: {cpus: %d, llcs: 4, memory: 1G}},\n"
		"  boot: kexec, cmdline: quiet mitigations=off, boot_timeout: 10m}]\n"
		"kernels: %s\n"
		"baseline: baseline\nvariants: []\n"
		"design: {order: [baseline], runs: %d, warmup: 1}\n"
		"suites:\n"
		"  - suite: lookout\n    program: lookout\n    native: true\n    expect: %dms\n"
		"    conditions: {busy: {argv: [lookout, '%d']}}\n"
		"    metrics:\n"
		"      agent: {unit: switches, better: lower, zero_ok: true,\n"
		"        regex: 'agent=([0-9]+)'}\n"
		"      ssh: {unit: switches, better: lower, zero_ok: true, regex: 'ssh=([0-9]+)'}\n"
		"      other: {unit: switches, better: lower, zero_ok: true,\n"
		"        regex: 'other=([0-9]+)'}\n",
		CPUS, kernels, RUNS, RUN_MS, RUN_MS);
}

static void read_experiment(struct guest *guest, const char *kernels, char **text)
{
	char *full = realpath(kernels, NULL), *path = path_join(guest->folder, "bench.yaml");
	struct diag diag = DIAG_INIT;
	struct str why = STR_INIT;

	if (!full) {
		fprintf(stderr, "there is no %s\n", kernels);
		exit(2);
	}
	*text = experiment_text(full);
	if (experiment_read_text(
		    &guest->arena, path, *text, strlen(*text), &guest->experiment, &diag)) {
		diag_write(&diag, &why);
		fprintf(stderr, "%s", str_text(&why));
		exit(2);
	}
	diag_release(&diag);
	MUST(plan_make(&guest->arena, &guest->experiment, guest->experiment.machines, CPUS,
		&guest->plan, &err));
	free(full);
	free(path);
}

/* --- runs --- */

static int open_machine(const struct machine_spec *spec, const struct machine_env *env,
	struct machine **out, struct err *err)
{
	int ret = machine_open(spec, env, out, err);

	if (ret == 0)
		present->machine = *out;
	return ret;
}

/* The program without us, over the connection that the engine uses. */
static double run_bare(struct guest *guest)
{
	char *ms = xasprintf("%d", RUN_MS);
	const char *argv[] = {machine_program_path(guest->machine, "lookout"), ms, NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 60 * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	int64_t start = clock_now_ns();
	double seconds;

	MUST(machine_exec(guest->machine, &spec, &result, &err));
	seconds = since(start);
	if (result.exit_code != 0 || !str_starts(str_text(&result.out), "agent=")) {
		fprintf(stderr, "the bare run failed\n");
		exit(3);
	}
	proc_result_release(&result);
	free(ms);
	return seconds;
}

static void on_progress(void *arg, const struct progress *progress)
{
	struct guest *guest = arg;
	int64_t now = clock_now_ns();

	if (progress->kind == PROGRESS_RUN)
		guest->begun_ns = now;
	else if (progress->kind == PROGRESS_RUN_END && progress->text)
		fprintf(stderr, "  a run failed: %s\n", progress->text);
	else if (progress->kind == PROGRESS_RUN_END && progress->run_kind == RUN_MEASURED &&
		 guest->count < RUNS) {
		guest->ours[guest->count] = since(guest->begun_ns);
		guest->bare[guest->count++] = run_bare(guest);
	} else if (progress->text && now - guest->told_ns > 10 * NS_PER_S) {
		fprintf(stderr, "  %.76s\n", progress->text);
		guest->told_ns = now;
	}
}

static void run_experiment(struct guest *guest, struct store *store, int64_t id)
{
	struct backend_ops ops = backend_ops_real;
	struct engine_options options = {.ops = &ops,
		.build_cache = guest->cache,
		.machine_cache = path_join(guest->folder, "images"),
		.agent = guest->agent,
		.native_dir = guest->native,
		.version = "bench",
		.progress = on_progress,
		.arg = guest};

	ops.open = open_machine;
	MUST(engine_run(store, id, &guest->experiment, &guest->plan, &options, &err));
	free((char *)options.machine_cache);
	if (guest->count < 20) {
		fprintf(stderr, "only %zu of %d runs were stored\n", guest->count, RUNS);
		exit(3);
	}
}

/* Switches of the agent, of the ssh server, of others, over all measured runs. */
struct switches {
	double agent, ssh, other;
};

static int add_sample(void *arg, const struct store_sample_row *row)
{
	struct switches *sum = arg;

	if (row->kind == RUN_WARMUP)
		return 0;
	if (strcmp(row->metric, "agent") == 0)
		sum->agent += row->value;
	else if (strcmp(row->metric, "ssh") == 0)
		sum->ssh += row->value;
	else
		sum->other += row->value;
	return 0;
}

static void print_switches(const char *name, double count, const char *aim)
{
	char left[32];

	(void)snprintf(left, sizeof(left), "%.0f", count);
	figure_line(name, left, "", NAN, aim, count == 0);
}

static void print_runs(struct guest *guest, struct store *store, int64_t id)
{
	double ours, bare;
	char left[32], right[32], *name = xasprintf("a run of %d ms, start to stored", RUN_MS);
	struct switches sum = {0, 0, 0};

	ours = figure_median(guest->ours, guest->count);
	bare = figure_median(guest->bare, guest->count);
	(void)snprintf(left, sizeof(left), "%.0f ms", 1e3 * ours);
	(void)snprintf(right, sizeof(right), "%.0f ms", 1e3 * bare);
	figure_line(name, left, right, ours / bare, "", true);
	(void)snprintf(left, sizeof(left), "%.0f ms", 1e3 * (ours - bare));
	figure_line("  what we add", left, "", NAN, "", true);
	MUST(store_each_sample(store, id, add_sample, &sum, &err));
	(void)snprintf(left, sizeof(left), "switches in %zu runs: agent", guest->count);
	print_switches(left, sum.agent, "none");
	print_switches("  ssh server", sum.ssh, "none");
	print_switches("  other processes", sum.other, "");
	free(name);
}

static void measure_runs(struct guest *guest, const char *text)
{
	static const struct store_ref ref = {"", ""};
	char *path = path_join(guest->folder, "kbracket.db");
	struct store_new what = {.kind = KIND_EXPERIMENT,
		.experiment = &guest->experiment,
		.spec = text,
		.plans = &guest->plan,
		.refs = &ref,
		.version = "bench"};
	struct store *store;
	int64_t id;

	MUST(store_open(path, STORE_WRITE, &store, &err));
	MUST(store_create(store, &what, &id, &err));
	run_experiment(guest, store, id);
	print_runs(guest, store, id);
	store_close(store);
	free(path);
}

/* --- boots --- */

static void measure_boots(struct guest *guest)
{
	const struct variant *variant = guest->experiment.variants[0];
	struct build_env build_env = {.cache_dir = guest->cache};
	char *images = path_join(guest->folder, "images"), left[32], right[32];
	struct machine_env env = {.cache_dir = images, .agent = guest->agent};
	double cold[BOOTS], kexec[BOOTS], x, y;
	struct boot_image image;
	struct machine *machine;
	struct build build;

	MUST(builder_for(variant)->build(&build_env, variant, &guest->arena, &build, &err));
	image = (struct boot_image){
		build.image, build.modules, build.release, guest->experiment.machines[0].cmdline, ""};
	MUST(machine_open(guest->experiment.machines, &env, &machine, &err));
	MUST(machine_start(machine, &image, &err));
	for (int i = 0; i < BOOTS; i++) {
		char *console = arena_printf(&guest->arena, "%s/console-%d", guest->folder, i);
		int64_t start = clock_now_ns();

		MUST(machine_boot(machine, &image, console, &err));
		kexec[i] = since(start);
		start = clock_now_ns();
		MUST(machine_recover(machine, &image, &err));
		cold[i] = since(start);
		fprintf(stderr, "  boot %d of %d: kexec %.1f s, cold %.1f s\n", i + 1, BOOTS,
			kexec[i], cold[i]);
	}
	machine_close(machine);
	x = figure_median(kexec, BOOTS);
	y = figure_median(cold, BOOTS);
	(void)snprintf(left, sizeof(left), "%.1f s", x);
	(void)snprintf(right, sizeof(right), "%.1f s", y);
	figure_line("kexec, against a cold boot", left, right, x / y, "", true);
	free(images);
}

int main(int argc, char **argv)
{
	const char *base = argc > 1 ? argv[1] : "build/bench/work", *build = getenv("KB_BUILD");
	struct guest guest = {.count = 0};
	char *text;

	present = &guest;
	if (!build)
		build = "build";
	log_set_sink(say, NULL);
	guest.folder = arena_printf(&guest.arena, "%s/guest", base);
	guest.cache = arena_printf(&guest.arena, "%s/build-cache", base);
	guest.agent = arena_printf(&guest.arena, "%s/kbracket-agent", build);
	guest.native = arena_printf(&guest.arena, "%s/bench", build);
	MUST(file_remove_tree(guest.folder, &err));
	MUST(file_mkdirs(guest.folder, 0755, &err));
	read_experiment(&guest, argc > 2 ? argv[2] : "kernels/newidle-guest.yaml", &text);
	figure_head("Guest");
	measure_runs(&guest, text);
	measure_boots(&guest);
	MUST(file_remove_tree(guest.folder, &err));
	arena_release(&guest.arena);
	free(text);
	return 0;
}
