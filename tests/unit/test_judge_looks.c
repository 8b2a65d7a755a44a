/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks and repeated blocks, judged on a real database: imported measurements whose experiment is
 * made one with looks, or whose blocks are made repeats of others, by hand. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "judge/judge.h"
#include "judge/others.h"
#include "model/store_db.h"
#include "model/store_result.h"
#include "near.h"

static const char *const three[] = {"base", "patched", "third", NULL};

struct lab {
	char *folder;
	struct store *store;
	struct arena arena;
	struct store_import_row *rows;
	size_t count, capacity;
	int64_t experiment;
	struct store_verdict *verdicts;
	size_t verdict_count;
	struct judge_wish *wishes;
	size_t wish_count;
};

#define OK(call)                                             \
	do {                                                 \
		struct err err = ERR_INIT;                   \
		if ((call) != 0)                             \
			fail_msg("%s: %s", #call, err.text); \
	} while (0)

static int setup(void **state)
{
	struct lab *lab = xcalloc(1, sizeof(*lab));
	char *path;

	lab->folder = xstrdup("/tmp/kb-test-looks-XXXXXX");
	assert_non_null(mkdtemp(lab->folder));
	path = xasprintf("%s/kbracket.db", lab->folder);
	OK(store_open(path, STORE_WRITE, &lab->store, &err));
	free(path);
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;
	struct err err = ERR_INIT;

	store_close(lab->store);
	assert_int_equal(file_remove_tree(lab->folder, &err), 0);
	arena_release(&lab->arena);
	free(lab->folder);
	free(lab->rows);
	free(lab);
	return 0;
}

/* A boot of four runs that scatter by scatter (a fraction). */
static void add_boot(struct lab *lab, const char *condition, int boot, int block, char variant,
	double level, double scatter)
{
	static const double noise[] = {-1, 1, 0.5, -0.5};

	for (int run = 1; run <= 4; run++) {
		GROW(lab->rows, lab->count, lab->capacity);
		lab->rows[lab->count++] = (struct store_import_row){.machine = "box",
			.variant = three[variant - 'A'],
			.boot = boot,
			.block = block,
			.suite = "suite",
			.condition = condition,
			.workers = 8,
			.cpus = 8,
			.metric = "time",
			.unit = "s",
			.lower_is_better = true,
			.run = run,
			.ordinal = 1,
			.value = level * (1 + scatter * noise[run - 1]),
			.flags = "",
			.cv_pct = NAN};
	}
}

/* Boots in the order of the letters, from the first boot of a block on. */
static void add_block(
	struct lab *lab, const char *condition, int block, const char *order, const double *level)
{
	int boots = (int)strlen(order);

	for (int i = 0; i < boots; i++)
		add_boot(lab, condition, (block - 1) * boots + i + 1, block, order[i], level[i],
			0.001);
}

static void import(struct lab *lab, int variants)
{
	const char *names[4] = {NULL};
	struct store_import what = {.name = "imported",
		.about = "test",
		.variants = names,
		.margin_pct = 1,
		.alpha_pct = 5,
		.version = "test",
		.rows = lab->rows,
		.count = lab->count};

	memcpy(names, three, (size_t)variants * sizeof(*names));
	OK(store_import(lab->store, &what, &lab->experiment, &err));
}

static void sql(struct lab *lab, const char *text)
{
	OK(db_script(lab->store->db, text, &err));
}

static void judge(struct lab *lab)
{
	OK(judge_experiment(lab->store, lab->experiment, "test", &err));
	OK(store_verdicts_load(lab->store, lab->experiment, &lab->arena, &lab->verdicts,
		&lab->verdict_count, &err));
	OK(judge_next(lab->store, lab->experiment, "box", &lab->arena, &lab->wishes,
		&lab->wish_count, &err));
}

/* Base and patched boots of one block each; means 5 %, 0.05 % and about 1 % apart. */
static const double moved[] = {100, 105, 105.2, 100.1};
static const double same[] = {100, 100.02, 100.07, 100.03};
static const double wide[] = {100, 102.5, 99.9, 101};

static void each_look_has_its_level(void **state)
{
	struct lab *lab = *state;

	add_block(lab, "a", 1, "ABBA", moved);
	add_block(lab, "b", 1, "ABBA", same);
	for (int block = 1; block <= 3; block++)
		add_block(lab, "c", block, "ABBA", wide);
	import(lab, 2);
	sql(lab, "UPDATE experiment SET looks = 4");
	judge(lab);
	assert_int_equal(lab->verdict_count, 3);
	assert_int_equal(lab->verdicts[0].word, VERDICT_REGRESSED);
	assert_int_equal(lab->verdicts[0].look, 1);
	assert_near(lab->verdicts[0].level, 0.017869, 1e-6);
	assert_int_equal(lab->verdicts[1].word, VERDICT_EQUIVALENT);
	assert_int_equal(lab->verdicts[1].look, 1);
	assert_int_equal(lab->verdicts[2].word, VERDICT_INCONCLUSIVE);
	assert_int_equal(lab->verdicts[2].look, 3);
	assert_near(lab->verdicts[2].level, 0.01837, 1e-5);
	assert_int_equal(lab->verdicts[2].boots, 6);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(lab->verdicts[i].family, 3);
		assert_true(lab->verdicts[i].q >= lab->verdicts[i].p);
	}
	/* a further block with what is open */
	assert_int_equal(lab->wish_count, 1);
	assert_string_equal(lab->wishes[0].reason, "look 4");
	assert_int_equal(lab->wishes[0].repeats, 0);
	assert_int_equal(lab->wishes[0].condition_count, 1);
	assert_int_equal(lab->wishes[0].conditions[0], 2);
	assert_true(lab->wishes[0].variants[0] && lab->wishes[0].variants[1]);
	/* but no more than there may be */
	sql(lab, "UPDATE experiment SET looks = 3");
	judge(lab);
	assert_int_equal(lab->wish_count, 0);
	assert_int_equal(lab->verdicts[0].word, VERDICT_REGRESSED);
	assert_near(lab->verdicts[2].level, 0.02168, 1e-5); /* the third of three */
}

static void intervals_are_of_the_looks_level(void **state)
{
	struct lab *lab = *state;
	const struct store_verdict *v;
	double half;

	add_block(lab, "a", 1, "ABBA", moved);
	import(lab, 2);
	judge(lab);
	half = lab->verdicts[0].effect_high - lab->verdicts[0].effect;
	assert_int_equal(lab->verdicts[0].look, 0);
	assert_true(isnan(lab->verdicts[0].level));
	assert_int_equal(lab->wish_count, 0);
	sql(lab, "UPDATE experiment SET looks = 4");
	judge(lab);
	v = &lab->verdicts[0];
	/* qt(1 - .017869 / 2, 2) / qt(.975, 2) */
	assert_near((v->effect_high - v->effect) / half, 7.3803 / 4.302653, 1e-4);
}

/* p is 3 %: enough for a single test, not for the first of four looks. */
static void a_look_asks_for_more_than_a_single_test(void **state)
{
	static const double level[] = {100, 103, 103.9, 100.3};
	struct lab *lab = *state;

	add_block(lab, "a", 1, "ABBA", level);
	import(lab, 2);
	judge(lab);
	assert_in_range((int)(1000 * lab->verdicts[0].p), 19, 49);
	assert_int_equal(lab->verdicts[0].word, VERDICT_REGRESSED);
	sql(lab, "UPDATE experiment SET looks = 4");
	judge(lab);
	assert_int_equal(lab->verdicts[0].word, VERDICT_INCONCLUSIVE);
	assert_true(lab->verdicts[0].q > 0.05);
	assert_int_equal(lab->wish_count, 1);
}

static void what_is_decided_stays_decided(void **state)
{
	static const double back[] = {100, 100, 100.3, 100.1}; /* as if nothing had moved */
	struct lab *lab = *state;

	add_block(lab, "a", 1, "ABBA", moved);
	add_block(lab, "a", 2, "ABBA", back);
	import(lab, 2);
	judge(lab);
	assert_int_equal(lab->verdicts[0].word, VERDICT_INCONCLUSIVE);
	sql(lab, "UPDATE experiment SET looks = 4");
	judge(lab);
	assert_int_equal(lab->verdicts[0].word, VERDICT_REGRESSED);
	assert_int_equal(lab->verdicts[0].look, 1);
	assert_int_equal(lab->verdicts[0].boots, 2);
	assert_near(100 * expm1(lab->verdicts[0].effect), 5.05, 0.05);
	assert_int_equal(lab->wish_count, 0);
}

static void a_look_is_taken_when_its_block_has_ended(void **state)
{
	struct lab *lab = *state;

	for (int block = 1; block <= 2; block++)
		add_block(lab, "a", block, "ABBA", wide);
	import(lab, 2);
	sql(lab, "UPDATE experiment SET looks = 4;"
		 "UPDATE boot SET state = 'planned' WHERE ordinal = 8");
	judge(lab);
	assert_int_equal(lab->verdicts[0].look, 1);
	assert_int_equal(lab->verdicts[0].boots, 2);
	/* a failed boot has ended; three of four are there */
	sql(lab, "UPDATE boot SET state = 'failed' WHERE ordinal = 7;"
		 "UPDATE boot SET state = 'done' WHERE ordinal = 8");
	judge(lab);
	assert_int_equal(lab->verdicts[0].look, 2);
	assert_int_equal(lab->verdicts[0].boots, 3);
}

static void decided_variants_are_not_booted_again(void **state)
{
	static const double level[] = {100, 105, 102.5, 99.9, 105.2, 100.1};
	struct lab *lab = *state;

	add_block(lab, "a", 1, "ABCCBA", level);
	import(lab, 3);
	sql(lab, "UPDATE experiment SET looks = 4");
	judge(lab);
	assert_int_equal(lab->verdicts[0].word, VERDICT_REGRESSED);
	assert_int_equal(lab->verdicts[1].word, VERDICT_INCONCLUSIVE);
	assert_int_equal(lab->wish_count, 1);
	assert_true(lab->wishes[0].variants[0]);
	assert_false(lab->wishes[0].variants[1]);
	assert_true(lab->wishes[0].variants[2]);
}

/* What does not decide the exit code asks for no boots, but goes along. */
static void the_headline_decides_when_to_stop(void **state)
{
	struct lab *lab = *state;

	add_block(lab, "a", 1, "ABBA", wide);
	add_block(lab, "b", 1, "ABBA", wide);
	add_block(lab, "c", 1, "ABBA", moved);
	import(lab, 2);
	sql(lab, "UPDATE experiment SET looks = 4;"
		 "UPDATE condition SET decides = 0 WHERE name = 'a'");
	judge(lab);
	assert_int_equal(lab->wish_count, 1);
	assert_int_equal(lab->wishes[0].condition_count, 2);
	sql(lab, "UPDATE condition SET decides = 0 WHERE name = 'b'");
	judge(lab);
	assert_int_equal(lab->wish_count, 0);
	/* a control watches as long as there is something to watch */
	sql(lab, "UPDATE condition SET decides = 1, control = name = 'c' WHERE name <> 'a'");
	judge(lab);
	assert_int_equal(lab->wish_count, 1);
	assert_int_equal(lab->wishes[0].condition_count, 3);
}

/* What no number of boots decides asks for none. */
static void hopeless_comparisons_ask_for_nothing(void **state)
{
	static const double zero[] = {100, 0, 100, 100}, one[] = {7, 7, 7, 7};
	struct lab *lab = *state;

	add_block(lab, "a", 1, "ABBA", zero);
	for (int block = 1; block <= 2; block++)
		for (int i = 0; i < 4; i++)
			add_boot(lab, "b", 4 * (block - 1) + i + 1, block, "ABBA"[i], one[i], 0);
	import(lab, 3); /* no boot of the third */
	sql(lab, "UPDATE experiment SET looks = 4");
	judge(lab);
	assert_int_equal(lab->verdict_count, 4);
	assert_int_equal(lab->verdicts[0].word, VERDICT_INVALID);
	assert_int_equal(lab->verdicts[1].word, VERDICT_INVALID);
	assert_int_equal(lab->verdicts[2].look, 2);
	assert_non_null(strstr(lab->verdicts[2].reason, "never vary"));
	assert_int_equal(lab->wish_count, 0);
	/* values that never vary might do so in a second block */
	sql(lab, "UPDATE boot SET state = 'planned' WHERE block = 2");
	judge(lab);
	assert_int_equal(lab->wish_count, 1);
	assert_int_equal(lab->wishes[0].condition_count, 1);
	assert_false(lab->wishes[0].variants[2]);
}

static void until_the_interval_is_narrow(void **state)
{
	struct lab *lab = *state;

	add_block(lab, "a", 1, "ABBA", moved);
	add_block(lab, "b", 1, "ABBA", wide);
	import(lab, 2);
	sql(lab, "UPDATE experiment SET looks = 4, until_pct = 1");
	judge(lab);
	assert_int_equal(lab->verdicts[0].look, 1);
	assert_near(lab->verdicts[0].level, 0.05, 1e-12); /* one test, at the end */
	assert_int_equal(lab->wish_count, 1);
	assert_int_equal(lab->wishes[0].condition_count, 1);
	assert_int_equal(lab->wishes[0].conditions[0], 1);
	sql(lab, "UPDATE experiment SET until_pct = 20");
	judge(lab);
	assert_int_equal(lab->wish_count, 0);
}

/* --- disturbed blocks --- */

/* A B B A, whose boot 2 scatters by a tenth and is off by as much in its block. */
static void add_disturbed(struct lab *lab, const char *condition, int block)
{
	for (int i = 1; i <= 4; i++)
		add_boot(lab, condition, 4 * (block - 1) + i, block, "ABBA"[i - 1],
			i == 2 ? 111 : 100 + 0.01 * i, i == 2 ? 0.1 : 0.001);
}

static void a_disturbed_block_is_repeated_whole(void **state)
{
	struct lab *lab = *state;

	add_disturbed(lab, "a", 1);
	add_block(lab, "b", 1, "ABBA", moved);
	import(lab, 2);
	sql(lab, "UPDATE experiment SET cv_pct = 2");
	judge(lab);
	assert_int_equal(lab->verdicts[0].word, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(lab->verdicts[0].reason, "runs of boot 2 scatter"));
	assert_int_equal(lab->verdicts[1].word, VERDICT_REGRESSED);
	assert_int_equal(lab->wish_count, 1);
	assert_int_equal(lab->wishes[0].repeats, 1);
	assert_string_equal(lab->wishes[0].reason, "repeat of block 1, whose boot 2 is disturbed");
	assert_int_equal(lab->wishes[0].condition_count, 1);
	assert_int_equal(lab->wishes[0].conditions[0], 0);
	assert_true(lab->wishes[0].variants[0] && lab->wishes[0].variants[1]);
}

#define REPEATS(block, of)                                                         \
	"INSERT INTO extension SELECT 1, machine_id, " #block ", " #block ", " #of \
	", '[0,1,1,0]', '[0]', 4, 0, 'repeat of block " #of "', 0 FROM boot LIMIT 1;"

static void a_whole_repeat_stands_for_its_block(void **state)
{
	struct lab *lab = *state;
	struct store_view view;
	struct others others;

	add_disturbed(lab, "a", 1);
	add_block(lab, "a", 2, "ABBA", same);
	import(lab, 2);
	sql(lab, "UPDATE experiment SET cv_pct = 2;" REPEATS(2, 1));
	judge(lab);
	assert_int_equal(lab->verdicts[0].word, VERDICT_EQUIVALENT);
	assert_int_equal(lab->verdicts[0].boots, 2);
	assert_int_equal(lab->verdicts[0].against_boots, 2);
	assert_int_equal(lab->wish_count, 0);
	/* other rules are asked about the same boots: the disturbed one made 5 % */
	OK(store_load(lab->store, lab->experiment, &lab->arena, &view, &err));
	OK(others_ask(lab->store, &view, PEER_WELCH, lab->verdicts, lab->verdict_count, &lab->arena,
		&others, &err));
	assert_near(others.rows[0].theirs.change, 0.0003, 0.0005);
	/* with a boot missing it does not, and is tried once more */
	sql(lab, "UPDATE boot SET state = 'failed' WHERE ordinal = 6");
	judge(lab);
	assert_int_equal(lab->verdicts[0].word, VERDICT_INCONCLUSIVE);
	assert_int_equal(lab->wish_count, 1);
	assert_int_equal(lab->wishes[0].repeats, 1);
}

static void a_block_is_repeated_twice_at_most(void **state)
{
	struct lab *lab = *state;

	for (int block = 1; block <= 3; block++)
		add_disturbed(lab, "a", block);
	import(lab, 2);
	sql(lab, "UPDATE experiment SET cv_pct = 2;" REPEATS(2, 1) REPEATS(3, 1));
	judge(lab);
	assert_int_equal(lab->verdicts[0].word, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(lab->verdicts[0].reason, "runs of boot 10 scatter"));
	assert_non_null(strstr(lab->verdicts[0].reason, "repeated twice"));
	assert_int_equal(lab->verdicts[0].boots, 2);
	assert_int_equal(lab->wish_count, 0);
	/* nor are more blocks of any use to it */
	sql(lab, "UPDATE experiment SET looks = 4");
	judge(lab);
	assert_int_equal(lab->verdicts[0].look, 1);
	assert_int_equal(lab->wish_count, 0);
}

/* A repeat belongs to the look of its block. */
static void a_repeat_comes_before_its_look(void **state)
{
	struct lab *lab = *state;

	add_disturbed(lab, "a", 1);
	add_block(lab, "a", 2, "ABBA", wide);
	add_block(lab, "a", 3, "ABBA", wide);
	import(lab, 2);
	sql(lab, "UPDATE experiment SET cv_pct = 2, looks = 4;" REPEATS(2, 1));
	judge(lab);
	assert_int_equal(lab->verdicts[0].look, 2);
	assert_int_equal(lab->verdicts[0].boots, 4);
	assert_int_equal(lab->wish_count, 1);
	assert_string_equal(lab->wishes[0].reason, "look 3");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_look_has_its_level),
		TEST(intervals_are_of_the_looks_level),
		TEST(a_look_asks_for_more_than_a_single_test),
		TEST(what_is_decided_stays_decided),
		TEST(a_look_is_taken_when_its_block_has_ended),
		TEST(decided_variants_are_not_booted_again),
		TEST(the_headline_decides_when_to_stop),
		TEST(hopeless_comparisons_ask_for_nothing),
		TEST(until_the_interval_is_narrow),
		TEST(a_disturbed_block_is_repeated_whole),
		TEST(a_whole_repeat_stands_for_its_block),
		TEST(a_block_is_repeated_twice_at_most),
		TEST(a_repeat_comes_before_its_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
