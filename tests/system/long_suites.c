/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every suite whose program is on this host, its first condition run once as `kbracket suite try`
 * does: servers, input files and all. Others are named and passed over.
 */
#include "cli.h"

/* Why a suite whose program is here cannot be run all the same; NULL: it can. */
static const char *obstacle(const char *file)
{
	if (!strcmp(file, "schbench-published.yaml") && sysconf(_SC_NPROCESSORS_ONLN) < 4)
		return "it wants a messenger on each of four CPUs";
	if (!strcmp(file, "wrk.yaml"))
		return "it is the client of a web server of the user's; nginx.yaml runs it";
	return NULL;
}

static void run_suite(struct bench *bench, const char *file, size_t *ran)
{
	/* made for small guests: elsewhere so little work takes no time at all */
	const char *saturation = strcmp(file, "hackbench.yaml") ? "100%" : "1000%";
	int code;

	if (obstacle(file)) {
		printf("# not here: %s: %s\n", file, obstacle(file));
		return;
	}
	code = call(bench, "suite try suites/%s --saturation %s", file, saturation);
	if (code == 2) {
		printf("# not here: %s: %s", file, str_text(&bench->chatter));
		return;
	}
	printf("# %s\n", file);
	if (code != 0)
		fail_msg("%s: exit %d\n%s%s", file, code, str_text(&bench->out),
			str_text(&bench->chatter));
	expect_text(&bench->out, " is better)");
	(*ran)++;
}

static void every_suite_that_can_be_run_gives_values(void **state)
{
	struct strv files = STRV_INIT;
	struct err err = ERR_INIT;
	size_t ran = 0;

	assert_int_equal(file_list("suites", &files, &err), 0);
	for (size_t i = 0; i < files.count; i++)
		if (str_ends(files.items[i], ".yaml"))
			run_suite(*state, files.items[i], &ran);
	strv_release(&files);
	assert_true(ran >= 5); /* kbracket's own */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
		every_suite_that_can_be_run_gives_values, set_up, tear_down)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
