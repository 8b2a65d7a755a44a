/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "model/feature.h"
#include "model/toggle.h"
#include "model/variant.h"
#include "report/report_next.h"

static void features_are_found_in_lists(void **state KB_UNUSED)
{
	static const char list[] = "PLACE_LAG NO_TTWU_QUEUE NI_RANDOM\n";
	struct strv on = STRV_INIT;

	assert_true(feature_on(list, "PLACE_LAG"));
	assert_true(feature_on(list, "NI_RANDOM"));
	assert_false(feature_on(list, "PLACE"));
	assert_false(feature_on(list, "LAG"));
	assert_false(feature_on(list, "TTWU_QUEUE"));
	assert_true(feature_listed(list, "TTWU_QUEUE"));
	assert_false(feature_listed(list, "TTWU"));
	assert_false(feature_listed(list, ""));
	assert_false(feature_listed("", "NI_RANDOM"));
	feature_list_on(list, &on);
	feature_list_on("low case; PLACE_LAG", &on);
	assert_int_equal(on.count, 2);
	assert_string_equal(on.items[1], "NI_RANDOM");
	strv_release(&on);
}

static void features_are_found_in_diffs(void **state KB_UNUSED)
{
	static const char diff[] =
		"diff --git a/kernel/sched/fair.c b/kernel/sched/fair.c\n"
		"@@ -1,5 +1,5 @@ static int sched_feat(HEADER)\n"
		"      if (sched_feat(BESIDE) && x)\n"
		"-     if (sched_feat(TAKEN_AWAY) && sched_feat(BESIDE))\n"
		"+     if (!sched_feat(ASKED_2)) foo(sched_feat(), sched_feat(lower), sched_feat(\n"
		"diff --git a/kernel/sched/features.h b/kernel/sched/features.h\n"
		"+SCHED_FEAT(DECLARED, true)\n"
		"+SCHED_FEAT(DECLARED";
	static const char *const wanted[] = {"TAKEN_AWAY", "BESIDE", "ASKED_2", "DECLARED"};
	struct strv found = STRV_INIT;

	feature_list_touched(diff, &found);
	assert_int_equal(found.count, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < found.count; i++)
		assert_string_equal(found.items[i], wanted[i]);
	feature_list_touched("", &found);
	assert_int_equal(found.count, ARRAY_SIZE(wanted));
	strv_release(&found);
}

/* A report of two kernels, each booted once. */
struct lab {
	struct arena arena;
	struct report report;
	struct store_machine machine;
	struct store_boot boots[2];
	struct store_attempt attempts[2];
	struct store_variant variants[2];
	struct store_build builds[2];
	struct store_verdict verdict;
	struct strv touched;
};

static void make(struct lab *lab, const char *before, const char *after)
{
	const char *lists[] = {before, after};
	static const char *const names[] = {"base", "patched"};

	*lab = (struct lab){.arena = ARENA_INIT};
	for (int i = 0; i < 2; i++) {
		lab->builds[i] = (struct store_build){.id = i + 1};
		lab->variants[i] = (struct store_variant){.id = i + 1,
			.position = i,
			.name = names[i],
			.recipe = "{\"ref\":\"v6.18\",\"features\":[]}",
			.runtime_sha256 = "",
			.build = &lab->builds[i]};
		lab->attempts[i] = (struct store_attempt){.method = "kexec",
			.outcome = "proved",
			.proof = arena_printf(&lab->arena,
				"{\"seen\":{\"features\":\"%s\"}}", lists[i])};
		lab->boots[i] = (struct store_boot){.variant = &lab->variants[i],
			.attempts = &lab->attempts[i],
			.attempt_count = 1};
	}
	lab->variants[1].against = &lab->variants[0];
	lab->machine = (struct store_machine){.boots = lab->boots, .boot_count = 2};
	lab->verdict = (struct store_verdict){
		.variant_id = 2, .against_id = 1, .word = VERDICT_REGRESSED, .headline = true};
	lab->report = (struct report){.arena = &lab->arena,
		.view = {.machines = &lab->machine,
			.machine_count = 1,
			.variants = lab->variants,
			.variant_count = 2},
		.verdicts = &lab->verdict,
		.verdict_count = 1};
}

/* The note that there is; "" when there is none. */
static const char *told(struct lab *lab, bool known, bool scheduler)
{
	const struct report_touch touch = {known, scheduler, &lab->touched};

	lab->report.note_count = 0;
	report_next(&lab->report, &lab->variants[1], &touch);
	if (!lab->report.note_count)
		return "";
	assert_int_equal(lab->report.note_count, 1);
	assert_int_equal(lab->report.notes[0].kind, NOTE_NEXT);
	return lab->report.notes[0].text;
}

static void end(struct lab *lab)
{
	strv_release(&lab->touched);
	arena_release(&lab->arena);
}

#define ASSERT_HAS(text, part)                                                  \
	do {                                                                    \
		if (!strstr((text), (part)))                                    \
			fail_msg("\"%s\" does not say \"%s\"", (text), (part)); \
	} while (0)

static void a_new_feature_is_suspected(void **state KB_UNUSED)
{
	struct lab lab;
	const char *text;

	make(&lab, "PLACE_LAG NO_HRTICK", "PLACE_LAG HRTICK NI_RANDOM");
	text = told(&lab, false, false);
	ASSERT_HAS(text,
		"patched regressed, and what it changes touches the scheduler features HRTICK "
		"(off in base), NI_RANDOM (base's kernel has none). Whether one of them is behind "
		"it shows inside one boot, without another build: ");
	ASSERT_HAS(text, "`patched-off: { like: patched, features: [NO_HRTICK] }`");
	ASSERT_HAS(text,
		"`baseline: patched`, `variants: [patched-off]` and `design: { order: toggle }`");
	end(&lab);
}

static void touched_code_is_suspected_where_it_is_on(void **state KB_UNUSED)
{
	struct lab lab;
	const char *text;

	make(&lab, "PLACE_LAG NO_HRTICK", "PLACE_LAG NO_HRTICK");
	strv_add_many(&lab.touched, "HRTICK", "PLACE_LAG", "NOT_IN_THIS_KERNEL", NULL);
	lab.variants[1].recipe = "{\"features\":[\"WA_BIAS\",\"NO_UTIL_EST\"]}";
	text = told(&lab, true, true);
	ASSERT_HAS(text, "touches the scheduler feature PLACE_LAG. Whether that is behind it ");
	ASSERT_HAS(text, "features: [WA_BIAS, NO_UTIL_EST, NO_PLACE_LAG] }`");
	assert_null(strstr(text, "HRTICK"));
	end(&lab);
}

static void without_a_suspect_it_says_how_to_try(void **state KB_UNUSED)
{
	struct lab lab;

	make(&lab, "PLACE_LAG WA_BIAS", "PLACE_LAG WA_BIAS");
	ASSERT_HAS(told(&lab, true, true),
		"patched regressed and changes kernel/sched, but no code that a scheduler feature "
		"switches. Its kernel has 2 features on (PLACE_LAG, ...).");
	/* a change elsewhere, or of which nothing is known */
	assert_string_equal(told(&lab, true, false), "");
	assert_string_equal(told(&lab, false, false), "");
	end(&lab);
	make(&lab, "", "");
	strv_add(&lab.touched, "PLACE_LAG");
	ASSERT_HAS(told(&lab, true, true), "that takes CONFIG_DEBUG_FS");
	end(&lab);
}

static void one_kernel_run_in_two_ways_is_to_be_toggled(void **state KB_UNUSED)
{
	struct lab lab;

	make(&lab, "NI_RANDOM", "NO_NI_RANDOM");
	lab.variants[1].build = &lab.builds[0];
	assert_string_equal(told(&lab, false, false), ""); /* in no way that is known */
	lab.variants[1].runtime_sha256 = "1";
	assert_string_equal(told(&lab, false, false),
		"patched and base are one kernel run in two ways: `design: { order: toggle }` "
		"compares them inside one boot.");
	lab.attempts[1].method = TOGGLE_METHOD; /* it was */
	assert_string_equal(told(&lab, false, false), "");
	end(&lab);
}

static void only_a_regression_that_counts_asks_for_it(void **state KB_UNUSED)
{
	struct lab lab;

	make(&lab, "PLACE_LAG", "PLACE_LAG NI_RANDOM");
	lab.verdict.word = VERDICT_IMPROVED;
	assert_string_equal(told(&lab, true, true), "");
	lab.verdict.word = VERDICT_REGRESSED;
	lab.verdict.headline = false;
	assert_string_equal(told(&lab, true, true), "");
	lab.verdict.headline = true;
	assert_string_not_equal(told(&lab, true, true), "");
	/* an import has no proofs and no recipe */
	lab.attempts[0].proof = lab.attempts[1].proof = "";
	lab.variants[1].recipe = "{}";
	assert_string_equal(told(&lab, false, false), "");
	end(&lab);
}

/* What stands in the note is a line of a kernels file. */
static void the_variant_that_is_offered_can_be_read(void **state KB_UNUSED)
{
	char path[] = "/tmp/kb-next-XXXXXX";
	struct lab lab;
	struct kernels kernels;
	struct diag diag = DIAG_INIT;
	const struct variant *off;
	const char *line;
	char *text;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	make(&lab, "PLACE_LAG", "PLACE_LAG NI_RANDOM");
	line = strchr(told(&lab, false, false), '`') + 1;
	text = xasprintf("variants:\n  patched: { prebuilt: { package: linux-image } }\n  %.*s\n",
		(int)strcspn(line, "`"), line);
	assert_int_equal(file_write_atomic(path, text, strlen(text), 0600, NULL), 0);
	assert_int_equal(kernels_read(&lab.arena, path, &kernels, &diag), 0);
	off = kernels_find(&kernels, "patched-off");
	assert_non_null(off);
	assert_string_equal(off->features[0], "NO_NI_RANDOM");
	assert_null(off->features[1]);
	assert_true(variant_same_recipe(off, kernels_find(&kernels, "patched")));
	diag_release(&diag);
	free(text);
	(void)unlink(path);
	end(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(features_are_found_in_lists),
		cmocka_unit_test(features_are_found_in_diffs),
		cmocka_unit_test(a_new_feature_is_suspected),
		cmocka_unit_test(touched_code_is_suspected_where_it_is_on),
		cmocka_unit_test(without_a_suspect_it_says_how_to_try),
		cmocka_unit_test(one_kernel_run_in_two_ways_is_to_be_toggled),
		cmocka_unit_test(only_a_regression_that_counts_asks_for_it),
		cmocka_unit_test(the_variant_that_is_offered_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
