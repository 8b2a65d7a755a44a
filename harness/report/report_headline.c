/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/utf8.h"
#include "report/report_form.h"

/* The cell of the headline set with the largest effect among those with that word. */
struct extreme {
	const struct store_machine *machine; /* NULL: there is only one */
	const struct report_column *column;
	const struct store_variant *variant;
	const struct store_verdict *verdict;
};

/* only: on this machine; NULL: on all. */
static struct extreme find_extreme(const struct report *report, const struct store_machine *only,
	bool any, enum verdict_word word)
{
	bool several = report->view.machine_count > 1 && !only;
	struct extreme found = {NULL, NULL, NULL, NULL};

	for (size_t b = 0; b < report->block_count; b++)
		for (size_t c = 0; c < report->blocks[b].count; c++) {
			const struct report_column *column = &report->blocks[b].columns[c];

			for (size_t v = 0; v < report->view.variant_count; v++) {
				const struct store_verdict *verdict = column->cells[v];

				if (only && report->blocks[b].machine != only)
					continue;
				if (!verdict || !verdict->headline || isnan(verdict->effect) ||
					(!any && verdict->word != word))
					continue;
				if (!found.verdict ||
					fabs(verdict->effect) > fabs(found.verdict->effect))
					found = (struct extreme){
						several ? report->blocks[b].machine : NULL, column,
						&report->view.variants[v], verdict};
			}
		}
	return found;
}

/* A name of at most that many columns; what is left out is shown by dots. */
static void add_short(
	struct str *out, const struct layout *layout, const char *name, size_t columns)
{
	struct str safe = STR_INIT;

	layout_add_safe(layout, &safe, name);
	if (utf8_columns(str_text(&safe)) <= columns) {
		str_add(out, str_text(&safe));
	} else {
		str_add_bytes(
			out, str_text(&safe), layout_columns_bytes(str_text(&safe), columns - 3));
		str_add(out, "...");
	}
	str_release(&safe);
}

/* "proportional in easywave 100%, time +71.5% ±0.9", shorter where the line has not the room. */
static void add_extreme(struct str *out, const struct layout *layout, const struct extreme *extreme)
{
	static const size_t budgets[] = {200, 200, 40, 24, 18, 12, 8, 6};
	size_t before = out->len;

	for (size_t i = 0; i < ARRAY_SIZE(budgets); i++) {
		out->len = before;
		add_short(out, layout, extreme->variant->name, budgets[i]);
		str_add(out, " in ");
		add_short(out, layout, extreme->column->condition->name, budgets[i]);
		if (extreme->machine) {
			str_add(out, " on ");
			add_short(out, layout, extreme->machine->name, budgets[i]);
		}
		if (i == 0) {
			str_add(out, ", ");
			add_short(out, layout, extreme->column->metric->name, budgets[i]);
		}
		str_add_char(out, ' ');
		form_effect(layout, out, extreme->verdict);
		if (utf8_columns(str_text(out)) <= (size_t)layout->columns)
			return;
	}
}

/* One line; on a very narrow terminal more. */
static void line(const struct layout *layout, struct str *out, enum colour colour, struct str *text)
{
	const char *left = str_text(text);

	do {
		size_t used = layout_line_end(left, (size_t)layout->columns);
		char *part = xstrndup(left, used);

		layout_add_coloured(layout, out, colour, part);
		str_add_char(out, '\n');
		free(part);
		left += used;
		left += strspn(left, " ");
	} while (*left);
	str_release(text);
}

static int64_t all_words(const struct report_count *count)
{
	int64_t all = count->missing;

	for (size_t w = 0; w < ARRAY_SIZE(count->words); w++)
		all += count->words[w];
	return all;
}

static void moved_line(const struct report *report, const struct layout *layout, struct str *out,
	enum verdict_word word, const char *most, enum colour colour)
{
	struct extreme extreme = find_extreme(report, NULL, false, word);
	struct str text = STR_INIT;

	if (!report->count.words[word])
		return;
	str_addf(&text, "%s %lld of %lld", form_word(word), (long long)report->count.words[word],
		(long long)all_words(&report->count));
	if (extreme.verdict) {
		str_addf(&text, "%s: ", report->count.words[word] == 1 ? "" : most);
		add_extreme(&text, layout, &extreme);
	}
	line(layout, out, colour, &text);
}

/* "12 equivalent within 1 %, 3 inconclusive, 1 invalid, 2 not measured" */
static void add_rest(const struct report_count *counts, struct str *out)
{
	const struct {
		int64_t count;
		const char *word;
	} rest[] = {{counts->words[VERDICT_EQUIVALENT], "equivalent"},
		{counts->words[VERDICT_INCONCLUSIVE], "inconclusive"},
		{counts->words[VERDICT_INVALID], "invalid"}, {counts->missing, "not measured"}};
	const char *comma = "";

	for (size_t i = 0; i < ARRAY_SIZE(rest); i++) {
		if (!rest[i].count)
			continue;
		str_addf(out, "%s%lld %s", comma, (long long)rest[i].count, rest[i].word);
		comma = ", ";
	}
}

/* Nothing moved: say whether that is known, and the largest effect seen. */
static void unmoved_lines(const struct report *report, const struct layout *layout, struct str *out)
{
	struct extreme extreme = find_extreme(report, NULL, true, VERDICT_EQUIVALENT);
	int64_t all = all_words(&report->count);
	struct str text = STR_INIT;

	if (!all && report->view.head.kind == KIND_CALIBRATION) {
		str_add(&text, "A calibration: boots of one kernel; nothing is compared.");
	} else if (!all) {
		str_add(&text, "No verdict: nothing was compared.");
	} else if (report->count.words[VERDICT_EQUIVALENT] == all) {
		if (all == 1)
			str_add(&text, "No change: the comparison is");
		else
			str_addf(&text, "No change: all %lld comparisons are", (long long)all);
		str_addf(&text, " equivalent within %g %%.", report->view.head.margin_pct);
	} else {
		str_addf(&text, "Not decided, of %lld comparison%s: ", (long long)all,
			all == 1 ? "" : "s");
		add_rest(&report->count, &text);
		str_add_char(&text, '.');
	}
	line(layout, out, COLOUR_TITLE, &text);
	if (!extreme.verdict)
		return;
	str_add(&text, all == 1 ? "Estimate: " : "Largest estimate: ");
	add_extreme(&text, layout, &extreme);
	line(layout, out, COLOUR_NONE, &text);
}

void report_controls(const struct report *report, const struct layout *layout, struct str *out)
{
	bool bad = report->control_different > 0;
	struct str text = STR_INIT;

	if (!report->control_tested && !report->control_untested)
		return;
	str_addf(&text,
		"control (same kernel, two labels): %lld of %lld comparison%s called different",
		(long long)report->control_different, (long long)report->control_tested,
		report->control_tested == 1 ? "" : "s");
	if (report->control_untested)
		str_addf(&text, ", %lld not testable", (long long)report->control_untested);
	if (bad)
		str_addf(&text,
			". At FDR %g %% this machine and plan can't be trusted: see the warnings.",
			report->view.head.alpha_pct);
	line(layout, out, bad ? COLOUR_BAD : COLOUR_NONE, &text);
}

/* Verdicts that were reached on runs of which more than half carry a flag: other programs may have
 * made the difference, or hidden one. */
static void disturbed_line(
	const struct report *report, const struct layout *layout, struct str *out)
{
	int64_t reached = 0, disturbed = 0;
	struct str text = STR_INIT;

	for (size_t i = 0; i < report->verdict_count; i++) {
		const struct store_verdict *verdict = &report->verdicts[i];

		if (!verdict->headline || verdict->word >= VERDICT_INCONCLUSIVE)
			continue;
		reached++;
		disturbed += 2 * verdict->flagged > verdict->runs + verdict->against_runs;
	}
	if (!disturbed)
		return;
	str_add(&text, "Not to be relied on: ");
	if (reached == 1)
		str_add(&text, "the verdict reached stands");
	else
		str_addf(&text, "%lld of the %lld verdicts reached stand%s", (long long)disturbed,
			(long long)reached, disturbed == 1 ? "s" : "");
	str_add(&text, " on runs that were mostly flagged; see Runs.");
	line(layout, out, COLOUR_BAD, &text);
}

static void moved_lines(const struct report *report, const struct layout *layout, struct str *out)
{
	struct str text = STR_INIT;

	moved_line(report, layout, out, VERDICT_REGRESSED, "; worst", COLOUR_BAD);
	moved_line(report, layout, out, VERDICT_IMPROVED, "; best", COLOUR_GOOD);
	str_add(&text, "The rest: ");
	add_rest(&report->count, &text);
	str_add_char(&text, '.');
	if (text.len > strlen("The rest: ."))
		line(layout, out, COLOUR_NONE, &text);
	str_release(&text);
}

void report_headline(const struct report *report, const struct layout *layout, struct str *out)
{
	if (report->count.words[VERDICT_REGRESSED] || report->count.words[VERDICT_IMPROVED])
		moved_lines(report, layout, out);
	else
		unmoved_lines(report, layout, out);
	disturbed_line(report, layout, out);
}

/* "REGRESSED 2 (worst: B in io 50%, time +4% ±1)" */
static void add_moved(const struct report *report, const struct layout *layout, size_t m,
	enum verdict_word word, const char *most, struct str *text)
{
	int64_t count = report->machines[m].words[word];
	struct extreme extreme = find_extreme(report, &report->view.machines[m], false, word);

	if (!count)
		return;
	str_addf(text, "%s %lld", form_word(word), (long long)count);
	if (extreme.verdict) {
		str_addf(text, " (%s%s in %s, %s ", count == 1 ? "" : most, extreme.variant->name,
			extreme.column->condition->name, extreme.column->metric->name);
		form_effect(layout, text, extreme.verdict);
		str_add_char(text, ')');
	}
	str_add(text, ", ");
}

static void write_machine(
	const struct report *report, const struct layout *layout, size_t m, struct str *out)
{
	const struct report_count *count = &report->machines[m];
	int64_t all = all_words(count);
	struct str text = STR_INIT;

	str_addf(&text, "%s: ", report->view.machines[m].name);
	if (all && count->words[VERDICT_EQUIVALENT] == all) {
		str_addf(&text, "no change, all %lld equivalent within %g %%", (long long)all,
			report->view.head.margin_pct);
	} else if (all) {
		str_addf(&text, "of %lld comparison%s ", (long long)all, all == 1 ? "" : "s");
		add_moved(report, layout, m, VERDICT_REGRESSED, "worst: ", &text);
		add_moved(report, layout, m, VERDICT_IMPROVED, "best: ", &text);
		add_rest(count, &text);
	} else {
		str_add(&text, "nothing was compared");
	}
	if (str_ends(str_text(&text), ", "))
		text.text[text.len -= 2] = '\0';
	if (report->parked[m])
		str_addf(&text, "; parked: %s", report->parked[m]);
	layout_paragraph(layout, out, 2, 4, str_text(&text));
	str_release(&text);
}

void report_machines(const struct report *report, const struct layout *layout, struct str *out)
{
	if (report->view.machine_count < 2)
		return;
	str_add_char(out, '\n');
	layout_add_coloured(layout, out, COLOUR_TITLE, "Machines");
	str_add_char(out, '\n');
	for (size_t m = 0; m < report->view.machine_count; m++)
		write_machine(report, layout, m, out);
}
