/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 100,000 damaged outputs; test_reader_mutated has some of them. */
#include "mutating.h"

static void damage_gives_no_value(void **state KB_UNUSED)
{
	mutate_all(100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(damage_gives_no_value)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
