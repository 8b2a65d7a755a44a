/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "judge/judge.h"
#include "model/store_db.h"
#include "model/store_result.h"
#include "report/report.h"
#include "sys/json.h"

/* One report of several machines: the same commit costs 4 % on one and 11 % on another, as it was
 * published of two machine types, and nothing on a third. The numbers are made up. */
enum { BLOCKS = 3, RUNS = 4 };

struct lab {
	char *folder;
	struct store *store;
	struct arena arena;
	struct store_import_row *rows;
	size_t count, capacity;
	int64_t id;
};

static struct err err;

#define OK(call)                                             \
	do {                                                 \
		if (call)                                    \
			fail_msg("%s: %s", #call, err.text); \
	} while (0)

static int set_up(void **state)
{
	struct lab *lab = xcalloc(1, sizeof(*lab));
	char *path;

	lab->folder = xstrdup("/tmp/kb-test-machines-XXXXXX");
	assert_non_null(mkdtemp(lab->folder));
	path = xasprintf("%s/kbracket.db", lab->folder);
	OK(store_open(path, STORE_WRITE, &lab->store, &err));
	free(path);
	*state = lab;
	return 0;
}

static int tear_down(void **state)
{
	struct lab *lab = *state;

	store_close(lab->store);
	OK(file_remove_tree(lab->folder, &err));
	arena_release(&lab->arena);
	free(lab->folder);
	free(lab->rows);
	free(lab);
	return 0;
}

static void add_boot(struct lab *lab, const char *machine, int64_t cpus, double saturation,
	int boot, bool patched, double level)
{
	static const double noise[RUNS] = {-1, 1, 0.5, -0.5};

	for (int run = 1; run <= RUNS; run++) {
		GROW(lab->rows, lab->count, lab->capacity);
		lab->rows[lab->count++] = (struct store_import_row){.machine = machine,
			.variant = patched ? "commit" : "parent",
			.boot = boot,
			.block = (boot + 3) / 4,
			.suite = "ops",
			.condition = arena_printf(&lab->arena, "ops/sock %g%%", saturation),
			.saturation_pct = saturation,
			.workers = (int64_t)((double)cpus * saturation / 100),
			.cpus = cpus,
			.metric = "rate",
			.unit = "ops/s",
			.run = run,
			.ordinal = 1,
			.value = level * (1 + 0.002 * noise[run - 1]),
			.flags = "",
			.cv_pct = NAN};
	}
}

/* A B B A three times, at two saturations; effect: of the commit, as a factor. */
static void add_machine(struct lab *lab, const char *name, int64_t cpus, double effect)
{
	static const double wobble[] = {1, -1, 2, -2, 1.5, -0.5};

	for (int s = 1; s <= 2; s++)
		for (int boot = 1; boot <= 4 * BLOCKS; boot++) {
			bool patched = boot % 4 == 2 || boot % 4 == 3;
			double level =
				1000 * (patched ? effect : 1) * (1 + 0.0005 * wobble[boot % 6]);

			add_boot(lab, name, cpus, 100.0 / s, boot, patched, level);
		}
}

static void load(struct lab *lab, struct report *report)
{
	static const char *const variants[] = {"parent", "commit", NULL};
	struct store_import what = {.name = "published",
		.about = "test",
		.variants = variants,
		.margin_pct = 1,
		.alpha_pct = 5,
		.version = "test",
		.rows = lab->rows,
		.count = lab->count};

	OK(store_import(lab->store, &what, &lab->id, &err));
	OK(judge_experiment(lab->store, lab->id, "test", &err));
	OK(report_load(lab->store, lab->id, &lab->arena, report, &err));
	report->view.head.created_ns = 1796000000000000000;
}

static void check_golden(const char *name, const struct str *text)
{
	char *path = xasprintf("tests/golden/report/%s", name);
	struct str golden = STR_INIT;

	if (getenv("KB_UPDATE_GOLDEN"))
		OK(file_write_atomic(path, str_text(text), text->len, 0644, &err));
	OK(file_read(path, 1 << 20, &golden, &err));
	assert_string_equal(str_text(text), str_text(&golden));
	str_release(&golden);
	free(path);
}

static void assert_fits(const struct str *text, size_t columns)
{
	for (const char *line = str_text(text); *line;) {
		size_t len = strcspn(line, "\n");
		char *copy = xstrndup(line, len);

		if (utf8_columns(copy) > columns || (len && copy[len - 1] == ' '))
			fail_msg("%s|", copy);
		free(copy);
		line += len + (line[len] == '\n');
	}
}

static void each_machine_is_a_group_of_columns(void **state)
{
	static const struct {
		int columns;
		const char *golden;
	} cases[] = {{80, "machines.txt"}, {60, "machines-narrow.txt"}, {40, "machines-40.txt"}};
	struct lab *lab = *state;
	struct report report;

	add_machine(lab, "threadripper", 48, 0.96);
	add_machine(lab, "epyc", 96, 0.89);
	add_machine(lab, "laptop", 8, 1.0005);
	load(lab, &report);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct layout layout = {cases[i].columns, true, false};
		struct str text = STR_INIT;

		report_write_text(&report, &layout, &text);
		assert_fits(&text, (size_t)cases[i].columns);
		check_golden(cases[i].golden, &text);
		str_release(&text);
	}
}

static void each_machine_has_its_verdict(void **state)
{
	static const char *const outcomes[] = {"regressed", "regressed", "fine"};
	struct lab *lab = *state;
	struct report report;
	struct str text = STR_INIT;
	json_t *root, *machines;

	add_machine(lab, "threadripper", 48, 0.96);
	add_machine(lab, "epyc", 96, 0.89);
	add_machine(lab, "laptop", 8, 1.0005);
	load(lab, &report);
	assert_int_equal(report_outcome(&report), OUTCOME_REGRESSED);
	report_write_json(&report, &text);
	OK(json_parse(str_text(&text), text.len, 1 << 20, &root, &err));
	machines = json_object_get(root, "machines");
	assert_int_equal(json_array_size(machines), 3);
	for (size_t m = 0; m < 3; m++) {
		json_t *summary = json_object_get(json_array_get(machines, m), "summary");

		assert_string_equal(json_get_text(summary, "outcome", ""), outcomes[m]);
		assert_int_equal(json_get_int(summary, "regressed", -1), m < 2 ? 2 : 0);
		assert_int_equal(json_get_int(summary, "equivalent", -1), m < 2 ? 0 : 2);
		assert_true(json_is_null(json_object_get(summary, "parked")));
	}
	/* one family for each */
	for (size_t i = 0; i < report.verdict_count; i++)
		assert_int_equal(report.verdicts[i].family, 2);
	json_decref(root);
	str_release(&text);
}

/* A machine that lacks a workload has no columns in its table, one that has it alone has all. */
static void workloads_of_one_machine_only(void **state)
{
	struct lab *lab = *state;
	struct layout layout = {80, true, false};
	struct report report;
	struct str text = STR_INIT;

	add_machine(lab, "first", 8, 0.9);
	for (size_t i = 0; i < lab->count; i++)
		lab->rows[i].suite = lab->rows[i].saturation_pct == 50 ? "other" : "ops";
	for (size_t i = 0; i < lab->count; i++)
		if (!strcmp(lab->rows[i].suite, "other"))
			lab->rows[i].condition = "other/sock 50%";
	add_machine(lab, "second", 8, 0.9);
	load(lab, &report);
	report_write_text(&report, &layout, &text);
	assert_fits(&text, 80);
	check_golden("machines-differ.txt", &text);
	str_release(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_machine_is_a_group_of_columns),
		TEST(each_machine_has_its_verdict),
		TEST(workloads_of_one_machine_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
