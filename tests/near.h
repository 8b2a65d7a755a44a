/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_NEAR_H
#define KB_TESTS_NEAR_H

/* Fails the test unless |a - b| <= eps; NAN is near nothing. Needs cmocka.h before it. */
#define assert_near(a, b, eps)                                                  \
	do {                                                                    \
		double near_a = (a), near_b = (b);                              \
		if (!(near_a - near_b <= (eps) && near_b - near_a <= (eps)))    \
			fail_msg("%s is %.17g, not %.17g", #a, near_a, near_b); \
	} while (0)

#endif
