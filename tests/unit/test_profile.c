/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differential profiles: perf's text is read, shares are compared, and what a database holds of two
 * kernels is told. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "near.h"
#include "model/store_result.h"
#include "report/profile.h"
#include "report/profile_text.h"
#include "run/raw.h"
#include "scratch.h"
#include "reading.h"
#include "sys/json.h"

static const struct profile_symbol *symbol(const struct profile_text *text, const char *name)
{
	for (size_t i = 0; i < text->count; i++)
		if (strcmp(text->symbols[i].name, name) == 0)
			return &text->symbols[i];
	fail_msg("there is no symbol '%s'", name);
	return NULL;
}

#define HEAD                                                                \
	"# To display the perf.data header info, please use --header.\n#\n" \
	"# Total Lost Samples: 3\n#\n# Samples: 1K of event 'cpu-clock:pppH'\n"

static void functions_are_told_apart(void **state KB_UNUSED)
{
	static const char text[] =
		HEAD "# Children|     Samples|Shared Object  |Symbol   \n"
		     " 40.00% |372        |b1f28867f6fdd97c-wakefan|[.] native_burn\n"
		     " 60.50% |164        |[kernel.kallsyms]       |[k] try_to_wake_up\r\n"
		     " 3.00% |9          |[JIT] tid 18105         |[.] 0x00007fbd3f44b74d\n"
		     " 2.00% |1          |[JIT] tid 42            |[.] 0x00007fbd3f44b999\n"
		     " 9.00% |40         |[kernel.kallsyms]       |[k] intel_idle.constprop.0\n"
		     " 1.15% |7          |[nf_tables]             |[k] nft_do_chain\n"
		     " 1.00% |5          |[kernel.kallsyms]       |[k] 0xffffffff81000000\n"
		     " 1.00% |6          |[kernel.kallsyms]       |[k] ffffffff81000008\n"
		     " 0.50% |2          |libfoo.so.1             |[.] foo::operator.(int)\n"
		     " 1.25% |8          |[kernel.kallsyms]       |[k] idle_cpu\n\n\n#\n# (Tip: "
		     "none)\n#";
	struct arena arena = ARENA_INIT;
	struct profile_text read;
	struct err err = ERR_INIT;

	assert_int_equal(profile_text_read(&arena, text, strlen(text), &read, &err), 0);
	assert_string_equal(read.event, "cpu-clock:pppH");
	assert_int_equal(read.lost, 3);
	assert_int_equal(read.count, 8);
	assert_int_equal(symbol(&read, "wakefan: native_burn")->samples, 372);
	assert_false(symbol(&read, "wakefan: native_burn")->kernel);
	assert_int_equal(symbol(&read, "try_to_wake_up")->samples, 164);
	assert_true(symbol(&read, "try_to_wake_up")->kernel);
	assert_near(symbol(&read, "try_to_wake_up")->reached_pct, 60.5, 1e-9);
	assert_int_equal(symbol(&read, "[JIT]: no symbol")->samples, 10);
	assert_true(isnan(symbol(&read, "[JIT]: no symbol")->reached_pct));
	assert_true(symbol(&read, "intel_idle.constprop.0")->idle);
	assert_false(symbol(&read, "idle_cpu")->idle);
	assert_int_equal(symbol(&read, "nft_do_chain [nf_tables]")->samples, 7);
	assert_int_equal(symbol(&read, "[kernel.kallsyms]: no symbol")->samples, 11);
	assert_false(symbol(&read, "[kernel.kallsyms]: no symbol")->named);
	assert_int_equal(symbol(&read, "libfoo.so.1: foo::operator.(int)")->samples, 2);
	arena_release(&arena);
}

/* Nothing is taken for a number that is none. */
static void what_perf_does_not_print_is_refused(void **state KB_UNUSED)
{
	static const char *const lines[] = {"1.00%|12|[kernel.kallsyms]\n", "12\n",
		"12|[kernel.kallsyms]|[k] f\n", "1.00%|-1|[kernel.kallsyms]|[k] f\n",
		"1.00%|1e3|[kernel.kallsyms]|[k] f\n",
		"1.00%|99999999999|[kernel.kallsyms]|[k] f\n", "1.00%||[kernel.kallsyms]|[k] f\n",
		"1.00%|4| |[k] f\n", "1.00%|4|[kernel.kallsyms]|[k]\n",
		"1.00%|4|[kernel.kallsyms]|f\n", "|4|[kernel.kallsyms]|[k] f\n",
		"1.00|4|[kernel.kallsyms]|[k] f\n", "nan%|4|[kernel.kallsyms]|[k] f\n",
		"100.01%|4|[kernel.kallsyms]|[k] f\n", "-1%|4|[kernel.kallsyms]|[k] f\n",
		"# Samples: 1 of event 'cycles'\n", "# Samples: 1 of event \n",
		"# Total Lost Samples: many\n", "Error: failed to open perf.data\n"};
	struct arena arena = ARENA_INIT;
	struct profile_text read;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char *text = xasprintf("%s%s", HEAD, lines[i]);
		struct err err = ERR_INIT;

		if (!profile_text_read(&arena, text, strlen(text), &read, &err))
			fail_msg("'%s' was read", lines[i]);
		assert_int_equal(err.code, ERR_INVALID);
		free(text);
	}
	assert_int_equal(profile_text_read(&arena, HEAD "1%|4|a\0b|[.] f\n",
				 sizeof(HEAD "1%|4|a\0b|[.] f\n") - 1, &read, NULL),
		ERR_INVALID);
	assert_int_equal(profile_text_read(&arena, "1%|4|a|[.] f\n", 13, &read, NULL), ERR_INVALID);
	assert_int_equal(profile_text_read(&arena, "", 0, &read, NULL), 0);
	assert_int_equal(read.count, 0);
	arena_release(&arena);
}

/* R: t.test(b, a, var.equal = TRUE) */
static void shares_are_compared(void **state KB_UNUSED)
{
	static const double a[] = {1, 2, 3}, b[] = {4, 5.5, 6};
	struct share_difference out;

	share_difference(a, 3, b, 3, &out);
	assert_near(out.points, 3.166667, 1e-6);
	assert_near(out.half, 2.313704, 1e-5);
	assert_near(out.p, 0.0191037, 1e-6);
	share_difference(a, 1, b, 3, &out);
	assert_near(out.points, 4.166667, 1e-6);
	assert_true(isnan(out.half) && isnan(out.p));
	share_difference(a, 0, b, 3, &out);
	assert_true(isnan(out.a) && isnan(out.points));
}

/* --- from a database --- */

static const char config[] =
	"experiment: wake-profile\n"
	"machines: [{machine: here, connect: local, boot: none}]\n"
	"baseline: base\nkernels: {variants: {base: {}, slow: {like: base}}}\nvariants: [slow]\n"
	"suites: [{suite: fan, program: fan, expect: 1s, conditions: {all: {argv: [fan]}},\n"
	"  metrics: {n: {unit: n, better: higher, regex: '(.)'}}}]\n"
	"design: {boots: 2, runs: 2, warmup: 1}\nprofile: 99\n";

struct lab {
	struct store *store;
	struct arena arena;
	struct experiment experiment;
	struct plan plan;
	int64_t id;
	struct err err;
};

#define OK(lab, call)                                               \
	do {                                                        \
		if (call)                                           \
			fail_msg("%s: %s", #call, (lab)->err.text); \
	} while (0)

static int open_lab(void **state)
{
	struct lab *lab = xcalloc(1, sizeof(*lab));
	struct diag diag = DIAG_INIT;
	const struct store_ref refs[] = {{"", ""}, {"", ""}};
	struct store_new what;
	char *spec;

	assert_int_equal(make_scratch(state), 0);
	if (experiment_read_text(
		    &lab->arena, "test", config, strlen(config), &lab->experiment, &diag))
		fail_msg("%s", messages(&lab->arena, &diag));
	OK(lab, plan_make(&lab->arena, &lab->experiment, lab->experiment.machines, 2, &lab->plan,
			&lab->err));
	OK(lab, store_open(in_scratch("kbracket.db"), STORE_WRITE, &lab->store, &lab->err));
	spec = experiment_dump(&lab->experiment);
	what = (struct store_new){.kind = KIND_EXPERIMENT,
		.experiment = &lab->experiment,
		.spec = spec,
		.plans = &lab->plan,
		.refs = refs,
		.version = "test"};
	OK(lab, store_create(lab->store, &what, &lab->id, &lab->err));
	free(spec);
	*state = lab;
	return 0;
}

static int close_lab(void **state)
{
	struct lab *lab = *state;

	store_close(lab->store);
	arena_release(&lab->arena);
	free(lab);
	return remove_scratch(state);
}

/* A run that ended; text NULL: perf gave nothing. */
static void end_run(struct lab *lab, const struct store_run *run, int64_t attempt, const char *text)
{
	char *path = xasprintf("raw/%lld-profile", (long long)run->id);
	struct store_raw raw;
	struct store_run_end end = {.run_id = run->id,
		.attempt_id = attempt,
		.wall_ns = 1,
		.raws = &raw,
		.raw_count = text != NULL};

	OK(lab, store_run_begin(lab->store, run->id, attempt, &lab->err));
	if (text)
		OK(lab, raw_keep(&lab->arena, scratch, path, "profile", text, strlen(text), &raw,
				&lab->err));
	OK(lab, store_run_finish(lab->store, &end, &lab->err));
	free(path);
}

/* Every boot with two runs of which perf saw something; the shares differ between boots a little.
 */
static void measure(struct lab *lab, int boots)
{
	struct store_view view;

	OK(lab, store_load(lab->store, lab->id, &lab->arena, &view, &lab->err));
	for (int i = 0; i < boots; i++) {
		const struct store_boot *boot = &view.machines[0].boots[i];
		bool slow = strcmp(boot->variant->name, "slow") == 0;
		struct store_run *runs;
		int64_t attempt;
		size_t count;

		OK(lab, store_attempt_begin(lab->store, boot->id, "none", &attempt, &lab->err));
		OK(lab, store_load_runs(
				lab->store, boot->id, &lab->arena, &runs, &count, &lab->err));
		for (size_t k = 0; k < count; k++) {
			char *text =
				xasprintf(HEAD "1.00%%|%d|[kernel.kallsyms]|[k] delay_tsc\n"
					       "%s|0|[kernel.kallsyms]|[k] try_to_wake_up\n"
					       "33.33%%|500|[kernel.kallsyms]|[k] default_idle\n"
					       "40.00%%|%d|fan|[.] burn\n",
					slow ? 300 + i : 10 + i, slow ? "22.00%" : "2.00%",
					slow ? 700 - i : 990 - i);

			end_run(lab, &runs[k], attempt, runs[k].kind == RUN_WARMUP ? NULL : text);
			free(text);
		}
	}
}

static void the_guilty_function_is_told(void **state)
{
	static const struct layout layout = {80, true, false};
	struct lab *lab = *state;
	struct profile profile;
	struct str text = STR_INIT;
	json_t *json;

	measure(lab, 4);
	OK(lab, profile_load(lab->store, lab->id, &lab->arena, &profile, &lab->err));
	assert_int_equal(profile.unit, PROFILE_BOOTS);
	assert_int_equal(profile.boots[0], 2);
	assert_int_equal(profile.runs[1], 4);
	assert_int_equal(profile.samples[0], 4 * 1500);
	assert_int_equal(profile.lost, 8 * 3);
	assert_int_equal(profile.missing, 0);
	assert_int_equal(profile.count, 2);
	/* boots 1 and 4 are the baseline's, 2 and 3 the variant's: both have the same mean place */
	assert_string_equal(profile.lines[1].name, "fan: burn");
	assert_string_equal(profile.lines[0].name, "delay_tsc");
	assert_near(profile.lines[0].share.a, 1.15, 1e-9);
	assert_near(profile.lines[0].share.b, 30.15, 1e-9);
	assert_near(profile.lines[0].share.points, 29, 1e-9);
	/* sd between boots 0.15 sqrt 2 and 0.05 sqrt 2 points: 4.3027 * sqrt(0.025) */
	assert_near(profile.lines[0].share.half, 0.680312, 1e-5);
	assert_true(profile_moved(&profile.lines[0]));
	/* two of 150 samples, and 22: outside the idle loop 3 and 33 of 100 */
	assert_int_equal(profile.reaching_count, 3);
	assert_string_equal(profile.reaching[0].name, "try_to_wake_up");
	assert_near(profile.reaching[0].share.a, 3, 1e-9);
	assert_near(profile.reaching[0].share.b, 33, 1e-9);
	assert_near(profile.kernel.share.points, 29, 1e-9);
	assert_near(profile.idle.share.a, 100.0 / 3, 1e-9);
	profile_write_text(&profile, 1, &layout, &text);
	assert_non_null(strstr(str_text(&text),
		"\ndelay_tsc gained most: from 1.15 to 30.15 % of the samples.\n"));
	assert_non_null(strstr(str_text(&text), "     1.15     30.15   +29.00 ±0.68   gained  "
						"delay_tsc\n"));
	assert_null(strstr(str_text(&text), "burn"));
	str_reset(&text);
	profile_write_json(&profile, &text);
	OK(lab, json_parse(str_text(&text), text.len, text.len, &json, &lab->err));
	assert_int_equal(json_array_size(json_object_get(json, "functions")), 2);
	assert_int_equal(json_array_size(json_object_get(json, "with_callees")), 3);
	json_decref(json);
	str_release(&text);
}

static void a_side_without_samples_is_told(void **state)
{
	struct lab *lab = *state;
	struct profile profile;

	measure(lab, 1);
	assert_int_equal(
		profile_load(lab->store, lab->id, &lab->arena, &profile, &lab->err), ERR_INVALID);
	assert_string_equal(lab->err.text, "there are no samples of slow");
}

/* One boot of each: runs are the unit, and that is said. */
static void one_boot_of_each_is_told_as_that(void **state)
{
	static const struct layout layout = {80, false, false};
	struct lab *lab = *state;
	struct profile profile;
	struct str text = STR_INIT;

	measure(lab, 2);
	OK(lab, profile_load(lab->store, lab->id, &lab->arena, &profile, &lab->err));
	assert_int_equal(profile.unit, PROFILE_RUNS);
	profile_write_text(&profile, 10, &layout, &text);
	assert_non_null(strstr(str_text(&text), "booted once only"));
	str_release(&text);
}

#define TEST(name) cmocka_unit_test(name)
#define LAB_TEST(name) cmocka_unit_test_setup_teardown(name, open_lab, close_lab)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(functions_are_told_apart),
		TEST(what_perf_does_not_print_is_refused),
		TEST(shares_are_compared),
		LAB_TEST(the_guilty_function_is_told),
		LAB_TEST(a_side_without_samples_is_told),
		LAB_TEST(one_boot_of_each_is_told_as_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
