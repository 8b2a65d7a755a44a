/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of others on values whose answers are known. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/mem.h"
#include "stat/peers.h"
#include "near.h"

static struct peer_answer ask(
	enum peer peer, const double *a, size_t a_count, const double *b, size_t b_count)
{
	struct peer_answer answer;

	peer_ask(peer, a, a_count, b, b_count, &answer);
	return answer;
}

#define ASK(peer, a, b) ask(peer, a, ARRAY_SIZE(a), b, ARRAY_SIZE(b))

/* p by integrating the density of t, by counting orders, and by counting pairs: no code in common.
 */
static void tests_from_their_definitions(void **state KB_UNUSED)
{
	static const double a[] = {20.4, 24.2, 15.4, 21.4, 20.2, 18.5, 21.5};
	static const double b[] = {20.2, 16.9, 18.5, 17.3, 20.5};
	static const double c[] = {1, 2, 3, 4}, d[] = {5, 6, 7, 8, 9};
	static const double e[] = {1, 1, 2, 2}, f[] = {2, 2, 3, 3};
	struct peer_answer welch = ASK(PEER_WELCH, a, b);

	assert_true(welch.told);
	assert_near(welch.p, 0.250810069832232, 1e-9);
	assert_near(welch.change, 18.68 / (141.6 / 7) - 1, 1e-12);
	assert_false(welch.differs);
	assert_near(ASK(PEER_BENCHSTAT, c, d).p, 2.0 / 126, 1e-12);
	assert_true(ASK(PEER_BENCHSTAT, c, d).differs);
	assert_near(ASK(PEER_BENCHSTAT, e, f).p, 0.08635873964701243, 1e-9);
	assert_near(ASK(PEER_BENCHSTAT, a, b).p, 0.2539561140905604, 1e-9);
}

/* The same shift: three values of either side find it, ten scattered alike do not. */
static void more_runs_find_no_more(void **state KB_UNUSED)
{
	static const double a[] = {100, 100.1, 99.9}, b[] = {102, 102.1, 101.9};
	static const double near_b[] = {100.3, 100.4, 100.2};

	assert_true(ASK(PEER_MMTESTS, a, b).differs);
	assert_false(ASK(PEER_MMTESTS, a, near_b).differs);
	assert_true(isnan(ASK(PEER_MMTESTS, a, b).p));
}

static void ranges_and_medians(void **state KB_UNUSED)
{
	static const double a[] = {100, 101, 102}, apart[] = {103, 104, 103.5};
	static const double close[] = {102.004, 102.006}, across[] = {101.5, 110, 112};
	static const double one[] = {100}, other[] = {110};
	double many[64], more[64];

	assert_true(ASK(PEER_LKP, a, apart).differs);
	assert_near(ASK(PEER_LKP, a, apart).change, 103.5 / 101 - 1, 1e-12);
	assert_true(ASK(PEER_LKP, a, across).differs);
	/* Disjoint ranges, medians within 1 %: not reported. */
	assert_false(ASK(PEER_LKP, a, close).differs);
	assert_false(ASK(PEER_LKP, one, other).told);
	assert_string_equal(ASK(PEER_LKP, one, other).why, "too few values");
	/* Two of 64 are cut off at either end. */
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		many[i] = i < 2 ? 200 : 100;
		more[i] = i < 2 ? 50 : 105;
	}
	assert_true(ASK(PEER_LKP, many, more).differs);
	many[2] = 200;
	assert_false(ASK(PEER_LKP, many, more).differs);
}

static void degenerate(void **state KB_UNUSED)
{
	static const double same[] = {5, 5, 5, 5}, other[] = {6, 6, 6, 6}, zero[] = {0, 0, 0, 0};
	static const double bad[] = {5, NAN, 5, 5}, endless[] = {5, INFINITY, 5, 5};

	for (int i = 0; i < PEER_COUNT; i++) {
		enum peer peer = (enum peer)i;

		assert_true(ASK(peer, same, same).told);
		assert_false(ASK(peer, same, same).differs);
		assert_true(ASK(peer, same, other).differs);
		assert_near(ASK(peer, same, other).change, 0.2, 1e-12);
		assert_true(isnan(ASK(peer, zero, other).change));
		assert_false(ASK(peer, same, bad).told);
		assert_false(ASK(peer, endless, same).told);
		assert_false(ask(peer, same, 4, NULL, 0).told);
		assert_true(strlen(peer_about(peer)) > 10);
	}
}

/* A million values of either side, and values of 1e-12 and 1e15. */
static void sizes(void **state KB_UNUSED)
{
	enum { N = 1000000 };
	double *a = xcalloc(N, sizeof(*a)), *b = xcalloc(N, sizeof(*b));
	static const double scales[] = {1e-12, 1, 1e15};

	for (size_t i = 0; i < N; i++) {
		a[i] = 100 + (double)(i % 997) / 997;
		b[i] = a[i] * 1.001;
	}
	assert_true(ask(PEER_WELCH, a, N, b, N).differs);
	assert_true(ask(PEER_BENCHSTAT, a, N, b, N).differs);
	assert_false(ask(PEER_MMTESTS, a, N, b, N).differs);
	assert_false(ask(PEER_LKP, a, N, b, N).differs);
	for (size_t s = 0; s < ARRAY_SIZE(scales); s++) {
		double x[] = {100 * scales[s], 101 * scales[s], 102 * scales[s]};
		double y[] = {108 * scales[s], 109 * scales[s], 107 * scales[s]};

		assert_near(ASK(PEER_WELCH, x, y).change, 108.0 / 101 - 1, 1e-9);
		assert_true(ASK(PEER_WELCH, x, y).differs);
		assert_true(ASK(PEER_LKP, x, y).differs);
	}
	free(a);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tests_from_their_definitions),
		cmocka_unit_test(more_runs_find_no_more),
		cmocka_unit_test(ranges_and_medians),
		cmocka_unit_test(degenerate),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
