/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/wire.h"

#include "agent/bytes.h"
#include "agent/count.h"
#include "agent/js.h"
#include "agent/probe.h"
#include "agent/switch.h"

static const char schedstats_file[] = "/proc/sys/kernel/sched_schedstats";
static const char *const files[COUNT_FILES] = {"stat", "interrupts", "schedstat"};

bool count_is_wanted(const struct run_spec *spec)
{
	return spec->events.count || spec->functions.count;
}

int count_init(struct count *count, const struct run_spec *spec, const char *root, struct err *err)
{
	*count = (struct count){.spec = spec, .root = root};
	if (pipe2(count->gate, O_CLOEXEC) != 0) {
		*count = (struct count){.spec = NULL};
		return err_errno(err, ERR_INFRA, errno, "cannot make a pipe");
	}
	return 0;
}

int count_attach(struct count *count, const struct place *place, pid_t program, struct err *err)
{
	if (!count->spec->events.count)
		return 0;
	return attach_start(&count->attach, place, count->spec, program, err);
}

static void set_schedstats(const struct count *count, const char *value)
{
	const struct switch_place place = {SWITCH_FILE, schedstats_file};

	/* What it counts stays 0 when this fails, and is then not told. */
	(void)!switch_write(count->root, &place, value, NULL, NULL);
}

static void begin_schedstats(struct count *count)
{
	struct str line = STR_INIT;

	if (probe_line(&line, count->root, "%s", schedstats_file)) {
		count->schedstats = xstrdup(str_text(&line));
		set_schedstats(count, "1");
	}
	str_release(&line);
}

static void look(const struct count *count, struct str texts[COUNT_FILES])
{
	for (size_t i = 0; i < COUNT_FILES; i++)
		(void)probe_text(&texts[i], count->root, "/proc/%s", files[i]); /* or empty */
}

int64_t count_start(struct count *count, int64_t start_wall_ns)
{
	begin_schedstats(count);
	calls_begin(&count->calls, count->root, &count->spec->functions);
	look(count, count->before);
	while (start_wall_ns && start_wall_ns < clock_wall_ns())
		start_wall_ns += NS_PER_S;
	/* A pipe takes so few bytes at once; a program that died meanwhile is seen by the wait. */
	(void)!write(count->gate[1], &start_wall_ns, sizeof(start_wall_ns));
	return start_wall_ns;
}

void count_stop(struct count *count)
{
	look(count, count->after);
	attach_stop(&count->attach, &count->csv, &count->perf_error);
	calls_end(&count->calls, &count->functions);
	if (count->schedstats)
		set_schedstats(count, count->schedstats);
}

static void add_part(struct str *out, size_t *parts, const char *name, const struct str *text)
{
	if (!text->len)
		return;
	wire_add_part(out, name, text->len);
	str_add_bytes(out, text->text, text->len);
	str_add_char(out, '\n');
	(*parts)++;
}

int count_keep(
	const struct count *count, const struct place *place, int64_t *bytes, struct err *err)
{
	char *path = place_path(place, "counters");
	struct str out = STR_INIT;
	size_t parts = 0;
	int ret;

	wire_add_start(&out);
	add_part(&out, &parts, "perf", &count->csv);
	add_part(&out, &parts, "perf-error", &count->perf_error);
	add_part(&out, &parts, "functions", &count->functions);
	for (size_t i = 0; i < COUNT_FILES; i++) {
		char name[WIRE_MAX_NAME + 1];

		(void)snprintf(name, sizeof(name), "%s-before", files[i]);
		add_part(&out, &parts, name, &count->before[i]);
		(void)snprintf(name, sizeof(name), "%s-after", files[i]);
		add_part(&out, &parts, name, &count->after[i]);
	}
	wire_add_end(&out, parts);
	ret = bytes_put_file(path, out.text, out.len, err);
	*bytes = (int64_t)out.len;
	str_release(&out);
	free(path);
	return ret;
}

void count_release(struct count *count)
{
	if (!count->spec)
		return;
	attach_stop(&count->attach, &count->csv, &count->perf_error);
	for (size_t i = 0; i < ARRAY_SIZE(count->gate); i++)
		(void)close(count->gate[i]);
	for (size_t i = 0; i < COUNT_FILES; i++) {
		str_release(&count->before[i]);
		str_release(&count->after[i]);
	}
	str_release(&count->csv);
	str_release(&count->perf_error);
	str_release(&count->functions);
	free(count->schedstats);
	*count = (struct count){.spec = NULL};
}
