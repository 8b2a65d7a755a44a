/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_FLOOD_H
#define KB_TESTS_FLOOD_H

/* Programs that print far too much, or much that is no text, run as `kbracket suite try` does. */

#include "cli.h"

#include <sys/resource.h>

/* Runs a shell script as a suite whose result is the one line "Time: 1.234". */
KB_UNUSED static int flood(struct bench *bench, const char *limit, const char *script)
{
	char *path = xasprintf("%s/flood.yaml", bench->folder);
	char *text = xasprintf(
		"suite: flood\nprogram: sh\noutput: %s\nexpect: 5s\n"
		"conditions:\n  flood: { argv: [sh, -c, '%s'] }\n"
		"metrics:\n"
		"  time: { unit: s, better: lower, regex: '^Time: ([0-9]+\\.[0-9]{3})$' }\n",
		limit, script);
	struct err err = ERR_INIT;
	int code;

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, &err), 0);
	code = call(bench, "suite try %s", path);
	free(path);
	free(text);
	return code;
}

KB_UNUSED static void expect_limit(struct bench *bench, const char *limit, const char *script)
{
	assert_int_equal(flood(bench, limit, script), 4);
	expect_text(&bench->out, "\ninvalid: it printed more than the suite allows\n");
	assert_null(strstr(str_text(&bench->out), "time 1"));
}

KB_UNUSED static void expect_time(struct bench *bench, const char *limit, const char *script)
{
	assert_int_equal(flood(bench, limit, script), 0);
	expect_text(&bench->out, "  time 1: 1.234 s (lower is better)\n");
}

/* Of any of the children so far. */
KB_UNUSED static int64_t children_rss_bytes(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
	return (int64_t)usage.ru_maxrss * 1024;
}

#endif
