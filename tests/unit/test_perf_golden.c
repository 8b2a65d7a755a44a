/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What perf stat of two versions really printed, in every form that it has, each case in
 * tests/golden/perf_stat/VERSION/CASE: stdout and stderr, how it ended where that was not exit 0,
 * and the events that were asked for. What must be read of it stands in its file expect: first as a
 * suite's metrics, which: only and, where that does not do, which: all; then as what the agent
 * counted, which is always called in one form. tests/golden/schedstat/MACHINE is the console of a
 * guest that printed /proc/schedstat between lines "@@...": expect has what is read of each.
 * KB_UPDATE_GOLDEN=1 writes expect anew; look at every line of the change then.
 */
#include "base/base.h"

#include <math.h>

#include "mutating.h"

#include "backend/counters.h"
#include "backend/kernel_counts.h"

static const char perf_dir[] = "tests/golden/perf_stat";
static const char schedstat_dir[] = "tests/golden/schedstat";

struct tally {
	size_t cases, wrong;
};

static void hold_against_expect(const char *folder, const struct str *seen, struct tally *tally)
{
	char *path = path_join(folder, "expect");
	struct str expected = STR_INIT;
	struct err err = ERR_INIT;

	if (getenv("KB_UPDATE_GOLDEN"))
		assert_int_equal(file_write_atomic(path, seen->text, seen->len, 0644, &err), 0);
	if (file_read(path, 1 << 20, &expected, &err))
		fail_msg("%s", err.text);
	tally->cases++;
	if (strcmp(str_text(seen), str_text(&expected)) != 0) {
		tally->wrong++;
		fprintf(stderr, "# %s gave:\n%s", folder, str_text(seen));
	}
	str_release(&expected);
	free(path);
}

static struct metric_spec metric_of(const char *event, enum metric_which which)
{
	return (struct metric_spec){.name = event,
		.reader = READER_PERF,
		.pattern = event,
		.unit = strstr(event, "-clock") ? "ms" : "times",
		.scale = 1,
		.which = which,
		.from = STREAM_BOTH,
		.zero_ok = true};
}

/* One event as the only metric of a suite. */
static int read_event(
	const struct golden_case *c, const char *event, enum metric_which which, struct str *seen)
{
	struct metric_spec metric = metric_of(event, which);
	const struct suite suite = {.metrics = &metric, .metric_count = 1};
	const struct condition condition = {.suite = &suite, .cpus = 2};
	const struct program_output output = {
		c->out.text, c->out.len, c->err_out.text, c->err_out.len};
	struct reading reading = READING_INIT;
	struct err err = ERR_INIT;
	int ret = reader_read(&condition, &output, &reading, &err);

	if (!ret || which == WHICH_ONLY)
		str_add(seen, which == WHICH_ONLY ? "" : "  all:");
	if (ret && which == WHICH_ONLY)
		str_addf(seen, "%s\n", err.text);
	for (size_t i = 0; i < reading.count; i++) {
		if (which == WHICH_ONLY)
			str_addf(seen, "%s:", event);
		str_add_char(seen, ' ');
		num_add_double(seen, reading.values[i].value);
		str_addf(seen, " %s%s", metric.unit, i + 1 < reading.count ? "," : "\n");
	}
	reading_release(&reading);
	return ret;
}

/* As if the agent had got it from perf. */
static void read_counters(const struct golden_case *c, struct str *seen)
{
	const struct suite suite = {.name = "perf"};
	const struct condition_spec spec = {.name = "c"};
	const struct condition condition = {.suite = &suite, .spec = &spec, .operations = ""};
	const struct reading reading = READING_INIT;
	const struct str *text = c->err_out.len ? &c->err_out : &c->out;
	struct counter_source source = {.condition = &condition, .reading = &reading};
	struct arena arena = ARENA_INIT;
	struct counter *counters = NULL;
	struct str file = STR_INIT;
	struct err err = ERR_INIT;
	size_t count = 0;

	wire_add_start(&file);
	wire_add_part(&file, "perf", text->len);
	str_add_bytes(&file, str_text(text), text->len);
	str_add_char(&file, '\n');
	wire_add_end(&file, 1);
	source.bytes = file.text;
	source.len = file.len;
	str_add(seen, "counted:");
	if (counters_read(&arena, &source, &counters, &count, &err))
		str_addf(seen, " %s", err.text);
	for (size_t i = 1; i < count; i++) {
		str_addf(seen, "\n  %s:", counters[i].name);
		if (*counters[i].reason) {
			str_addf(seen, " %s", counters[i].reason);
			continue;
		}
		str_add_char(seen, ' ');
		num_add_double(seen, counters[i].value);
		str_addf(seen, " %s %g%%", counters[i].unit, counters[i].counted_pct);
	}
	str_add_char(seen, '\n');
	str_release(&file);
	arena_release(&arena);
}

static void load_perf_case(struct golden_case *c, const char *folder, struct strv *events)
{
	struct str end = STR_INIT, text = STR_INIT;
	struct err err = ERR_INIT;

	*c = (struct golden_case){.name = xstrdup(folder)};
	assert_true(golden_file(folder, "events", &text));
	assert_int_equal(proc_split_words(str_text(&text), events, &err), 0);
	(void)golden_file(folder, "stdout", &c->out);
	(void)golden_file(folder, "stderr", &c->err_out);
	(void)golden_file(folder, "end", &end);
	golden_end(c, str_text(&end));
	str_release(&end);
	str_release(&text);
}

static void check_perf_case(const char *folder, struct tally *tally)
{
	struct golden_case c;
	struct str seen = STR_INIT;
	struct strv names = STRV_INIT;

	load_perf_case(&c, folder, &names);
	if (c.outcome.reason)
		str_addf(&seen, "%s: %s\n", c.outcome.reason, c.outcome.detail);
	for (size_t i = 0; i < names.count; i++)
		if (read_event(&c, names.items[i], WHICH_ONLY, &seen))
			(void)read_event(&c, names.items[i], WHICH_ALL, &seen);
	read_counters(&c, &seen);
	hold_against_expect(folder, &seen, tally);
	strv_release(&names);
	str_release(&seen);
	golden_release(&c);
}

/* The case's events one by one, in output that is damaged each time. */
static void damage_perf_case(const char *folder, struct tally *tally)
{
	struct golden_case c;
	struct strv names = STRV_INIT;

	load_perf_case(&c, folder, &names);
	for (size_t i = 0; i < names.count; i++) {
		struct metric_spec metric = metric_of(names.items[i], WHICH_ALL);
		struct condition condition = {.suite = &c.suite, .cpus = 2};
		struct mutating m = {.each = 20};

		c.suite.metrics = &metric;
		c.suite.metric_count = 1;
		c.condition = &condition;
		mutate_case(&c, &m);
		tally->cases += m.done;
		tally->wrong += m.wrong;
	}
	strv_release(&names);
	golden_release(&c);
}

/* Every folder in it, in order of their names. */
static void each_case(const char *dir, void (*check)(const char *folder, struct tally *tally),
	struct tally *tally)
{
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;

	if (file_list(dir, &names, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < names.count; i++) {
		char *folder = path_join(dir, names.items[i]);

		if (strcmp(names.items[i], "README") != 0)
			check(folder, tally);
		free(folder);
	}
	strv_release(&names);
}

static void check_version(const char *folder, struct tally *tally)
{
	each_case(folder, check_perf_case, tally);
}

static void every_form_of_perf_stat_reads_as_it_must(void **state KB_UNUSED)
{
	struct tally tally = {0, 0};

	each_case(perf_dir, check_version, &tally);
	assert_int_equal(tally.wrong, 0);
	assert_int_equal(tally.cases, 51);
}

static void damage_version(const char *folder, struct tally *tally)
{
	each_case(folder, damage_perf_case, tally);
}

static void damaged_output_gives_no_other_value(void **state KB_UNUSED)
{
	struct tally tally = {0, 0};

	mutating_state = 3;
	each_case(perf_dir, damage_version, &tally);
	assert_int_equal(tally.wrong, 0);
	assert_true(tally.cases >= 10000);
}

/* The lines up to the next that begins with "@@", whose first is not one of them. */
static struct stream take_section(struct stream *rest, struct stream *name)
{
	struct stream line, section;

	*name = (struct stream){"", 0};
	section = (struct stream){rest->bytes, 0};
	while (rest->len >= 2 && memcmp(rest->bytes, "@@", 2) == 0 && kernel_next_line(rest, name))
		section.bytes = rest->bytes;
	while (rest->len && !(rest->len >= 2 && memcmp(rest->bytes, "@@", 2) == 0))
		(void)kernel_next_line(rest, &line);
	section.len = (size_t)(rest->bytes - section.bytes);
	return section;
}

/* The file begins with its version; what stands before it is how the switch stood. */
static struct stream from_version(struct stream section)
{
	const char *version = memmem(section.bytes, section.len, "version ", 8);

	return version ? (struct stream){version, section.len - (size_t)(version - section.bytes)}
		       : section;
}

static void check_schedstat(const char *folder, struct tally *tally)
{
	struct str text = STR_INIT, seen = STR_INIT;
	struct stream rest, name;

	assert_true(golden_file(folder, "console", &text));
	rest = (struct stream){text.text, text.len};
	while (rest.len) {
		struct stream section = take_section(&rest, &name);
		struct newidle_counts counts = kernel_newidle(from_version(section));

		if (isnan(counts.calls))
			str_addf(&seen, "%.*s: none\n", (int)name.len, name.bytes);
		else
			str_addf(&seen, "%.*s: %g new-idle, %g pulled\n", (int)name.len, name.bytes,
				counts.calls, counts.pulled);
	}
	hold_against_expect(folder, &seen, tally);
	str_release(&text);
	str_release(&seen);
}

static void schedstat_of_real_kernels_is_read(void **state KB_UNUSED)
{
	struct tally tally = {0, 0};

	each_case(schedstat_dir, check_schedstat, &tally);
	assert_int_equal(tally.wrong, 0);
	assert_int_equal(tally.cases, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_perf_stat_reads_as_it_must),
		cmocka_unit_test(damaged_output_gives_no_other_value),
		cmocka_unit_test(schedstat_of_real_kernels_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
