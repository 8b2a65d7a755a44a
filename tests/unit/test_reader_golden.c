/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be stored of each golden case stands in its file expect: the reason why it gives no
 * numbers, or "METRIC ORDINAL VALUE UNIT" a line, with "of COUNT" where that many observations are
 * behind it, and "flag: short: ..." when it did not run as long as asked.
 * KB_UPDATE_GOLDEN=1 writes expect anew; look at every line of the change then.
 */
#include "golden_case.h"
#include "run/watch.h"

struct tally {
	size_t cases, wrong;
};

static void write_reading(const struct suite *suite, const struct reading *reading, struct str *out)
{
	for (size_t i = 0; i < reading->count; i++) {
		const struct reading_value *value = &reading->values[i];

		str_addf(out, "%s %d ", suite->metrics[value->metric].name, value->ordinal);
		num_add_double(out, value->value);
		str_addf(out, " %s", suite->metrics[value->metric].unit);
		if (value->observations)
			str_addf(out, " of %lld", (long long)value->observations);
		str_add_char(out, '\n');
	}
}

/* Nobody looked at the machine: only the length counts. */
static void write_flags(struct golden_case *c, struct str *out)
{
	struct watch_boot boot = WATCH_BOOT_INIT;
	struct watch_run run = {.duration_ns = c->asked_ns,
		.tolerance_pct = c->suite.tolerance_pct,
		.overrun_pct = c->suite.overrun_pct,
		.cpus = c->condition->cpus};
	struct store_flag *flags;
	size_t count;

	watch_flags(c->outcome.result, &run, &boot, &c->arena, &flags, &count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(flags[i].reason, "no-environment") != 0)
			str_addf(out, "flag: %s: %s\n", flags[i].reason, flags[i].detail);
}

/* As run/collect.c does it. */
static void read_case(struct golden_case *c, struct str *seen)
{
	struct program_output output;
	struct reading reading = READING_INIT;
	struct err err = ERR_INIT;

	output.out = outcome_part(&c->outcome, "stdout", &output.out_len);
	output.err_out = outcome_part(&c->outcome, "stderr", &output.err_len);
	if (c->outcome.reason)
		str_addf(seen, "%s: %s\n", c->outcome.reason, c->outcome.detail);
	else if (reader_read(c->condition, &output, &reading, &err))
		str_addf(seen, "%s: %s\n", err_code_name(err.code), err.text);
	else
		write_reading(&c->suite, &reading, seen);
	write_flags(c, seen);
	reading_release(&reading);
}

static void check_case(struct golden_case *c, void *arg)
{
	char *path = xasprintf("%s/%s/expect", golden_dir, c->name);
	struct str seen = STR_INIT, expected = STR_INIT;
	struct tally *tally = arg;
	struct err err = ERR_INIT;

	read_case(c, &seen);
	if (getenv("KB_UPDATE_GOLDEN"))
		assert_int_equal(file_write_atomic(path, seen.text, seen.len, 0644, &err), 0);
	if (file_read(path, 1 << 20, &expected, &err))
		fail_msg("%s", err.text);
	tally->cases++;
	if (strcmp(str_text(&seen), str_text(&expected)) != 0) {
		tally->wrong++;
		fprintf(stderr, "# %s gave:\n%s", c->name, str_text(&seen));
	}
	str_release(&seen);
	str_release(&expected);
	free(path);
}

static void every_case_reads_as_it_must(void **state KB_UNUSED)
{
	struct tally tally = {0, 0};

	golden_each(check_case, &tally);
	assert_int_equal(tally.wrong, 0);
	assert_true(tally.cases >= 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_case_reads_as_it_must)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
