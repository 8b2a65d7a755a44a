/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Some damaged outputs; long_reader_mutated has many. */
#include "mutating.h"

static void damage_gives_no_value(void **state KB_UNUSED)
{
	mutate_all(10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(damage_gives_no_value)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
