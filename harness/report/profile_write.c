/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/str.h"
#include "base/utf8.h"
#include "report/profile.h"
#include "report/report_form.h"
#include "sys/json_put.h"

/* Above this much of the kernel without symbols, a reader has to know. */
static const double unnamed_worth_a_word_pct = 5;

enum { SHARE_COLUMNS = 9, POINTS_COLUMNS = 8, INTERVAL_COLUMNS = 6 };

static enum colour colour_of(const struct profile_line *line)
{
	if (!profile_moved(line))
		return COLOUR_NONE;
	return line->share.points > 0 ? COLOUR_BAD : COLOUR_GOOD;
}

static const char *word_of(const struct profile_line *line)
{
	if (!profile_moved(line))
		return "";
	return line->share.points > 0 ? "gained" : "lost";
}

/* A name, cut to so many columns. */
static void add_name(const struct layout *layout, struct str *out, const char *name, size_t columns)
{
	struct str safe = STR_INIT;

	layout_add_safe(layout, &safe, name);
	str_add_bytes(out, str_text(&safe), layout_columns_bytes(str_text(&safe), columns));
	str_release(&safe);
}

/* Numbers first: names of functions are long. */
static void add_line(const struct layout *layout, struct str *out, const struct profile_line *line)
{
	const struct share_difference *share = &line->share;
	struct str numbers = STR_INIT;
	size_t used;

	str_addf(&numbers, "%*.2f %*.2f %+*.2f ", SHARE_COLUMNS, share->a, SHARE_COLUMNS, share->b,
		POINTS_COLUMNS, share->points);
	if (isnan(share->half))
		str_addf(&numbers, "  %*s", INTERVAL_COLUMNS, "");
	else
		str_addf(&numbers, "%s%-*.2f", layout_plus_minus(layout), INTERVAL_COLUMNS,
			share->half);
	str_addf(&numbers, " %-6s  ", word_of(line));
	used = utf8_columns(str_text(&numbers));
	layout_add_coloured(layout, out, colour_of(line), str_text(&numbers));
	add_name(layout, out, line->name,
		(size_t)layout->columns > used + 8 ? (size_t)layout->columns - used : 8);
	str_add_char(out, '\n');
	str_release(&numbers);
}

static void add_head(const struct profile *profile, const struct layout *layout, struct str *out)
{
	for (size_t arm = 0; arm < 2; arm++) {
		struct str name = STR_INIT;

		add_name(layout, &name, profile->variants[arm]->name, SHARE_COLUMNS);
		str_addf(out, "%*s ", SHARE_COLUMNS, str_text(&name));
		str_release(&name);
	}
	str_addf(out, "%*s\n", POINTS_COLUMNS, "points");
}

static void write_title(const struct profile *profile, const struct layout *layout, struct str *out)
{
	struct str text = STR_INIT;

	str_addf(&text, "kbracket: profile of %s against %s, %s on %s (",
		profile->variants[1]->name, profile->variants[0]->name, profile->condition->name,
		profile->machine->name);
	form_machine(&text, profile->machine);
	str_addf(&text, "), %s, %lld samples a second and CPU", profile->event,
		(long long)profile->hz);
	layout_paragraph(layout, out, 0, 10, str_text(&text));
	str_add_char(out, '\n');
	str_release(&text);
}

static void write_headline(
	const struct profile *profile, const struct layout *layout, struct str *out)
{
	const struct profile_line *most = NULL;
	struct str text = STR_INIT;

	for (size_t i = 0; i < profile->count && !most; i++)
		if (profile->lines[i].share.points > 0 && profile_moved(&profile->lines[i]))
			most = &profile->lines[i];
	if (most)
		str_addf(&text, "%s gained most: from %.2f to %.2f %% of the samples.", most->name,
			most->share.a, most->share.b);
	else
		str_add(&text, isnan(profile->kernel.share.half)
				       ? "Nothing is known of how much a profile varies here."
				       : "No function gained more than the profiles vary.");
	layout_paragraph(layout, out, 0, 2, str_text(&text));
	str_add_char(out, '\n');
	str_release(&text);
}

static void write_lines(const struct profile_line *lines, size_t count, size_t limit,
	const char *title, const struct layout *layout, struct str *out)
{
	layout_add_coloured(layout, out, COLOUR_TITLE, title);
	str_add_char(out, '\n');
	for (size_t i = 0; i < count && i < limit; i++)
		add_line(layout, out, &lines[i]);
	str_add_char(out, '\n');
}

static void write_all_lines(
	const struct profile *profile, size_t limit, const struct layout *layout, struct str *out)
{
	add_head(profile, layout, out);
	write_lines(profile->lines, profile->count, limit, "By the function that ran", layout, out);
	write_lines(profile->reaching, profile->reaching_count, limit,
		"With the functions that it called", layout, out);
	add_line(layout, out, &profile->kernel);
	add_line(layout, out, &profile->idle);
	str_add_char(out, '\n');
}

static void add_unit(const struct profile *profile, struct str *out)
{
	bool interval = !isnan(profile->kernel.share.half);

	if (!interval) {
		str_add(out, "There is one run of a kernel only, so nothing says how much of a "
			     "difference is chance.");
		return;
	}
	str_addf(out,
		"The intervals are of 95 %%, each for its row alone, with %s as the unit; gained "
		"and lost: q at most 5 %% among the functions with half a per cent or more.",
		profile->unit == PROFILE_BOOTS ? "boots" : "runs");
	if (profile->unit == PROFILE_RUNS)
		str_add(out, " A kernel was booted once only: that two boots of one kernel differ "
			     "is not in them.");
	else if (strcmp(profile->machine->kind, "local") == 0)
		str_add(out, " What is called a boot is a group of runs under one kernel here.");
}

static void write_notes(const struct profile *profile, const struct layout *layout, struct str *out)
{
	struct str text = STR_INIT;

	str_addf(&text,
		"Per cent of the samples outside the idle loop; idle: of all samples. %s: %lld "
		"samples in %lld run%s of "
		"%lld boot%s; %s: %lld in %lld of %lld. ",
		profile->variants[0]->name, (long long)profile->samples[0],
		(long long)profile->runs[0], profile->runs[0] == 1 ? "" : "s",
		(long long)profile->boots[0], profile->boots[0] == 1 ? "" : "s",
		profile->variants[1]->name, (long long)profile->samples[1],
		(long long)profile->runs[1], (long long)profile->boots[1]);
	add_unit(profile, &text);
	str_add(&text, " Where one function gains, the shares of the others fall.");
	layout_paragraph(layout, out, 0, 0, str_text(&text));
	str_reset(&text);
	if (profile->unnamed_pct > unnamed_worth_a_word_pct)
		str_addf(&text,
			"%.0f %% of the kernel's samples have no symbol: kernel.kptr_restrict=2 "
			"hides them, or the kernel has no CONFIG_KALLSYMS.",
			profile->unnamed_pct);
	if (strstr(profile->event, "clock"))
		str_addf(&text,
			"%sThe clock cannot look at code that runs with interrupts off: its "
			"samples fall where they are switched on again.",
			text.len ? " " : "");
	if (profile->view.head.state != STATE_DONE)
		str_addf(&text, "%sNot finished: `kbracket resume %lld` goes on.",
			text.len ? " " : "", (long long)profile->view.head.id);
	if (profile->lost)
		str_addf(&text, "%sperf had no room for %lld samples.", text.len ? " " : "",
			(long long)profile->lost);
	if (profile->missing)
		str_addf(&text, "%s%lld run%s gave no profile (%s).", text.len ? " " : "",
			(long long)profile->missing, profile->missing == 1 ? "" : "s",
			profile->why);
	if (text.len)
		layout_paragraph(layout, out, 0, 0, str_text(&text));
	str_release(&text);
}

void profile_write_text(
	const struct profile *profile, size_t limit, const struct layout *layout, struct str *out)
{
	write_title(profile, layout, out);
	write_headline(profile, layout, out);
	write_all_lines(profile, limit, layout, out);
	write_notes(profile, layout, out);
}

static json_t *line_json(const struct profile_line *line)
{
	json_t *out = json_object();

	json_put_text(out, "function", line->name);
	json_put_bool(out, "kernel", line->kernel);
	json_put_num(out, "against_pct", line->share.a);
	json_put_num(out, "variant_pct", line->share.b);
	json_put_num(out, "points", line->share.points);
	json_put_num(out, "half_width", line->share.half);
	json_put_num(out, "p", line->share.p);
	json_put_num(out, "q", line->q);
	return out;
}

static json_t *lines_json(const struct profile_line *lines, size_t count)
{
	json_t *out = json_array();

	for (size_t i = 0; i < count; i++)
		json_push(out, line_json(&lines[i]));
	return out;
}

static json_t *side_json(const struct profile *profile, int arm)
{
	json_t *out = json_object();

	json_put_text(out, "name", profile->variants[arm]->name);
	json_put_int(out, "boots", profile->boots[arm]);
	json_put_int(out, "runs", profile->runs[arm]);
	json_put_int(out, "samples", profile->samples[arm]);
	return out;
}

void profile_write_json(const struct profile *profile, struct str *out)
{
	json_t *root = json_object();

	json_put_int(root, "schema", REPORT_JSON_SCHEMA);
	json_put_int(root, "experiment", profile->view.head.id);
	json_put_text(root, "machine", profile->machine->name);
	json_put_text(root, "condition", profile->condition->name);
	json_put_text(root, "event", profile->event);
	json_put_int(root, "hz", profile->hz);
	json_put_text(root, "unit", profile->unit == PROFILE_BOOTS ? "boots" : "runs");
	json_put(root, "against", side_json(profile, 0));
	json_put(root, "variant", side_json(profile, 1));
	json_put_int(root, "samples_lost", profile->lost);
	json_put_int(root, "runs_without_profile", profile->missing);
	json_put_num(root, "kernel_without_symbol_pct", profile->unnamed_pct);
	json_put(root, "kernel", line_json(&profile->kernel));
	json_put(root, "idle", line_json(&profile->idle));
	json_put(root, "functions", lines_json(profile->lines, profile->count));
	json_put(root, "with_callees", lines_json(profile->reaching, profile->reaching_count));
	json_write(root, true, out);
	str_add_char(out, '\n');
	json_decref(root);
}
