/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_GOLDEN_CASE_H
#define KB_TESTS_GOLDEN_CASE_H

/*
 * tests/golden/suites/SUITE/CASE holds what a program really printed (stdout, and stderr when there
 * was any), the condition that it is read as ("CPUS SATURATION NAME", and how long it was to run
 * where that is not what the suite says), and how it ended when that was not exit 0 or its length
 * counts (end: "exit 1", "signal 15" or "timeout", and then the seconds that it ran and those that
 * were asked for).
 */

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "base/strv.h"
#include "base/wire.h"
#include "sys/proc.h"
#include "backend/reader.h"
#include "run/outcome.h"
#include "reading.h"

static const char golden_dir[] = "tests/golden/suites";

struct golden_case {
	char *name; /* SUITE/CASE */
	struct arena arena;
	struct suite suite;
	const struct condition *condition;
	struct str out, err_out;
	struct outcome outcome;
	int64_t asked_ns; /* 0: its length does not count */
};

static bool golden_file(const char *folder, const char *name, struct str *out)
{
	char *path = path_join(folder, name);
	bool there = file_exists(path);
	struct err err = ERR_INIT;

	if (there && file_read(path, 1 << 20, out, &err))
		fail_msg("%s", err.text);
	free(path);
	return there;
}

static const struct condition *golden_condition(
	struct arena *arena, struct suite *suite, const char *text)
{
	struct strv words = STRV_INIT;
	struct condition *conditions;
	const struct condition *found = NULL;
	struct err err = ERR_INIT;
	int64_t cpus = 0;
	double saturation = 0;
	int64_t duration_ns = 0;
	size_t count = 0;

	assert_int_equal(proc_split_words(text, &words, &err), 0);
	assert_in_range(words.count, 3, 4);
	assert_int_equal(num_int(words.items[0], 1, 10000, &cpus, &err), 0);
	assert_int_equal(num_double(words.items[1], &saturation, &err), 0);
	if (words.count == 4) {
		assert_int_equal(num_duration_ns(words.items[3], &duration_ns, &err), 0);
		suite_set_duration(arena, suite, duration_ns);
	}
	if (suite_expand(arena, suite, cpus, &saturation, 1, &conditions, &count, &err))
		fail_msg("%s: %s", text, err.text);
	for (size_t i = 0; i < count; i++)
		if (strcmp(conditions[i].spec->name, words.items[2]) == 0)
			found = &conditions[i];
	if (!found)
		fail_msg("%s has no condition %s", suite->name, words.items[2]);
	strv_release(&words);
	return found;
}

/* The agent's reply, as it would have been. */
static void golden_reply(const struct golden_case *c, const char *result, struct str *reply)
{
	const struct {
		const char *name, *bytes;
		size_t len;
	} parts[] = {{"result", result, strlen(result)}, {"stdout", c->out.text, c->out.len},
		{"stderr", c->err_out.text, c->err_out.len}};

	wire_add_start(reply);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		wire_add_part(reply, parts[i].name, parts[i].len);
		str_add_bytes(reply, parts[i].len ? parts[i].bytes : "", parts[i].len);
		str_add_char(reply, '\n');
	}
	wire_add_end(reply, ARRAY_SIZE(parts));
}

static double golden_seconds(const struct strv *words, size_t at)
{
	double seconds = 0;
	struct err err = ERR_INIT;

	if (at < words->count)
		assert_int_equal(num_double(words->items[at], &seconds, &err), 0);
	return seconds * (double)NS_PER_S;
}

static void golden_end(struct golden_case *c, const char *text)
{
	struct strv words = STRV_INIT;
	struct err err = ERR_INIT;
	struct str reply = STR_INIT;
	const char *how = "exit", *number = "0";
	char *result;
	size_t at = 0;
	bool timed_out;

	assert_int_equal(proc_split_words(text, &words, &err), 0);
	if (words.count)
		how = words.items[at++];
	timed_out = strcmp(how, "timeout") == 0;
	if (words.count && !timed_out)
		number = words.items[at++];
	c->asked_ns = (int64_t)golden_seconds(&words, at + 1);
	result = xasprintf("{\"state\": \"ended\", \"exit_code\": %s, \"signal\": %s, "
			   "\"timed_out\": %s, \"wall_ns\": %.0f}",
		strcmp(how, "exit") ? "-1" : number, strcmp(how, "signal") ? "0" : number,
		timed_out ? "true" : "false", golden_seconds(&words, at));
	golden_reply(c, result, &reply);
	if (outcome_parse(&reply, &c->outcome, &err))
		fail_msg("%s: %s", c->name, err.text);
	free(result);
	strv_release(&words);
}

KB_UNUSED static void golden_load(struct golden_case *c, const char *suite, const char *name)
{
	char *folder = xasprintf("%s/%s/%s", golden_dir, suite, name);
	char *suite_path = xasprintf("suites/%s.yaml", suite);
	struct str condition = STR_INIT, end = STR_INIT;
	struct diag diag = DIAG_INIT;

	*c = (struct golden_case){.name = xasprintf("%s/%s", suite, name)};
	if (suite_read(&c->arena, suite_path, &c->suite, &diag))
		fail_msg("%s", messages(&c->arena, &diag));
	diag_release(&diag);
	assert_true(golden_file(folder, "stdout", &c->out));
	(void)golden_file(folder, "stderr", &c->err_out);
	assert_true(golden_file(folder, "condition", &condition));
	(void)golden_file(folder, "end", &end);
	c->condition = golden_condition(&c->arena, &c->suite, str_text(&condition));
	golden_end(c, str_text(&end));
	str_release(&condition);
	str_release(&end);
	free(suite_path);
	free(folder);
}

KB_UNUSED static void golden_release(struct golden_case *c)
{
	outcome_release(&c->outcome);
	str_release(&c->out);
	str_release(&c->err_out);
	arena_release(&c->arena);
	free(c->name);
}

/* Calls for every case, in order of their names. */
KB_UNUSED static void golden_each(void (*each)(struct golden_case *c, void *arg), void *arg)
{
	struct strv suites = STRV_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(file_list(golden_dir, &suites, &err), 0);
	for (size_t i = 0; i < suites.count; i++) {
		char *folder = path_join(golden_dir, suites.items[i]);
		struct strv names = STRV_INIT;

		assert_int_equal(file_list(folder, &names, &err), 0);
		for (size_t k = 0; k < names.count; k++) {
			struct golden_case c;

			if (strcmp(names.items[k], "README") == 0)
				continue;
			golden_load(&c, suites.items[i], names.items[k]);
			each(&c, arg);
			golden_release(&c);
		}
		strv_release(&names);
		free(folder);
	}
	strv_release(&suites);
}

#endif
