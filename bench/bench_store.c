/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_store: what keeping results costs, and telling them.
 *
 * Storing: the store's own path for a finished run (its row, its environment, samples and raw
 * files' rows; one transaction a run, synchronous=FULL, write-ahead log) against a loop of prepared
 * SQLite statements that writes the same rows with the same pragmas in the same transactions, in a
 * second database of the same schema on the same disk. Rounds of both alternate; medians are
 * printed. "with its start": the journal's own transaction before each run counts as ours.
 *
 * Telling: `kbracket report` of an experiment with 1,000,000 samples that was never judged, against
 * one query that reads all samples and adds them up. Everything is in the page cache, so the
 * process waits for nothing but a CPU: its CPU time is what it takes on an idle machine, and is
 * held to the aim; the wall clock of this run stands below it. Peak memory is that of the whole
 * process.
 *
 *   bench_store [FOLDER]      default build/bench/work: on the disk that results would be on
 */
#include "base/base.h"

#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "figure.h"
#include "lab.h"

enum { ROUNDS = 10, SAMPLES_MAX = 2000 };

/* As long as what the agent tells about a guest of 8 CPUs. */
static char environment[3000];

/* What something took, in seconds. */
struct cost {
	double wall, cpu;
	double peak_mib;
};

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double since(int64_t start_ns)
{
	return (double)(clock_now_ns() - start_ns) / 1e9;
}

/* --- the same rows by bare SQLite --- */

struct bare {
	sqlite3 *db;
	sqlite3_stmt *begin, *commit, *run, *environment, *sample, *raw;
};

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
		exit(3);
	}
	return stmt;
}

static void step(struct bare *bare, sqlite3_stmt *stmt)
{
	if (sqlite3_step(stmt) != SQLITE_DONE) {
		fprintf(stderr, "%s\n", sqlite3_errmsg(bare->db));
		exit(3);
	}
	sqlite3_reset(stmt);
}

static void bare_open(struct bare *bare, const char *path)
{
	if (sqlite3_open(path, &bare->db) != SQLITE_OK ||
		sqlite3_exec(bare->db,
			"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
			"PRAGMA foreign_keys = ON;",
			NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(bare->db));
		exit(3);
	}
	bare->begin = prepare(bare->db, "BEGIN IMMEDIATE");
	bare->commit = prepare(bare->db, "COMMIT");
	bare->run = prepare(bare->db,
		"UPDATE run SET state = 'done', attempt_id = ?2, started_ns = 1, ended_ns = 2,"
		" wall_ns = 3, exit_code = 0, user_ns = 4, system_ns = 5, max_rss_bytes = 6,"
		" voluntary_switches = 7, involuntary_switches = 8, reading = 1, stored_ns = 9"
		" WHERE id = ?1");
	bare->environment = prepare(bare->db, "INSERT INTO environment VALUES (?, ?)");
	bare->sample = prepare(bare->db, "INSERT INTO sample VALUES (?, 1, ?, ?, ?, NULL)");
	bare->raw = prepare(bare->db,
		"INSERT INTO raw (run_id, kind, path, sha256, bytes) VALUES (?, ?, ?, ?, ?)");
}

static void bare_close(struct bare *bare)
{
	sqlite3_stmt *const all[] = {
		bare->begin, bare->commit, bare->run, bare->environment, bare->sample, bare->raw};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		sqlite3_finalize(all[i]);
	sqlite3_close(bare->db);
}

static void bare_raw(struct bare *bare, int64_t run_id, const struct store_raw *raw)
{
	sqlite3_bind_int64(bare->raw, 1, run_id);
	sqlite3_bind_text(bare->raw, 2, raw->kind, -1, SQLITE_STATIC);
	sqlite3_bind_text(bare->raw, 3, raw->path, -1, SQLITE_STATIC);
	sqlite3_bind_text(bare->raw, 4, raw->sha256, -1, SQLITE_STATIC);
	sqlite3_bind_int64(bare->raw, 5, raw->bytes);
	step(bare, bare->raw);
}

static void bare_run(struct bare *bare, const struct store_run_end *end)
{
	step(bare, bare->begin);
	sqlite3_bind_int64(bare->run, 1, end->run_id);
	sqlite3_bind_int64(bare->run, 2, end->attempt_id);
	step(bare, bare->run);
	sqlite3_bind_int64(bare->environment, 1, end->run_id);
	sqlite3_bind_text(bare->environment, 2, end->environment, -1, SQLITE_STATIC);
	step(bare, bare->environment);
	for (size_t i = 0; i < end->sample_count; i++) {
		sqlite3_bind_int64(bare->sample, 1, end->run_id);
		sqlite3_bind_int64(bare->sample, 2, end->samples[i].metric_id);
		sqlite3_bind_int64(bare->sample, 3, end->samples[i].ordinal);
		sqlite3_bind_double(bare->sample, 4, end->samples[i].value);
		step(bare, bare->sample);
	}
	for (size_t i = 0; i < end->raw_count; i++)
		bare_raw(bare, end->run_id, &end->raws[i]);
	step(bare, bare->commit);
}

/* --- storing --- */

/* Runs of one boot, stored one after the other. */
struct storing {
	struct lab lab;
	struct store_run *runs;
	size_t count, at;
	int64_t attempt;
	uint64_t random;
	struct store_sample samples[SAMPLES_MAX];
	struct store_raw raws[2];
};

static void storing_open(struct storing *storing, const char *path, const struct lab_size *size)
{
	const struct store_boot *boot;

	lab_open(&storing->lab, path, size);
	lab_build(&storing->lab);
	boot = &storing->lab.view.machines[0].boots[0];
	storing->attempt = lab_boot(&storing->lab, boot);
	MUST(store_load_runs(storing->lab.store, boot->id, &storing->lab.arena, &storing->runs,
		&storing->count, &err));
	for (size_t i = 0; i < ARRAY_SIZE(storing->raws); i++)
		storing->raws[i] = (struct store_raw){i ? "stderr" : "stdout",
			"raw/1-bench/guest/boot-001/run-001.1-stdout.zst",
			"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", 1234};
}

static void next_run(struct storing *storing, struct store_run_end *end)
{
	const struct store_run *run = &storing->runs[storing->at++];

	lab_samples(&storing->lab, run, 0, &storing->random, storing->samples);
	*end = (struct store_run_end){
		.run_id = run->id,
		.attempt_id = storing->attempt,
		.started_ns = 1,
		.ended_ns = 2,
		.environment = environment,
		.samples = storing->samples,
		.sample_count = (size_t)(storing->lab.size.metrics * storing->lab.size.samples),
		.raws = storing->raws,
		.raw_count = ARRAY_SIZE(storing->raws),
	};
}

/* Runs are marked as started beforehand, all in one transaction, or each before it is stored. */
static struct cost store_round(struct storing *storing, size_t runs, bool with_start)
{
	struct store *store = storing->lab.store;
	int64_t start;
	double cpu;

	if (!with_start) {
		MUST(store_begin(store, &err));
		for (size_t i = 0; i < runs; i++)
			MUST(store_run_begin(
				store, storing->runs[storing->at + i].id, storing->attempt, &err));
		MUST(store_finish(store, 0, &err));
	}
	start = clock_now_ns();
	cpu = cpu_seconds();
	for (size_t i = 0; i < runs; i++) {
		struct store_run_end end;

		if (with_start)
			MUST(store_run_begin(
				store, storing->runs[storing->at].id, storing->attempt, &err));
		next_run(storing, &end);
		MUST(store_run_finish(store, &end, &err));
	}
	return (struct cost){since(start), cpu_seconds() - cpu, 0};
}

static struct cost bare_round(struct bare *bare, struct storing *storing, size_t runs)
{
	int64_t start = clock_now_ns();
	double cpu = cpu_seconds();

	for (size_t i = 0; i < runs; i++) {
		struct store_run_end end;

		next_run(storing, &end);
		bare_run(bare, &end);
	}
	return (struct cost){since(start), cpu_seconds() - cpu, 0};
}

/* Medians of the rounds. */
static void print_storing(
	const char *name, double rows, const struct cost *ours, const struct cost *reference)
{
	double a[2][ROUNDS], b[2][ROUNDS];
	char left[32], right[32];

	for (size_t i = 0; i < ROUNDS; i++) {
		a[0][i] = rows / ours[i].wall;
		b[0][i] = rows / reference[i].wall;
		a[1][i] = 1e6 * ours[i].cpu / rows;
		b[1][i] = 1e6 * reference[i].cpu / rows;
	}
	for (int i = 0; i < 2; i++) {
		double x = figure_median(a[i], ROUNDS), y = figure_median(b[i], ROUNDS);

		(void)snprintf(left, sizeof(left), i ? "%.1f us/row" : "%.0f rows/s", x);
		(void)snprintf(right, sizeof(right), i ? "%.1f us/row" : "%.0f rows/s", y);
		figure_line(i ? "  its CPU time" : name, left, right, x / y, "", true);
	}
}

static void compare_storing(const char *folder, int samples, size_t runs, bool with_start)
{
	struct lab_size size = {2, 2, 1, (int)runs * ROUNDS, 2, samples / 2};
	char *ours_path = xasprintf("%s/ours.db", folder),
	     *bare_path = xasprintf("%s/bare.db", folder),
	     *name = xasprintf(
		     "store runs of %d samples%s", samples, with_start ? ", with its start" : "");
	static struct storing ours, reference;
	struct cost a[ROUNDS], b[ROUNDS];
	struct bare bare;

	ours = reference = (struct storing){.at = 0};
	storing_open(&ours, ours_path, &size);
	storing_open(&reference, bare_path, &size);
	store_close(reference.lab.store);
	reference.lab.store = NULL;
	bare_open(&bare, bare_path);
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 2)
			b[i] = bare_round(&bare, &reference, runs);
		a[i] = store_round(&ours, runs, with_start);
		if (i % 2 == 0)
			b[i] = bare_round(&bare, &reference, runs);
	}
	/* Samples, two files, the environment and the run itself. */
	print_storing(name, (double)runs * (samples + 4), a, b);
	bare_close(&bare);
	lab_close(&ours.lab);
	lab_close(&reference.lab);
	free(ours_path);
	free(bare_path);
	free(name);
}

/* --- telling --- */

static void fill_boot(struct lab *lab, const struct store_boot *boot, uint64_t *random)
{
	static struct store_sample samples[SAMPLES_MAX];
	/* One run in a hundred is marked; one of ten of those is left out. */
	static const struct store_flag flags[] = {
		{"steal", "0.6 % of the CPU time"}, {"clock-step", "the clock was set by 3 s"}};
	int64_t attempt = lab_boot(lab, boot);
	struct arena arena = ARENA_INIT;
	struct store_run *runs;
	size_t count;

	MUST(store_load_runs(lab->store, boot->id, &arena, &runs, &count, &err));
	for (size_t i = 0; i < count; i++) {
		uint64_t draw = plan_random(random) % 1000;
		struct store_run_end end = {.run_id = runs[i].id,
			.attempt_id = attempt,
			.samples = samples,
			.sample_count = (size_t)(lab->size.metrics * lab->size.samples),
			.flags = &flags[draw == 0],
			.flag_count = draw < 10};

		lab_samples(lab, &runs[i], boot->variant->position, random, samples);
		MUST(store_run_begin(lab->store, runs[i].id, attempt, &err));
		MUST(store_run_finish(lab->store, &end, &err));
	}
	MUST(store_boot_finish(lab->store, boot->id, NULL, NULL, &err));
	arena_release(&arena);
}

/* All in one transaction: how fast it is stored is measured elsewhere. */
static void fill(const char *path, const struct lab_size *size)
{
	struct lab lab;
	uint64_t random = 1;

	lab_open(&lab, path, size);
	MUST(store_begin(lab.store, &err));
	lab_build(&lab);
	for (size_t i = 0; i < lab.view.machines[0].boot_count; i++)
		fill_boot(&lab, &lab.view.machines[0].boots[i], &random);
	MUST(store_experiment_move(lab.store, lab.experiment_id, STATE_DONE, &err));
	MUST(store_finish(lab.store, 0, &err));
	lab_close(&lab);
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* What a child took. Filling is done in a child too, because what a process
 * held before exec counts as its child's peak. */
static struct cost run_child(const char *const *argv)
{
	int64_t start = clock_now_ns();
	struct rusage usage;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		(void)dup2(null, 1);
		(void)dup2(null, 2);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	/* Exit codes 1 and 4 are what the report found. */
	if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) ||
		(WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 1 &&
			WEXITSTATUS(status) != 4)) {
		fprintf(stderr, "%s %s failed\n", argv[0], argv[1]);
		exit(3);
	}
	return (struct cost){since(start), seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
		(double)usage.ru_maxrss / 1024};
}

/* CPU seconds. */
static double read_all(const char *path)
{
	double start = cpu_seconds(), total = 0;
	sqlite3_stmt *stmt;
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK)
		exit(3);
	stmt = prepare(db, "SELECT run_id, metric_id, value FROM sample");
	while (sqlite3_step(stmt) == SQLITE_ROW)
		total += sqlite3_column_double(stmt, 2);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	if (!(total > 0))
		exit(3);
	return cpu_seconds() - start;
}

static void print_seconds(const char *name, double ours, double reference, const char *aim)
{
	char left[32], right[32] = "";

	(void)snprintf(left, sizeof(left), "%.2f s", ours);
	if (isfinite(reference))
		(void)snprintf(right, sizeof(right), "%.2f s", reference);
	figure_line(name, left, right, ours / reference, aim, ours < 1);
}

static void compare_telling(const char *self, const char *folder, const char *shape)
{
	enum { TIMES = 5 };
	const char *build = getenv("KB_BUILD");
	char *path = xasprintf("%s/%s.db", folder, shape);
	char *kbracket = xasprintf("%s/kbracket", build ? build : "build");
	char *name = xasprintf("report 1,000,000 samples, %s", shape), text[32];
	const char *const fill_argv[] = {self, "--fill", shape, path, NULL};
	const char *const report[] = {kbracket, "report", "--db", path, NULL};
	const char *const judge[] = {kbracket, "judge", "--db", path, NULL};
	double cpu[TIMES], wall[TIMES], again[TIMES], floors[TIMES], peak = 0, floor;

	printf("(making 1,000,000 samples: %s)\n", shape);
	fflush(stdout);
	(void)run_child(fill_argv);
	for (size_t i = 0; i < TIMES; i++) {
		struct cost first, second;

		floors[i] = read_all(path);
		/* The first report judges by itself. Later ones find that done: it is done again.
		 */
		first = i ? run_child(judge) : (struct cost){0, 0, 0};
		second = run_child(report);
		cpu[i] = first.cpu + second.cpu;
		wall[i] = first.wall + second.wall;
		again[i] = i ? second.cpu : run_child(report).cpu;
		peak = fmax(peak, fmax(first.peak_mib, second.peak_mib));
	}
	floor = figure_median(floors, TIMES);
	print_seconds(name, figure_median(cpu, TIMES), floor, "under 1 s");
	print_seconds("  wall clock of this run", figure_median(wall, TIMES), NAN, "");
	print_seconds("  again, when it is judged already", figure_median(again, TIMES), floor, "");
	(void)snprintf(text, sizeof(text), "%.0f MiB", peak);
	figure_line("  its peak memory", text, "", NAN, "under 100 MB", peak * 1048576 < 100e6);
	free(path);
	free(kbracket);
	free(name);
}

static const struct lab_size *shape_size(const char *shape)
{
	/* 40 boots of 50 conditions: 200,000 runs of 5 values, or 20,000 of 50. */
	static const struct lab_size runs = {5, 8, 50, 100, 5, 1}, deep = {5, 8, 50, 10, 5, 10};

	return strcmp(shape, "200000-runs") == 0 ? &runs : &deep;
}

int main(int argc, char **argv)
{
	const char *base = argc > 1 ? argv[1] : "build/bench/work";
	char *folder;

	if (argc == 4 && strcmp(argv[1], "--fill") == 0) {
		fill(argv[3], shape_size(argv[2]));
		return 0;
	}
	MUST(file_mkdirs(base, 0755, &err));
	folder = xasprintf("%s/store-XXXXXX", base);
	if (!mkdtemp(folder)) {
		fprintf(stderr, "cannot make %s\n", folder);
		return 3;
	}
	memset(environment, 'x', sizeof(environment) - 1);
	figure_head("Store");
	compare_storing(folder, 4, 100, false);
	compare_storing(folder, 4, 100, true);
	compare_storing(folder, 1000, 20, false);
	compare_telling(argv[0], folder, "20000-runs");
	compare_telling(argv[0], folder, "200000-runs");
	MUST(file_remove_tree(folder, &err));
	free(folder);
	return 0;
}
