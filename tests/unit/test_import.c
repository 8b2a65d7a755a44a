/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "judge/judge.h"
#include "model/import.h"
#include "model/store_db.h"
#include "model/store_result.h"
#include "near.h"
#include "report/export.h"
#include "report/report.h"
#include "sys/json.h"

/* Tables that are imported, judged, told and exported again. */
struct lab {
	char folder[64];
	struct store *store;
	struct arena arena;
	struct err err;
	int64_t id;
	struct report report;
};

#define OK(lab, call)                                               \
	do {                                                        \
		if (call)                                           \
			fail_msg("%s: %s", #call, (lab)->err.text); \
	} while (0)

static int open_lab(void **state)
{
	struct lab *lab = xcalloc(1, sizeof(*lab));
	char *path;
	int ret;

	(void)snprintf(lab->folder, sizeof(lab->folder), "/tmp/kb-import-XXXXXX");
	if (!mkdtemp(lab->folder))
		return -1;
	path = xasprintf("%s/kbracket.db", lab->folder);
	*state = lab;
	ret = store_open(path, STORE_WRITE, &lab->store, &lab->err);
	free(path);
	return ret;
}

static int close_lab(void **state)
{
	struct lab *lab = *state;

	store_close(lab->store);
	arena_release(&lab->arena);
	if (file_remove_tree(lab->folder, &lab->err))
		return -1;
	free(lab);
	return 0;
}

static int64_t import_file(struct lab *lab, const char *path, const char *baseline)
{
	struct import_table table;
	struct store_import import;
	struct str text = STR_INIT;
	int64_t id;

	OK(lab, file_read(path, 1 << 20, &text, &lab->err));
	OK(lab, import_read(&lab->arena, text.text, text.len, &table, &lab->err));
	for (size_t i = 0; table.variants[i]; i++)
		if (strcmp(table.variants[i], baseline) == 0) {
			table.variants[i] = table.variants[0];
			table.variants[0] = baseline;
		}
	import = (struct store_import){.name = table.name,
		.about = "imported",
		.has_against = table.has_against,
		.variants = table.variants,
		.margin_pct = 1,
		.alpha_pct = 5,
		.version = "test",
		.rows = table.rows,
		.count = table.count};
	OK(lab, store_import(lab->store, &import, &id, &lab->err));
	import_release(&table);
	str_release(&text);
	return id;
}

/* The published baseline, patch, baseline boots: a gain of 1.98 % with 0.47 % drift at 815 workers,
 * 7.68 % at 8; the authors' own numbers, recomputed from their means. */
static void published_means_give_the_published_gain(void **state)
{
	static const struct layout layout = {80, false, false};
	struct lab *lab = *state;
	struct str text = STR_INIT;
	const struct report_block *block;

	lab->id = import_file(lab, "tests/fixtures/import/sembench_bracket.csv", "baseline");
	OK(lab, judge_experiment(lab->store, lab->id, "test", &lab->err));
	OK(lab, report_load(lab->store, lab->id, &lab->arena, &lab->report, &lab->err));
	assert_int_equal(lab->report.block_count, 1);
	block = &lab->report.blocks[0];
	assert_int_equal(block->count, 2);
	assert_int_equal(block->columns[0].condition->workers, 8);
	assert_near(report_pct(block->columns[0].cells[1]->effect), 7.683, 0.02);
	assert_int_equal(block->columns[1].condition->workers, 815);
	assert_near(report_pct(block->columns[1].cells[1]->effect), 1.982, 0.005);
	assert_near(100 * block->columns[1].cells[1]->drift, 0.468, 0.001);
	assert_near(100 * block->columns[0].cells[1]->drift, 0.216, 0.001);
	report_write_text(&lab->report, &layout, &text);
	assert_non_null(strstr(str_text(&text), "+1.98%"));
	assert_non_null(strstr(str_text(&text), "+7.68%"));
	assert_non_null(strstr(str_text(&text), "0.47%"));
	assert_non_null(strstr(str_text(&text), "Means only"));
	assert_null(strstr(str_text(&text), "cv "));
	assert_int_equal(report_outcome(&lab->report), OUTCOME_OPEN);
	str_release(&text);
}

static int collect(void *arg, const struct str *lines)
{
	str_add(arg, str_text(lines));
	return 0;
}

static void exports_are_what_was_imported(void **state)
{
	static const char *const files[][2] = {
		{"tests/fixtures/import/sembench_bracket.csv", "baseline"},
		{"tests/fixtures/import/newidle_matrix.csv", "revert"},
		{"tests/fixtures/import/runs.csv", "base"},
		{"tests/fixtures/import/labels.csv", "base"},
		{"tests/fixtures/import/layouts.csv", "base"}};
	struct lab *lab = *state;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct str text = STR_INIT, out = STR_INIT;
		int64_t id = import_file(lab, files[i][0], files[i][1]);

		OK(lab, file_read(files[i][0], 1 << 20, &text, &lab->err));
		OK(lab, export_write(
				lab->store, id, EXPORT_CSV, &lab->arena, collect, &out, &lab->err));
		assert_string_equal(str_text(&out), str_text(&text));
		str_release(&text);
		str_release(&out);
	}
}

/* labels.csv: base, patch and again, which is base under another label; a canary and a suite that
 * decides nothing. */
static void marks_survive_export_and_import(void **state)
{
	static const struct layout layout = {80, true, false};
	struct lab *lab = *state;
	struct str text = STR_INIT;
	const struct report *report = &lab->report;
	json_t *root, *controls;

	lab->id = import_file(lab, "tests/fixtures/import/labels.csv", "base");
	OK(lab, judge_experiment(lab->store, lab->id, "test", &lab->err));
	OK(lab, report_load(lab->store, lab->id, &lab->arena, &lab->report, &lab->err));
	assert_int_equal(report->view.variant_count, 3);
	assert_true(report->view.variants[2].control);
	assert_ptr_equal(report->view.variants[2].against, &report->view.variants[0]);
	assert_false(report->view.variants[1].control);
	assert_true(report->view.machines[0].conditions[2].control);
	assert_false(report->view.machines[0].conditions[1].decides);
	/* the patch in the one condition that decides, and nothing else */
	assert_int_equal(report->count.words[VERDICT_IMPROVED], 1);
	assert_int_equal(report->count.words[VERDICT_REGRESSED] + report->count.words[VERDICT_EQUIVALENT] +
				 report->count.words[VERDICT_INCONCLUSIVE] + report->count.missing,
		0);
	assert_int_equal(report->control_tested, 2);
	assert_int_equal(report->control_different, 0);
	report_write_text(report, &layout, &text);
	assert_non_null(strstr(str_text(&text),
		"control (same kernel, two labels): 0 of 2 comparisons called different\n"));
	assert_null(strstr(str_text(&text), "\n  again"));
	str_reset(&text);
	report_write_json(report, &text);
	OK(lab, json_parse(text.text, text.len, text.len, &root, &lab->err));
	controls = json_object_get(json_object_get(root, "summary"), "controls");
	assert_int_equal(json_get_int(controls, "tested", -1), 2);
	json_decref(root);
	str_release(&text);
}

/* layouts.csv: a patch that costs 5 % in one condition and 10 % in the other, and the same pair in
 * two other layouts, in one of which the first cost is not there. */
static void layouts_survive_export_and_import(void **state)
{
	static const struct layout layout = {80, false, false};
	struct lab *lab = *state;
	const struct report *report = &lab->report;
	const struct store_variant *variants;
	struct str text = STR_INIT;

	lab->id = import_file(lab, "tests/fixtures/import/layouts.csv", "base");
	OK(lab, judge_experiment(lab->store, lab->id, "test", &lab->err));
	OK(lab, report_load(lab->store, lab->id, &lab->arena, &lab->report, &lab->err));
	variants = report->view.variants;
	assert_int_equal(report->view.variant_count, 6);
	assert_string_equal(variants[3].name, "patch-aligned");
	assert_ptr_equal(variants[3].layout_of, &variants[1]);
	assert_ptr_equal(variants[3].against, &variants[2]);
	assert_ptr_equal(variants[2].layout_of, &variants[0]);
	assert_null(variants[2].against);
	/* the patch alone counts, in its two conditions */
	assert_int_equal(report->count.words[VERDICT_REGRESSED], 2);
	assert_int_equal(report->count.words[VERDICT_IMPROVED] + report->count.words[VERDICT_EQUIVALENT] +
				 report->count.words[VERDICT_INCONCLUSIVE] + report->count.missing,
		0);
	report_write_text(report, &layout, &text);
	assert_non_null(strstr(str_text(&text), "REGRESSED 2 of 2; worst: patch in fan/stays, "));
	assert_non_null(strstr(str_text(&text), "  REGRESSED, layout suspect [1]   REGRESSED [2]"));
	assert_non_null(strstr(str_text(&text),
		"[1] layout suspect: patch-aligned is equivalent (+0.12 %), patch-padded is\n"
		"    regressed (-4.72 %)\n"
		"[2] in other layouts, too: patch-aligned is regressed (-9.79 %), patch-padded is\n"
		"    regressed (-10.12 %)\n"));
	assert_null(strstr(str_text(&text), "\n  patch-"));
	str_release(&text);
}

/* The same table in which the second label is 3 % faster. */
static void a_control_that_moves_takes_the_trust_away(void **state)
{
	static const struct layout layout = {80, true, false};
	struct lab *lab = *state;
	struct str text = STR_INIT;

	lab->id = import_file(lab, "tests/fixtures/import/labels.csv", "base");
	OK(lab, db_script(lab->store->db, "UPDATE variant SET control = 1 WHERE name = 'patch'",
			&lab->err));
	OK(lab, judge_experiment(lab->store, lab->id, "test", &lab->err));
	OK(lab, report_load(lab->store, lab->id, &lab->arena, &lab->report, &lab->err));
	assert_int_equal(lab->report.control_tested, 4);
	assert_int_equal(lab->report.control_different, 1);
	assert_int_equal(report_outcome(&lab->report), OUTCOME_FINE);
	report_write_text(&lab->report, &layout, &text);
	assert_non_null(strstr(str_text(&text), "1 of 4 comparisons called different."));
	assert_non_null(strstr(str_text(&text), "patch and base are one kernel under two"));
	str_release(&text);
}

/* Two rows of two boots: what each is compared with, another label of, and a layout of. */
static void baselines_that_are_not_there_are_refused(void **state)
{
	static const struct {
		const char *marks[2], *says;
	} cases[] = {
		{{",,", "base,,"}, NULL},
		{{",,", "none,,"}, "row 2: it is compared with 'none', which is no other variant"},
		{{",,", "patch,,"}, "it is compared with 'patch', which is no other variant"},
		{{",,", ",,none"}, "it is a layout of 'none'"},
		{{",,", ",none,"}, "it is a control of 'none'"},
	};
	struct lab *lab = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = xasprintf("machine,variant,boot,block,suite,condition,workers,metric,"
				       "unit,better,run,warmup,ordinal,value,against,control_of,"
				       "layout_of\n"
				       "box,base,1,1,s,c,1,m,s,lower,1,0,1,5,%s\n"
				       "box,patch,2,1,s,c,1,m,s,lower,1,0,1,5,%s\n",
			cases[i].marks[0], cases[i].marks[1]);
		struct import_table table;
		struct err err = ERR_INIT;
		int64_t id;
		int ret;

		OK(lab, import_read(&lab->arena, text, strlen(text), &table, &lab->err));
		assert_true(table.has_against);
		assert_string_equal(table.baseline, i < 3 ? table.rows[1].against : "");
		ret = store_import(lab->store,
			&(struct store_import){.name = "x",
				.about = "",
				.variants = table.variants,
				.has_against = true,
				.version = "test",
				.rows = table.rows,
				.count = table.count},
			&id, &err);
		assert_int_equal(ret, cases[i].says ? ERR_USAGE : 0);
		if (cases[i].says && !strstr(err.text, cases[i].says))
			fail_msg("%s: not %s", err.text, cases[i].says);
		import_release(&table);
		free(text);
	}
}

static void wrong_tables_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "empty"},
		{"machine,variant\n", "column boot is missing"},
		{"machine,variante\n", "did you mean 'variant'"},
		{"machine,machine\n", "twice"},
		{"\"machine\n", "never closed"},
		{"machine,variant,boot,block,suite,condition,workers,metric,unit,better,run,warmup,"
		 "ordinal,value,layout_of\n",
			"none that says what each variant is compared with"},
	};
	static const char head[] =
		"machine,variant,boot,block,suite,condition,workers,metric,unit,better,run,warmup,"
		"ordinal,value\n";
	static const struct {
		const char *line, *says;
	} rows[] = {
		{"m,v,1,1,s,c,4,t,s,lower,1,0,1\n", "line 2: it has 13 fields"},
		{"m,v,0,1,s,c,4,t,s,lower,1,0,1,2\n", "line 2: boot"},
		{"m,v,1,1,s,c,4,t,s,less,1,0,1,2\n", "better is"},
		{"m,v,1,1,s,c,4,t,s,lower,1,2,1,2\n", "warmup is 0 or 1"},
		{"m,v,1,1,s,c,4,t,s,lower,1,0,1,nan\n", "value"},
		{"m,v,1,1,s,c,4,t,s,lower,1,0,1,\n", "value is empty"},
		{"m,../v,1,1,s,c,4,t,s,lower,1,0,1,2\n", "is not a name"},
		{"m,v,1,1,s,\"c\nd\",4,t,s,lower,1,0,1,2\n", "control character"},
		{"m,v,1,1,s,c\302\2331m,4,t,s,lower,1,0,1,2\n", "control character"},
		{"m,v,1,1,s,c,4,t,s\342\200\256,lower,1,0,1,2\n", "mark of direction"},
		{"m,v,1,1,s,c\377,4,t,s,lower,1,0,1,2\n", "UTF-8"},
		{"m,v,99999999999,1,s,c,4,t,s,lower,1,0,1,2\n", "boot"},
	};
	struct lab *lab = *state;
	struct import_table table;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(import_read(&lab->arena, cases[i].text, strlen(cases[i].text),
					 &table, &lab->err),
			ERR_USAGE);
		if (!strstr(lab->err.text, cases[i].says))
			fail_msg("'%s' does not say '%s'", lab->err.text, cases[i].says);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = xasprintf("%s%s", head, rows[i].line);

		assert_int_equal(
			import_read(&lab->arena, text, strlen(text), &table, &lab->err), ERR_USAGE);
		if (!strstr(lab->err.text, rows[i].says))
			fail_msg("'%s' does not say '%s'", lab->err.text, rows[i].says);
		free(text);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_lab, close_lab)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(published_means_give_the_published_gain),
		TEST(exports_are_what_was_imported),
		TEST(marks_survive_export_and_import),
		TEST(layouts_survive_export_and_import),
		TEST(a_control_that_moves_takes_the_trust_away),
		TEST(baselines_that_are_not_there_are_refused),
		TEST(wrong_tables_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
