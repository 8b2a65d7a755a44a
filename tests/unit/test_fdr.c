/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "stat/fdr.h"
#include "near.h"

/* The worked example of Benjamini and Hochberg (1995), section 3: of 15 tests
 * the first four are rejected at 5 %. */
static void the_authors_example(void **state KB_UNUSED)
{
	static const double p[] = {0.0344, 0.0001, 1.0, 0.0004, 0.0459, 0.0019, 0.3240, 0.0095,
		0.4262, 0.0201, 0.5719, 0.0278, 0.6528, 0.0298, 0.7590};
	double q[ARRAY_SIZE(p)];
	int rejected = 0;

	fdr_bh(p, ARRAY_SIZE(p), q);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		rejected += q[i] <= 0.05;
	assert_int_equal(rejected, 4);
	assert_near(q[1], 0.0015, 1e-12);
	assert_near(q[3], 0.0030, 1e-12);
	assert_near(q[5], 0.0095, 1e-12);
	assert_near(q[7], 0.035625, 1e-12);
	assert_near(q[9], 0.0603, 1e-12);
	/* 0.0298 at rank 7 is what 0.0278 at rank 6 has to be content with. */
	assert_near(q[11], 0.0298 * 15 / 7, 1e-12);
	assert_near(q[13], 0.0298 * 15 / 7, 1e-12);
	assert_near(q[2], 1, 0);
}

static void gaps_are_no_members(void **state KB_UNUSED)
{
	double p[] = {NAN, 0.01, NAN, 0.04};

	fdr_bh(p, 4, p);
	assert_true(isnan(p[0]) && isnan(p[2]));
	assert_near(p[1], 0.02, 1e-15);
	assert_near(p[3], 0.04, 1e-15);
}

static void edges(void **state KB_UNUSED)
{
	double one[] = {0.03}, ties[] = {0.02, 0.02, 0.02}, zero[] = {0, 1, 1};

	fdr_bh(NULL, 0, NULL);
	fdr_bh(one, 1, one);
	assert_near(one[0], 0.03, 0);
	fdr_bh(ties, 3, ties);
	for (int i = 0; i < 3; i++)
		assert_near(ties[i], 0.02, 1e-15);
	fdr_bh(zero, 3, zero);
	assert_near(zero[0], 0, 0);
	assert_near(zero[1], 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_authors_example),
		cmocka_unit_test(gaps_are_no_members),
		cmocka_unit_test(edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
