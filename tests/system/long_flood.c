/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A gigabyte that the suite allows is kept, brought back and read. Needs 4 GiB of memory. */
#include "flood.h"

static void a_gigabyte_is_read(void **state)
{
	expect_time(*state, "1G", "head -c 1073741000 /dev/zero; echo; echo Time: 1.234");
	expect_time(*state, "1G", "head -c 1000000000 /dev/urandom; echo; echo Time: 1.234");
	expect_limit(*state, "1G", "echo Time: 1.234; head -c 1073741824 /dev/zero");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_gigabyte_is_read, set_up, tear_down)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
