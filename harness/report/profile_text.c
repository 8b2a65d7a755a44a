/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "report/profile_text.h"

/* Where a CPU is that has nothing to do, and how it came there. A clock samples there too; hardware
 * events mostly don't. */
static const char *const idle_functions[] = {"acpi_idle_do_entry", "acpi_idle_enter",
	"acpi_safe_halt", "arch_call_rest_init", "arch_cpu_idle", "call_cpuidle",
	"common_startup_64", "cpu_do_idle", "cpu_idle_poll", "cpu_startup_entry", "cpuidle_enter",
	"cpuidle_enter_state", "cpuidle_idle_call", "dedicated_cede_loop", "default_idle",
	"default_idle_call", "do_idle", "intel_idle", "intel_idle_ibrs", "intel_idle_irq",
	"intel_idle_xstate", "mwait_idle", "native_safe_halt", "poll_idle", "pv_native_safe_halt",
	"rest_init", "secondary_startup_64", "secondary_startup_64_no_verify", "shared_cede_loop",
	"snooze_loop", "start_kernel", "start_secondary", "stop_loop", "x86_64_start_kernel",
	"x86_64_start_reservations"};

enum { HASH_DIGITS = 16 };

/* A part of the text. */
struct piece {
	const char *at;
	size_t len;
};

struct reading {
	struct arena *arena;
	struct profile_symbol *items;
	size_t count, capacity;
	const char *event;
	int64_t lost;
	int line;
	struct err *err;
};

static int fail(const struct reading *reading, const char *what)
{
	return err_set(
		reading->err, ERR_INVALID, "line %d of perf report: %s", reading->line, what);
}

static struct piece trim(const char *at, size_t len)
{
	while (len && *at == ' ') {
		at++;
		len--;
	}
	while (len && at[len - 1] == ' ')
		len--;
	return (struct piece){at, len};
}

static bool starts(struct piece piece, const char *start)
{
	return piece.len >= strlen(start) && !memcmp(piece.at, start, strlen(start));
}

/* Up to the next "|"; what is behind it stays in *rest. False when there is none. */
static bool next_field(struct piece *rest, struct piece *out)
{
	const char *bar = memchr(rest->at, '|', rest->len);

	if (!bar)
		return false;
	*out = trim(rest->at, (size_t)(bar - rest->at));
	rest->len -= (size_t)(bar + 1 - rest->at);
	rest->at = bar + 1;
	return true;
}

static int read_count(struct reading *reading, struct piece text, int64_t *out)
{
	char digits[24];

	if (!text.len || text.len >= sizeof(digits))
		return fail(reading, "a number of samples is none");
	(void)snprintf(digits, sizeof(digits), "%.*s", (int)text.len, text.at);
	return num_int(digits, 0, INT32_MAX, out, NULL)
		       ? fail(reading, "a number of samples is none")
		       : 0;
}

/* "# Total Lost Samples: 0", "# Samples: 12K of event 'cpu-clock:pppH'" */
static int read_comment(struct reading *reading, struct piece line)
{
	static const char lost[] = "# Total Lost Samples: ";
	static const char mark[] = " of event '";
	const char *event, *end;

	if (starts(line, lost))
		return read_count(reading, trim(line.at + strlen(lost), line.len - strlen(lost)),
			&reading->lost);
	if (!starts(line, "# Samples: "))
		return 0;
	event = memmem(line.at, line.len, mark, strlen(mark));
	if (!event)
		return fail(reading, "it names no event");
	if (reading->event)
		return fail(reading, "a second event");
	event += strlen(mark);
	end = memchr(event, '\'', line.len - (size_t)(event - line.at));
	if (!end || end == event || end - event > PROFILE_MAX_NAME)
		return fail(reading, "it names no event");
	reading->event = arena_printf(reading->arena, "%.*s", (int)(end - event), event);
	return 0;
}

/* Processes make code at run time, and programs that kbracket brought begin with a part of their
 * SHA-256: such numbers say nothing. */
static struct piece without_numbers(struct piece dso)
{
	static const char digits[] = "0123456789abcdef";
	size_t i = 0;

	if (starts(dso, "[JIT]"))
		return (struct piece){"[JIT]", 5};
	while (i < dso.len && i < HASH_DIGITS && memchr(digits, dso.at[i], strlen(digits)))
		i++;
	if (i < HASH_DIGITS || dso.len < i + 2 || dso.at[i] != '-')
		return dso;
	return (struct piece){dso.at + i + 1, dso.len - i - 1};
}

static int clipped(struct piece piece)
{
	return (int)(piece.len < PROFILE_MAX_NAME ? piece.len : PROFILE_MAX_NAME);
}

static const char *name_of(struct arena *arena, const struct profile_symbol *symbol,
	struct piece dso, struct piece function)
{
	bool main_kernel = starts(dso, "[kernel") || starts(dso, "[guest.kernel");

	if (!symbol->named)
		return arena_printf(arena, "%.*s: no symbol", clipped(dso), dso.at);
	if (!symbol->kernel)
		return arena_printf(
			arena, "%.*s: %.*s", clipped(dso), dso.at, clipped(function), function.at);
	if (main_kernel)
		return arena_printf(arena, "%.*s", clipped(function), function.at);
	return arena_printf(
		arena, "%.*s %.*s", clipped(function), function.at, clipped(dso), dso.at);
}

static bool is_idle(const struct profile_symbol *symbol)
{
	for (size_t i = 0; symbol->kernel && i < ARRAY_SIZE(idle_functions); i++) {
		size_t len = strlen(idle_functions[i]);

		/* a compiler's copy has a suffix: intel_idle.constprop.0 */
		if (!strncmp(symbol->name, idle_functions[i], len) &&
			(!symbol->name[len] || symbol->name[len] == '.' ||
				symbol->name[len] == ' '))
			return true;
	}
	return false;
}

/* "12.34%" */
static int read_percentage(struct reading *reading, struct piece text, double *out)
{
	char digits[24];

	if (text.len < 2 || text.len >= sizeof(digits) || text.at[text.len - 1] != '%')
		return fail(reading, "its percentage is none");
	(void)snprintf(digits, sizeof(digits), "%.*s", (int)text.len - 1, text.at);
	if (num_double(digits, out, NULL) || !(*out >= 0 && *out <= 100))
		return fail(reading, "its percentage is none");
	return 0;
}

/* Addresses are printed with and without 0x. */
static bool is_address(struct piece function)
{
	static const char digits[] = "0123456789abcdef";

	if (starts(function, "0x"))
		return true;
	for (size_t i = 0; i < function.len; i++)
		if (!memchr(digits, function.at[i], strlen(digits)))
			return false;
	return function.len >= HASH_DIGITS;
}

/* "12.34%|12|[kernel.kallsyms]|[k] try_to_wake_up" */
static int read_symbol(struct reading *reading, struct piece line)
{
	struct piece reached, samples, dso, function = line;
	struct profile_symbol symbol = {.name = ""};

	if (!next_field(&function, &reached) || !next_field(&function, &samples) ||
		!next_field(&function, &dso))
		return fail(reading, "it has no four fields");
	function = trim(function.at, function.len);
	if (!dso.len || function.len < 5 || function.at[0] != '[' || function.at[2] != ']' ||
		function.at[3] != ' ')
		return fail(reading, "it is no line about a function");
	if (read_percentage(reading, reached, &symbol.reached_pct) ||
		read_count(reading, samples, &symbol.samples))
		return ERR_INVALID;
	symbol.kernel = function.at[1] == 'k';
	function = trim(function.at + 4, function.len - 4);
	symbol.named = !is_address(function);
	if (!symbol.named) /* several of them may be in one chain of calls */
		symbol.reached_pct = (double)NAN;
	symbol.name = name_of(reading->arena, &symbol, without_numbers(dso), function);
	symbol.idle = is_idle(&symbol);
	if (reading->count == PROFILE_MAX_SYMBOLS)
		return fail(reading, "more functions than any program has");
	GROW(reading->items, reading->count, reading->capacity);
	reading->items[reading->count++] = symbol;
	return 0;
}

static int read_line(struct reading *reading, struct piece line)
{
	if (line.len && line.at[line.len - 1] == '\r')
		line.len--;
	line = trim(line.at, line.len);
	if (!line.len)
		return 0;
	if (memchr(line.at, '\0', line.len))
		return fail(reading, "it holds a NUL byte");
	return *line.at == '#' ? read_comment(reading, line) : read_symbol(reading, line);
}

static int by_name(const void *a, const void *b)
{
	const struct profile_symbol *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* One entry for each name. */
static size_t merge(struct profile_symbol *items, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(items, count, sizeof(*items), by_name);
	for (size_t i = 0; i < count; i++) {
		if (kept && !strcmp(items[kept - 1].name, items[i].name)) {
			items[kept - 1].samples += items[i].samples;
			items[kept - 1].reached_pct += items[i].reached_pct;
		} else {
			items[kept++] = items[i];
		}
	}
	return kept;
}

int profile_text_read(struct arena *arena, const char *bytes, size_t len, struct profile_text *out,
	struct err *err)
{
	struct reading reading = {.arena = arena, .err = err};
	const char *end = bytes + len;
	int ret = 0;

	while (bytes < end && !ret) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		const char *stop = newline ? newline : end;

		reading.line++;
		ret = read_line(&reading, (struct piece){bytes, (size_t)(stop - bytes)});
		bytes = newline ? newline + 1 : end;
	}
	if (!ret && reading.count && !reading.event)
		ret = err_set(err, ERR_INVALID, "perf report names no event");
	if (!ret) {
		reading.count = merge(reading.items, reading.count);
		*out = (struct profile_text){reading.event ? reading.event : "", reading.lost,
			arena_copy(arena, reading.items, reading.count, sizeof(*reading.items)),
			reading.count};
	}
	free(reading.items);
	return ret;
}
