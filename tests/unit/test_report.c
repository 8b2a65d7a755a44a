/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/utf8.h"
#include "judge/judge.h"
#include "model/import.h"
#include "model/store_db.h"
#include "model/store_result.h"
#include "near.h"
#include "report/compare.h"
#include "report/export.h"
#include "report/report.h"
#include "report/report_form.h"
#include "report/report_form.h"
#include "sys/json.h"

/* A lab of one machine, four kernels and one suite at four saturations, with verdicts put in by
 * hand, so that what is tested is how they are told. */
enum { BOOTS = 8, CONDITIONS = 4, VARIANTS = 4 };

static const char *const none[] = {NULL};
static const char *const argv[] = {"hackbench", "-g", "{workers}", NULL};

struct lab {
	char folder[64], path[96];
	struct store *store;
	struct arena arena;
	struct err err;
	const char *names[VARIANTS];
	struct variant variants[VARIANTS];
	const struct variant *listed[VARIANTS];
	struct metric_spec metric;
	struct condition_spec spec;
	struct suite suite;
	struct machine_spec machine;
	struct experiment experiment;
	struct condition conditions[CONDITIONS];
	struct plan_run runs[CONDITIONS];
	struct plan_boot boots[BOOTS];
	struct plan plan;
	int64_t id;
	struct store_view view;
	struct report report;
};

#define OK(lab, call)                                               \
	do {                                                        \
		if (call)                                           \
			fail_msg("%s: %s", #call, (lab)->err.text); \
	} while (0)

static int open_lab(void **state)
{
	static const char *const names[VARIANTS] = {
		"baseline", "proportional", "rate-fix", "broken"};
	struct lab *lab = xcalloc(1, sizeof(*lab));

	(void)snprintf(lab->folder, sizeof(lab->folder), "/tmp/kb-report-XXXXXX");
	if (!mkdtemp(lab->folder))
		return -1;
	(void)snprintf(lab->path, sizeof(lab->path), "%s/kbracket.db", lab->folder);
	memcpy(lab->names, names, sizeof(names));
	*state = lab;
	return store_open(lab->path, STORE_WRITE, &lab->store, &lab->err);
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

static void make_experiment(struct lab *lab)
{
	for (size_t i = 0; i < VARIANTS; i++) {
		lab->variants[i] = (struct variant){
			.name = lab->names[i],
			.about = "",
			.tree = "/src/linux",
			.ref = "v6.12",
			.reverts = none,
			.picks = none,
			.patches = none,
			.lore_url = "",
			.config = {"defconfig", none},
			.arch = "x86_64",
			.cmdline = "",
			.features = none,
			.scheduler = none,
		};
		lab->listed[i] = &lab->variants[i];
	}
	lab->metric = (struct metric_spec){.name = "time", .unit = "s", .better = BETTER_LOWER};
	lab->spec.name = "pairs";
	lab->suite = (struct suite){
		.name = "hackbench",
		.sha256 = "00",
		.text = "suite: hackbench\n",
		.program = "hackbench",
		.metrics = &lab->metric,
		.metric_count = 1,
		.conditions = &lab->spec,
		.condition_count = 1,
	};
	lab->machine = (struct machine_spec){.name = "guest", .kind = MACHINE_LOCAL};
	lab->experiment = (struct experiment){
		.name = "newidle",
		.machines = &lab->machine,
		.machine_count = 1,
		.variants = lab->listed,
		.variant_count = VARIANTS,
		.listed_count = VARIANTS,
		.suites = &lab->suite,
		.suite_count = 1,
		.design = {.boots = 2, .runs = 1, .explicit_order = none, .seed = 7},
		.gates = {-1, -1, 1, 5},
		.decide = none,
	};
}

static void make_plan(struct lab *lab)
{
	static const struct {
		const char *name, *merged;
		double asked_pct;
		int64_t workers;
	} saturations[CONDITIONS] = {{"hackbench/pairs 100%", "", 100, 8},
		{"hackbench/pairs 50%", "", 50, 4}, {"hackbench/pairs 31.25%", "37.5%", 31.25, 3},
		{"hackbench/pairs 25%", "", 25, 2}};

	for (size_t i = 0; i < CONDITIONS; i++) {
		lab->conditions[i] = (struct condition){
			.suite = &lab->suite,
			.spec = &lab->spec,
			.name = (char *)saturations[i].name,
			.saturation_pct = saturations[i].asked_pct,
			.effective_pct = 100.0 * (double)saturations[i].workers / 8,
			.workers = saturations[i].workers,
			.tasks = 2 * saturations[i].workers,
			.argv = argv,
			.env = none,
			.merged = saturations[i].merged,
		};
		lab->runs[i] = (struct plan_run){i, 1, false};
	}
	for (int i = 0; i < BOOTS; i++)
		lab->boots[i] = (struct plan_boot){
			i + 1, 1, (size_t)(i < 4 ? i : 7 - i), lab->runs, CONDITIONS};
	lab->plan = (struct plan){
		.experiment = &lab->experiment,
		.machine = &lab->machine,
		.cpus = 8,
		.conditions = lab->conditions,
		.condition_count = CONDITIONS,
		.boots = lab->boots,
		.boot_count = BOOTS,
	};
}

static void create(struct lab *lab)
{
	static const struct store_ref refs[VARIANTS] = {{"1111111111111111", "sched: one"},
		{"2222222222222222", "sched: two"}, {"1111111111111111", "sched: one"},
		{"1111111111111111", "sched: one"}};
	struct store_new what = {
		.kind = KIND_EXPERIMENT,
		.experiment = &lab->experiment,
		.spec = "experiment: newidle\n",
		.plans = &lab->plan,
		.refs = refs,
		.version = "test",
	};

	make_experiment(lab);
	make_plan(lab);
	OK(lab, store_create(lab->store, &what, &lab->id, &lab->err));
	OK(lab, store_load(lab->store, lab->id, &lab->arena, &lab->view, &lab->err));
}

static void build_all(struct lab *lab)
{
	static const char *const keys[] = {
		"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc"};

	for (size_t i = 0; i < VARIANTS; i++) {
		struct store_build build = {
			.key = i < 3 ? keys[i] : "",
			.commit = i == 1 ? "3333333333333333" : "1111111111111111",
			.tree = "tt",
			.release = "6.12.0-kb",
			.proc_version = "",
			.build_id = i == 2 ? "" : "b1db1db1db1db1d",
			.config_sha256 = i == 1 ? "c1" : "c0",
			.config = i == 1 ? "CONFIG_A=y\nCONFIG_B=m\nCONFIG_C=7\n"
					 : "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=8\n",
			.compiler = "gcc 12",
			.seconds = 90,
			.version = "test",
		};

		OK(lab, store_variant_started(lab->store, lab->view.variants[i].id, &lab->err));
		if (i < 3)
			OK(lab, store_variant_built(lab->store, lab->view.variants[i].id, &build,
					NULL, 0, &lab->err));
		else
			OK(lab, store_variant_failed(lab->store, lab->view.variants[i].id,
					"kernel/sched/fair.c:1: error: no", &lab->err));
	}
}

static const char facts[] = "{\"cpu\":{\"model\":\"Example CPU 9\"},\"sockets\":1,\"cores\":8,"
			    "\"cpus_online\":8,\"llc_domains\":4,\"memory_bytes\":4294967296}";

static void run_boot(struct lab *lab, const struct store_boot *boot)
{
	struct store_attempt_end proved = {.kernel_boot_id = "uuid",
		.proof = "{\"ok\":true}",
		.facts = facts,
		.weak = boot->ordinal == 3 || boot->ordinal == 6};
	const struct store_flag flag = {"steal", "4 %"};
	struct store_run *runs;
	int64_t attempt;
	size_t count;

	OK(lab, store_attempt_begin(lab->store, boot->id, "kexec", &attempt, &lab->err));
	OK(lab, store_attempt_finish(lab->store, attempt, &proved, &lab->err));
	OK(lab, store_load_runs(lab->store, boot->id, &lab->arena, &runs, &count, &lab->err));
	for (size_t i = 0; i < count; i++) {
		bool failed = boot->ordinal == 2 && i == 3, flagged = boot->ordinal == 1 && i == 0;
		struct store_sample sample = {lab->view.machines[0].conditions[i].metrics[0].id, 1,
			10 + boot->ordinal, 0};
		struct store_run_end end = {.run_id = runs[i].id,
			.attempt_id = attempt,
			.started_ns = 5,
			.ended_ns = 9,
			.wall_ns = 4,
			.reason = failed ? "exit" : NULL,
			.detail = failed ? "exit 1" : NULL,
			.samples = &sample,
			.sample_count = failed ? 0 : 1,
			.flags = &flag,
			.flag_count = flagged};

		OK(lab, store_run_begin(lab->store, runs[i].id, attempt, &lab->err));
		OK(lab, store_run_finish(lab->store, &end, &lab->err));
	}
	OK(lab, store_boot_finish(lab->store, boot->id, NULL, NULL, &lab->err));
}

static void run_all(struct lab *lab)
{
	const struct store_machine *machine = &lab->view.machines[0];

	build_all(lab);
	for (size_t i = 0; i < machine->boot_count; i++) {
		const struct store_boot *boot = &machine->boots[i];
		struct store_attempt_end died = {
			.reason = "boot-failed", .detail = "no answer within 60 s"};
		int64_t attempt;

		if (boot->variant->position == 3)
			continue; /* failed with its build */
		if (boot->ordinal != 7) {
			run_boot(lab, boot);
			continue;
		}
		OK(lab, store_attempt_begin(lab->store, boot->id, "kexec", &attempt, &lab->err));
		OK(lab, store_attempt_finish(lab->store, attempt, &died, &lab->err));
		OK(lab, store_boot_finish(lab->store, boot->id, "boot-failed",
				"no answer within 60 s", &lab->err));
	}
	OK(lab, store_experiment_move(lab->store, lab->id, STATE_DONE, &lab->err));
}

/* A verdict of every kind over variants 1 and 2; the third has none to show. */
static size_t make_verdicts(struct lab *lab, struct store_verdict *out)
{
	static const struct {
		size_t condition, variant;
		enum verdict_word word;
		const char *reason, *word_kept;
		double effect_pct, half_pct;
		int64_t more, boots, dropped;
	} rows[] = {
		{0, 1, VERDICT_REGRESSED, "", "", 71.5, 0.9, -1, 4, 0},
		{0, 2, VERDICT_EQUIVALENT, "", "", 0.12, 0.3, -1, 4, 0},
		{1, 1, VERDICT_IMPROVED, "", "", -12.2, 1.4, -1, 4, 0},
		{1, 2, VERDICT_INCONCLUSIVE, "", "", 5.6, 6.0, 5, 4, 0},
		{2, 1, VERDICT_INCONCLUSIVE, "boot means without runs: an estimate, no verdict", "",
			1.98, 40, -1, 4, 0},
		{2, 2, VERDICT_INVALID, "no runs", "", NAN, NAN, -1, 0, 0},
		{3, 1, VERDICT_REGRESSED, "", "inconclusive", 9.43, 2.1, -1, 3, 2},
		{3, 2, VERDICT_EQUIVALENT, "its runs scatter by 3.00 %, the baseline's by 1.00 %",
			"", -0.04, 0.5, -1, 4, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct store_condition *condition =
			&lab->view.machines[0].conditions[rows[i].condition];
		double low = log1p((rows[i].effect_pct - rows[i].half_pct) / 100);
		double high = log1p((rows[i].effect_pct + rows[i].half_pct) / 100);

		if (rows[i].half_pct == 40) /* lopsided, as with one degree of freedom */
			low = log1p(-0.2);
		out[i] = (struct store_verdict){
			.order_low = NAN,
			.order_high = NAN,
			.against_order_low = NAN,
			.against_order_high = NAN,
			.machine_id = lab->view.machines[0].id,
			.condition_id = condition->id,
			.metric_id = condition->metrics[0].id,
			.variant_id = lab->view.variants[rows[i].variant].id,
			.against_id = lab->view.variants[0].id,
			.word = rows[i].word,
			.reason = rows[i].reason,
			.further_boots = rows[i].more,
			.effect = log1p(rows[i].effect_pct / 100),
			.effect_low = low,
			.effect_high = high,
			.se = 0.01,
			.df = 3,
			.p = 0.01,
			.q = 0.02,
			.method = "boot t",
			.method_version = 1,
			.boots = rows[i].boots,
			.runs = 9 * rows[i].boots,
			.against_boots = 4,
			.against_runs = 36,
			.mean = 20,
			.cv_pct = 1,
			.against_mean = 11.52 + (double)rows[i].condition,
			.against_cv_pct = 0.4,
			.within_sd = 0.01,
			.between_sd = 0.002,
			.drift = 0.005,
			.drift_expected = rows[i].condition == 3 ? 0.004 : 0.017,
			.dropped = rows[i].dropped,
			.word_kept = rows[i].word_kept,
			.family = 4,
			.headline = true,
		};
	}
	return ARRAY_SIZE(rows);
}

static void tell_everything(struct lab *lab)
{
	struct store_verdict verdicts[16];
	size_t count;

	create(lab);
	run_all(lab);
	count = make_verdicts(lab, verdicts);
	OK(lab, store_verdicts_replace(lab->store, lab->id, verdicts, count, "test", &lab->err));
	OK(lab, report_load(lab->store, lab->id, &lab->arena, &lab->report, &lab->err));
	/* what would differ from day to day */
	lab->report.view.head.created_ns = 1796000000000000000;
	lab->report.view.head.design = "4 boots, 9 runs, palindromic blocks";
	for (size_t b = 0; b < BOOTS; b++)
		for (size_t a = 0; a < lab->report.view.machines[0].boots[b].attempt_count; a++) {
			struct store_attempt *attempt =
				&lab->report.view.machines[0].boots[b].attempts[a];

			attempt->started_ns = attempt->ended_ns =
				1796000000000000000 + (int64_t)b * 600000000000;
		}
}

/* Every line fits, holds no control character but colours when asked for, and no blank at its end.
 */
static void check_lines(const struct str *text, const struct layout *layout)
{
	const char *line = str_text(text);

	while (*line) {
		size_t len = strcspn(line, "\n");
		char *copy = xstrndup(line, len);

		if (!layout->colour && utf8_columns(copy) > (size_t)layout->columns)
			fail_msg("%zu columns: %s", utf8_columns(copy), copy);
		if (len && copy[len - 1] == ' ')
			fail_msg("a blank at the end: %s", copy);
		for (size_t i = 0; i < len; i++) {
			unsigned char c = (unsigned char)copy[i];

			if ((c < 0x20 && !(layout->colour && c == 0x1b)) || c == 0x7f ||
				(c > 0x7f && !layout->utf8))
				fail_msg("byte %02x in: %s", c, copy);
		}
		free(copy);
		line += len + (line[len] == '\n');
	}
}

static void check_golden(const char *name, const struct str *text)
{
	char *path = xasprintf("tests/golden/report/%s", name);
	struct str golden = STR_INIT;
	struct err err = ERR_INIT;

	if (getenv("KB_UPDATE_GOLDEN")) {
		assert_int_equal(file_mkdirs("tests/golden/report", 0755, &err), 0);
		assert_int_equal(file_write_atomic(path, str_text(text), text->len, 0644, &err), 0);
	}
	if (file_read(path, 1 << 20, &golden, &err))
		fail_msg("%s", err.text);
	assert_string_equal(str_text(text), str_text(&golden));
	str_release(&golden);
	free(path);
}

/* Means as the judge gives them: one with an interval, one without. */
static void add_suite_means(struct lab *lab, struct suite_mean means[2])
{
	const struct store_view *view = &lab->report.view;

	means[0] = (struct suite_mean){.machine = &view->machines[0],
		.variant = &view->variants[1],
		.against = &view->variants[0],
		.suite = "easywave",
		.metric = "time",
		.unit = "s",
		.lower_is_better = true,
		.conditions = 4,
		.boots = 4,
		.against_boots = 4,
		.effect = log(1.121),
		.effect_low = log(1.11),
		.effect_high = log(1.132),
		.p = 0.001};
	means[1] = means[0];
	means[1].effect = log(0.98);
	means[1].effect_low = means[1].effect_high = means[1].p = NAN;
	lab->report.suites = means;
	lab->report.suite_count = 2;
}

static void a_report_tells_all_of_it(void **state)
{
	static const struct {
		struct layout layout;
		const char *golden;
	} cases[] = {{{80, true, false}, "utf8.txt"}, {{80, false, false}, "ascii.txt"},
		{{80, true, true}, "colour.txt"}, {{60, true, false}, "narrow.txt"}};
	struct suite_mean means[2];
	struct lab *lab = *state;

	tell_everything(lab);
	add_suite_means(lab, means);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct str text = STR_INIT;

		report_write_text(&lab->report, &cases[i].layout, &text);
		report_write_numbers(&lab->report, &cases[i].layout, &text);
		check_lines(&text, &cases[i].layout);
		check_golden(cases[i].golden, &text);
		str_release(&text);
	}
}

static void json_holds_all_of_it(void **state)
{
	struct lab *lab = *state;
	struct str text = STR_INIT;
	struct suite_mean means[2];
	json_t *root, *result;

	tell_everything(lab);
	add_suite_means(lab, means);
	report_write_json(&lab->report, &text);
	check_golden("report.json", &text);
	OK(lab, json_parse(text.text, text.len, text.len, &root, &lab->err));
	assert_int_equal(json_integer_value(json_object_get(root, "schema")), REPORT_JSON_SCHEMA);
	assert_int_equal(json_array_size(json_object_get(root, "results")), CONDITIONS);
	result = json_array_get(json_object_get(root, "results"), 0);
	result = json_array_get(json_object_get(result, "verdicts"), 0);
	assert_near(json_real_value(json_object_get(result, "effect_pct")), 71.5, 1e-9);
	assert_string_equal(json_string_value(json_object_get(result, "verdict")), "regressed");
	json_decref(root);
	str_release(&text);
}

static void the_worst_decides(void **state)
{
	struct lab *lab = *state;

	tell_everything(lab);
	assert_int_equal(report_outcome(&lab->report), OUTCOME_REGRESSED);
	assert_int_equal(lab->report.count.words[VERDICT_REGRESSED], 2);
	/* the kernel that was not built has no verdicts and should have four */
	assert_int_equal(lab->report.count.missing, CONDITIONS);
	lab->report.count.words[VERDICT_REGRESSED] = 0;
	assert_int_equal(report_outcome(&lab->report), OUTCOME_OPEN);
	assert_true(report_infra_failed(&lab->report));
	lab->report.count.words[VERDICT_INCONCLUSIVE] = lab->report.count.words[VERDICT_INVALID] = 0;
	lab->report.count.missing = 0;
	assert_int_equal(report_outcome(&lab->report), OUTCOME_FINE);
	assert_false(report_infra_failed(&lab->report));
}

static void disturbed_runs_take_the_trust_away(void **state)
{
	static const struct layout layout = {200, true, false};
	struct lab *lab = *state;
	struct str text = STR_INIT;

	tell_everything(lab);
	report_headline(&lab->report, &layout, &text);
	assert_null(strstr(str_text(&text), "flagged"));
	str_release(&text);
	for (size_t i = 0; i < lab->report.verdict_count; i++) {
		struct store_verdict *verdict = &lab->report.verdicts[i];

		if (verdict->word == VERDICT_EQUIVALENT || verdict->word == VERDICT_INCONCLUSIVE)
			verdict->flagged = (verdict->runs + verdict->against_runs) / 2 + 1;
	}
	report_headline(&lab->report, &layout, &text);
	assert_non_null(strstr(
		str_text(&text), "Not to be relied on: 2 of the 5 verdicts reached stand on runs"));
	str_release(&text);
}

/* Names as long as names may be, and longer than they should be. */
/* Ratios that no percentage holds, intervals without an end, and values that are not finite. */
static void effects_have_no_end(void **state KB_UNUSED)
{
	static const struct {
		double effect, low, high;
		const char *text;
	} cases[] = {
		{800, 700, 900, ">1e308% [+1.01e+306, >1e308]"},
		{23, 22, 24, "+9.74e+11% [+3.58e+11, +2.65e+12]"},
		{0.01, -900, 900, "+1.0% [-100, >1e308]"},
		{-800, -801, -799, "-100.0% +-0.0"},
	};
	static const struct layout layout = {80, false, false};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct store_verdict verdict = {.effect = cases[i].effect,
			.effect_low = cases[i].low,
			.effect_high = cases[i].high};
		struct str text = STR_INIT;

		form_effect(&layout, &text, &verdict);
		str_add_char(&text, ' ');
		form_interval(&text, &verdict);
		if (strncmp(str_text(&text), cases[i].text, strlen(cases[i].text)) != 0)
			fail_msg("%s instead of %s", str_text(&text), cases[i].text);
		str_release(&text);
	}
}

static void long_names_wrap(void **state)
{
	static const struct layout layout = {80, true, false}, narrow = {40, false, false};
	struct lab *lab = *state;
	struct str text = STR_INIT;
	char *huge = xmalloc(10001);

	memset(huge, 'n', 10000);
	huge[10000] = '\0';
	lab->names[1] = "a-variant-with-a-name-of-sixty-four-characters-which-is-the-most";
	lab->names[2] = huge;
	tell_everything(lab);
	report_write_text(&lab->report, &layout, &text);
	check_lines(&text, &layout);
	assert_non_null(strstr(str_text(&text), "REGRESSED 2 of 12"));
	str_reset(&text);
	report_write_text(&lab->report, &narrow, &text);
	check_lines(&text, &narrow);
	str_release(&text);
	free(huge);
}

static void hostile_names_are_made_safe(void **state)
{
	static const struct layout layouts[] = {{80, true, false}, {80, false, false}};
	struct lab *lab = *state;

	lab->names[0] = "\x1b]0;owned\x07\x1b[2J";
	lab->names[1] = "\xe2\x80\xae"
			"evil\xff\xc2\x9b\r\n[y/n]";
	lab->names[2] = "gr\xc3\xbc\xc3\x9f"
			"e \t%s%n";
	tell_everything(lab);
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		struct str text = STR_INIT;

		report_write_text(&lab->report, &layouts[i], &text);
		check_lines(&text, &layouts[i]);
		assert_non_null(strstr(str_text(&text), "\\x1b"));
		str_release(&text);
	}
}

static const struct store_condition *condition_at(const struct lab *lab, size_t index)
{
	return &lab->view.machines[0].conditions[index];
}

/* Without anything done yet there is a report too. */
static void a_plan_alone_is_told(void **state)
{
	static const struct layout layout = {80, true, false};
	struct lab *lab = *state;
	struct str text = STR_INIT;

	create(lab);
	OK(lab, report_load(lab->store, lab->id, &lab->arena, &lab->report, &lab->err));
	report_write_text(&lab->report, &layout, &text);
	check_lines(&text, &layout);
	assert_non_null(strstr(str_text(&text), "Not finished: 0 of 8 boots."));
	assert_int_equal(report_outcome(&lab->report), OUTCOME_OPEN);
	assert_int_equal(condition_at(lab, 0)->workers, 8);
	str_release(&text);
}

static int collect(void *arg, const struct str *lines)
{
	str_add(arg, str_text(lines));
	return 0;
}

static void json_lines_are_json(void **state)
{
	struct lab *lab = *state;
	struct str out = STR_INIT;
	const char *line;
	size_t lines = 0, failed = 0;

	create(lab);
	run_all(lab);
	OK(lab, export_write(
			lab->store, lab->id, EXPORT_JSONL, &lab->arena, collect, &out, &lab->err));
	for (line = str_text(&out); *line; lines++) {
		size_t len = strcspn(line, "\n");
		json_t *object;

		OK(lab, json_parse(line, len, len, &object, &lab->err));
		failed += strcmp(json_get_text(object, "state", ""), "failed") == 0;
		json_decref(object);
		line += len + 1;
	}
	/* 5 boots of 4 runs, one of which failed; 3 boots failed with their 4 runs each */
	assert_int_equal(lines, 5 * 4 + 3 * 4);
	assert_int_equal(failed, 1 + 3 * 4);
	str_release(&out);
}

static void two_experiments_stand_side_by_side(void **state)
{
	static const struct layout layout = {80, true, false};
	struct lab *lab = *state;
	struct store_verdict verdicts[16];
	struct report second;
	struct compare compare;
	struct str text = STR_INIT;
	int64_t first;
	size_t count;

	tell_everything(lab);
	first = lab->id;
	create(lab);
	count = make_verdicts(lab, verdicts);
	verdicts[0].effect = log1p(0.5);
	verdicts[0].effect_low = log1p(0.49);
	verdicts[0].effect_high = log1p(0.51);
	OK(lab, store_verdicts_replace(
			lab->store, lab->id, verdicts, count - 1, "test", &lab->err));
	OK(lab, report_load(lab->store, lab->id, &lab->arena, &second, &lab->err));
	assert_int_not_equal(first, lab->id);
	compare_make(&lab->report, &second, &lab->arena, &compare);
	assert_int_equal(compare.count, count - 1);
	assert_int_equal(compare.only_a, 1);
	assert_int_equal(compare.only_b, 0);
	assert_int_equal(compare_word_of(&compare.rows[0]), COMPARE_APART);
	assert_int_equal(compare_word_of(&compare.rows[1]), COMPARE_OVERLAP);
	assert_int_equal(compare_word_of(&compare.rows[5]), COMPARE_UNKNOWN);
	compare_write_text(&compare, &layout, &text);
	check_lines(&text, &layout);
	check_golden("compare.txt", &text);
	str_reset(&text);
	compare_write_json(&compare, &text);
	check_golden("compare.json", &text);
	str_release(&text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_lab, close_lab)
	const struct CMUnitTest tests[] = {
		TEST(a_report_tells_all_of_it),
		TEST(json_holds_all_of_it),
		TEST(the_worst_decides),
		TEST(disturbed_runs_take_the_trust_away),
		TEST(long_names_wrap),
		TEST(effects_have_no_end),
		TEST(hostile_names_are_made_safe),
		TEST(a_plan_alone_is_told),
		TEST(json_lines_are_json),
		TEST(two_experiments_stand_side_by_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
