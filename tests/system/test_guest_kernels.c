/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels built from git and booted in a small guest: a build that is killed and goes on, a kernel
 * that is slower in its wake-ups and one that is not, and kernels that panic, hang, or are not what
 * they should be. The builds go on in the folder of long_kernel_build.c, so that everything is
 * compiled only once; a line in the configuration that is new each time makes sure that something
 * is built. About eight minutes without KVM on two idle cores, two of them for the clean build.
 */
#include "base/base.h"

#include <sys/stat.h>
#include <time.h>

#include "real_lab.h"
#include "sys/compress.h"

static const char kernels[] =
	"tree: %S/kernels/trees/newidle\n"
	"config:\n"
	"  base: allnoconfig\n"
	"  fragments: [%S/kernels/fragments/guest.config, %S/build/test-kernels/own.config]\n"
	"variants:\n"
	"  good: { ref: newidle-proportional }\n"
	"  same: { like: good }\n"
	"  slow: { like: good, patches: [%S/tests/fixtures/patches/slow-wakeup.patch] }\n"
	"  panics: { like: good, patches: [%S/tests/fixtures/patches/panic-at-once.patch] }\n"
	"  hangs: { like: good, patches: [%S/tests/fixtures/patches/hang-at-once.patch] }\n";

#define MACHINE                                                   \
	"machine: guest\n"                                        \
	"connect: { qemu: { cpus: 4, llcs: 2, memory: 512M } }\n" \
	"cmdline: quiet nokaslr mitigations=off\n"

/* Eight boots of the same kernel, four of the slow one: that alone makes the verdict on a change of
 * several times certain. The small alpha is for `same`, which must not be called changed. */
static const char wake[] = "experiment: wake\n"
			   "machines: [guest]\n"
			   "kernels: ../kernels/kernels.yaml\n"
			   "baseline: good\n"
			   "variants: [same, slow]\n"
			   "suites: [wakefan]\n"
			   "saturation: [100%, 50%]\n"
			   "duration: 300ms\n"
			   "design: { order: bracketed, boots: 4, runs: 3, warmup: 1, seed: 3 }\n"
			   "gates: { margin: 1%, alpha: 0.1% }\n"
			   "policies: { short: flag }\n";
enum { WAKE_BOOTS = 12, WAKE_RUNS = 2 * 3 + 1 };

static const char faulty[] = "experiment: faulty\n"
			     "machines: [guest]\n"
			     "kernels: ../kernels/kernels.yaml\n"
			     "baseline: good\n"
			     "variants: [panics, hangs, slow]\n"
			     "suites: [wakefan]\n"
			     "saturation: [100%]\n"
			     "duration: 300ms\n"
			     "design:\n"
			     "  order: [good, panics, hangs, slow, good]\n"
			     "  runs: 2\n"
			     "  warmup: 0\n"
			     "policies: { short: flag }\n";

static struct real_lab *lab;

/* A compiler has been at work for a build that began after the test did. */
static bool build_is_under_way(struct real_lab *in, const void *began)
{
	char *folder = path_join(in->folder, "kernels/cache/logs");
	struct strv names = STRV_INIT;
	struct str text = STR_INIT;
	bool under_way = false;

	if (file_list(folder, &names, NULL))
		names.count = 0;
	for (size_t i = 0; i < names.count && !under_way; i++) {
		char *path = path_join(folder, names.items[i]);
		struct stat st;

		under_way = stat(path, &st) == 0 && st.st_mtime >= *(const time_t *)began &&
			    file_read(path, 64 << 20, &text, NULL) == 0 &&
			    strstr(str_text(&text), "\n  CC      ");
		free(path);
	}
	str_release(&text);
	strv_release(&names);
	free(folder);
	return under_way;
}

/* Everything that a build has started holds its lock. */
static void assert_build_has_ended(void)
{
	char *folder = path_join(lab->folder, "kernels/cache/locks");
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(file_list(folder, &names, &err), 0);
	assert_true(names.count > 0);
	for (size_t i = 0; i < names.count; i++) {
		struct file_lock lock = FILE_LOCK_INIT;
		char *path = path_join(folder, names.items[i]);

		if (file_lock_take(&lock, path, 30 * NS_PER_S, &err))
			fail_msg("something of the build still runs: %s", err.text);
		file_lock_release(&lock);
		free(path);
	}
	strv_release(&names);
	free(folder);
}

static void a_killed_build_is_finished(void **state KB_UNUSED)
{
	time_t began = time(NULL);
	struct proc *proc = real_lab_start(lab, "run configs/wake.yaml");
	int code;

	real_lab_wait(lab, proc, build_is_under_way, &began, "a build");
	real_lab_kill(proc);
	assert_build_has_ended();
	real_lab_assert_count(lab, 0, "SELECT count(*) FROM build");
	real_lab_assert_count(lab, 1, "SELECT count(*) FROM variant WHERE state = 'started'");
	code = real_lab_call(lab, "resume");
	if (code != 1)
		real_lab_fail(lab, "no regression was found", code);
	real_lab_assert_whole(lab);
	real_lab_assert_count(lab, WAKE_BOOTS, "SELECT count(*) FROM boot WHERE state = 'done'");
	real_lab_assert_count(
		lab, WAKE_BOOTS * WAKE_RUNS, "SELECT count(*) FROM run WHERE state = 'done'");
	real_lab_assert_count(lab, WAKE_BOOTS * WAKE_RUNS, "SELECT count(*) FROM sample");
}

/* What is stored of a build is what was built, and two variants of one source are one build. */
static void builds_are_what_was_asked_for(void **state KB_UNUSED)
{
	char *key = real_lab_text(lab, "SELECT key FROM build JOIN variant v"
				       " ON v.build_id = build.id WHERE v.name = 'slow'");
	char *commit = real_lab_text(lab, "SELECT commit_hex FROM build JOIN variant v"
					  " ON v.build_id = build.id WHERE v.name = 'slow'");
	char *cache = xasprintf("%s/kernels/cache/%s", lab->folder, key);
	char *tree = path_join(lab->source, "kernels/trees/newidle");
	char *stored = real_lab_text(lab, "SELECT build.build_id FROM build JOIN variant v"
					  " ON v.build_id = build.id WHERE v.name = 'slow'");
	char *local = xasprintf("-kb%.8s", key);
	char *release = real_lab_text(lab, "SELECT release FROM build JOIN variant v"
					   " ON v.build_id = build.id WHERE v.name = 'slow'");
	const char *const show[] = {"git", "-C", tree, "show", "--format=", commit, NULL};
	struct str shown = STR_INIT;
	struct err err = ERR_INIT;

	real_lab_assert_count(lab, 2, "SELECT count(*) FROM build");
	real_lab_assert_count(lab, 1,
		"SELECT count(DISTINCT build_id) FROM variant WHERE name IN ('good', 'same')");
	assert_int_equal(strlen(stored), 40);
	assert_true(str_ends(release, local));
	if (proc_check(&(struct proc_spec){.argv = show}, &shown, &err))
		fail_msg("%s", err.text);
	assert_non_null(strstr(str_text(&shown), "\n+\t\tudelay(5000);"));
	assert_true(file_is_folder(cache));
	str_release(&shown);
	free(release);
	free(local);
	free(stored);
	free(tree);
	free(cache);
	free(commit);
	free(key);
}

static void check_verdict(const json_t *verdict, int *slow, int *same)
{
	const char *name = json_get_text(verdict, "variant", "");
	const char *word = json_get_text(verdict, "verdict", "");

	assert_int_equal(json_get_int(verdict, "boots", 0), 4);
	assert_int_equal(json_get_int(verdict, "runs", 0), 12);
	if (!strcmp(name, "slow")) {
		assert_string_equal(word, "regressed");
		assert_true(json_get_double(verdict, "effect_high_pct", 0) < 0);
		*slow += 1;
		return;
	}
	assert_string_equal(name, "same");
	if (!strcmp(word, "regressed") || !strcmp(word, "improved"))
		real_lab_fail(lab, "a kernel against itself", 1);
	*same += 1;
}

static void only_the_slow_kernel_is_reported(void **state KB_UNUSED)
{
	json_t *report = real_lab_json(lab, 1, "report"), *result = NULL, *verdict = NULL;
	int slow = 0, same = 0;
	size_t i, k;

	json_array_foreach(json_object_get(report, "results"), i, result)
	{
		json_array_foreach(json_object_get(result, "verdicts"), k, verdict)
			check_verdict(verdict, &slow, &same);
	}
	assert_int_equal(slow, 2);
	assert_int_equal(same, 2);
	json_decref(report);
	real_lab_must(lab, 1, "report");
	real_lab_expect(lab, "REGRESSED");
	assert_processes_end(lab->folder);
}

/* How long the slowest boot took, by the database. */
static int64_t slowest_boot_s(void)
{
	return real_lab_count(
		lab, "SELECT (max(ended_ns - started_ns) + 999999999) / 1000000000 FROM attempt");
}

/* The kernel in the cache for `slow` becomes that of `good`, also by its release: only the build-id
 * can tell. */
static void swap_slow_for_good(void)
{
	static const char sql[] = "SELECT %s FROM build JOIN variant v ON v.build_id = build.id"
				  " WHERE v.name = '%s'";
	char *wanted = xasprintf(sql, "key", "slow"), *given = xasprintf(sql, "key", "good");
	char *name = xasprintf(sql, "release", "good");
	char *slow = real_lab_text(lab, wanted), *good = real_lab_text(lab, given);
	char *release = real_lab_text(lab, name);
	char *from = xasprintf("%s/kernels/cache/%s/bzImage", lab->folder, good);
	char *to = xasprintf("%s/kernels/cache/%s/bzImage", lab->folder, slow);
	char *about = xasprintf("%s/kernels/cache/%s/build.json", lab->folder, slow);
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	json_t *json = NULL;

	if (file_copy(from, to, &err) || file_read(about, 1 << 20, &text, &err) ||
		json_parse(str_text(&text), text.len, 1 << 20, &json, &err))
		fail_msg("%s", err.text);
	assert_int_equal(json_object_set_new(json, "release", json_text(release)), 0);
	str_reset(&text);
	json_write(json, true, &text);
	if (file_write_atomic(about, str_text(&text), text.len, 0644, &err))
		fail_msg("%s", err.text);
	json_decref(json);
	str_release(&text);
	free(wanted);
	free(given);
	free(name);
	free(slow);
	free(good);
	free(release);
	free(from);
	free(to);
	free(about);
}

/* A boot of the faulty experiment failed for that reason. */
static void check_failed(int boot, const char *reason, const char *detail)
{
	char *words = xasprintf("show boot %d", boot);
	json_t *shown = real_lab_json(lab, 0, words);

	assert_string_equal(json_get_text(shown, "state", ""), "failed");
	assert_string_equal(json_get_text(shown, "reason", ""), reason);
	if (!strstr(json_get_text(shown, "detail", ""), detail))
		fail_msg("'%s' is not in '%s'", detail, json_get_text(shown, "detail", ""));
	json_decref(shown);
	free(words);
}

/* What the last kernel start of a boot said on its console. */
static void check_console(int boot, const char *said)
{
	char *sql = xasprintf("SELECT path FROM raw JOIN attempt a ON a.id = raw.attempt_id"
			      " JOIN boot b ON b.id = a.boot_id WHERE b.ordinal = %d"
			      " AND raw.kind = 'console' ORDER BY a.number DESC LIMIT 1",
		boot);
	char *name = real_lab_text(lab, sql), *folder = path_dir(lab->database);
	char *path = path_join(folder, name);
	struct str packed = STR_INIT, text = STR_INIT;
	struct err err = ERR_INIT;

	if (file_read(path, 16 << 20, &packed, &err) ||
		compress_unpack(COMPRESS_ZSTD, packed.text, packed.len, 16 << 20, &text, &err))
		fail_msg("console of boot %d: %s", boot, err.text);
	if (!strstr(str_text(&text), said))
		fail_msg("'%s' is not in:\n%s", said, str_text(&text));
	str_release(&packed);
	str_release(&text);
	free(path);
	free(folder);
	free(name);
	free(sql);
}

static void bad_kernels_cost_their_own_boots(void **state KB_UNUSED)
{
	int64_t slowest_s = slowest_boot_s();
	char *machine = xasprintf("%sboot_timeout: %llds\n", MACHINE,
		(long long)(slowest_s < 5 ? 20 : 4 * slowest_s));

	real_lab_write(lab, "configs/machines/guest.yaml", machine);
	free(machine);
	swap_slow_for_good();
	real_lab_results(lab, "faulty");
	real_lab_must(lab, 3, "run configs/faulty.yaml");
	real_lab_expect(lab, "boots of panics on guest failed: boot-failed: ");
	real_lab_expect(lab, "boots of hangs on guest failed: boot-failed: ");
	real_lab_expect(lab, "boots of slow on guest failed: wrong-kernel: ");
	real_lab_assert_whole(lab);
	real_lab_assert_count(
		lab, 2, "SELECT count(*) FROM boot WHERE state = 'done' AND ordinal IN (1, 5)");
	real_lab_assert_count(lab, 4, "SELECT count(*) FROM run WHERE state = 'done'");
	real_lab_assert_count(lab, 4, "SELECT count(*) FROM sample");
	check_failed(2, "boot-failed", "Kernel panic");
	check_console(2, "kbracket test: this kernel panics at once");
	check_failed(3, "boot-failed", "");
	check_console(3, "kbracket test: this kernel hangs at once");
	check_failed(4, "wrong-kernel", "the build-id is '");
	/* nothing of it ran under a kernel that was not proved */
	real_lab_assert_count(lab, 0,
		"SELECT count(*) FROM run r JOIN boot b ON b.id = r.boot_id"
		" WHERE b.ordinal IN (2, 3, 4) AND r.attempt_id IS NOT NULL");
	assert_processes_end(lab->folder);
}

/* The builds of the experiments in the present database, which nobody will ask for again. */
static void forget_builds(void)
{
	char *keys = real_lab_text(lab, "SELECT group_concat(key, ' ') FROM build");
	struct strv words = STRV_INIT;

	assert_int_equal(proc_split_words(keys, &words, NULL), 0);
	for (size_t i = 0; i < words.count; i++) {
		char *path = xasprintf("%s/kernels/cache/%s", lab->folder, words.items[i]);

		assert_int_equal(file_remove_tree(path, NULL), 0);
		free(path);
	}
	strv_release(&words);
	free(keys);
}

static int set_up(void **state KB_UNUSED)
{
	char *own =
		xasprintf("CONFIG_DEFAULT_HOSTNAME=\"test-%lld\"\n", (long long)clock_wall_ns());
	struct err err = ERR_INIT;

	lab = real_lab_new("build/test-kernels");
	if (file_write_atomic("build/test-kernels/own.config", own, strlen(own), 0644, &err))
		fail_msg("%s", err.text);
	free(own);
	real_lab_write(lab, "kernels/kernels.yaml", kernels);
	real_lab_write(lab, "configs/machines/guest.yaml", MACHINE "boot_timeout: 10m\n");
	real_lab_write(lab, "configs/wake.yaml", wake);
	real_lab_write(lab, "configs/faulty.yaml", faulty);
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	if (file_exists(lab->database))
		forget_builds();
	real_lab_free(lab);
	return 0;
}

int main(void)
{
	/* each goes on where the one before has ended */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_build_is_finished),
		cmocka_unit_test(builds_are_what_was_asked_for),
		cmocka_unit_test(only_the_slow_kernel_is_reported),
		cmocka_unit_test(bad_kernels_cost_their_own_boots),
	};

	need_program("qemu-system-x86_64");
	need_kernel_tree();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
