/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "model/store_view.h"
#include "report/bisect.h"
#include "report/report_form.h"

static bool is_suspect(const struct bisect_finding *finding, int position)
{
	for (size_t i = 0; i < finding->suspect_count; i++)
		if (finding->suspects[i] == position)
			return true;
	return false;
}

/* The verdict on the second variant of a proof in the condition and metric of the bisect. */
static int find_verdict(struct store *store, const struct bisect_record *record,
	struct arena *arena, struct bisect_proof *proof, struct err *err)
{
	struct store_verdict *verdicts;
	struct store_view view;
	size_t count;
	int ret = store_load(store, proof->experiment_id, arena, &view, err);

	if (!ret)
		ret = store_verdicts_load(
			store, proof->experiment_id, arena, &verdicts, &count, err);
	for (size_t i = 0; !ret && i < count && view.machine_count; i++)
		for (size_t c = 0; c < view.machines[0].condition_count; c++) {
			const struct store_condition *condition = &view.machines[0].conditions[c];

			for (size_t m = 0; m < condition->metric_count; m++)
				if (condition->metrics[m].id == verdicts[i].metric_id &&
					!strcmp(condition->metrics[m].name, record->metric) &&
					!strcmp(condition->name, record->condition)) {
					proof->verdict = verdicts[i];
					proof->judged = true;
				}
		}
	return ret == ERR_NOT_FOUND ? 0 : ret; /* it was pruned */
}

int bisect_report_load(struct store *store, const struct bisect_record *record,
	const struct bisect_finding *finding, struct arena *arena, struct bisect_report *out,
	struct err *err)
{
	int ret = 0;

	*out = (struct bisect_report){.record = record, .finding = finding};
	out->proofs = arena_alloc(arena, (record->event_count + 1) * sizeof(*out->proofs));
	for (size_t i = 0; i < record->event_count && store && !ret; i++) {
		const struct bisect_event *event = &record->events[i];

		if (event->kind != EVENT_PROOF || event->undone ||
			!is_suspect(finding, event->position))
			continue;
		out->proofs[out->proof_count] = (struct bisect_proof){.position = event->position,
			.experiment_id = event->experiment_id,
			.what = event->text};
		ret = find_verdict(store, record, arena, &out->proofs[out->proof_count++], err);
	}
	return ret;
}

enum bisect_proved bisect_report_proved(const struct bisect_report *report)
{
	enum bisect_proved proved = PROVED_NOT_TRIED;

	for (size_t i = 0; i < report->proof_count; i++) {
		const struct bisect_proof *proof = &report->proofs[i];
		bool is_revert = !strcmp(proof->what, "revert");

		if (!proof->judged || proof->verdict.word == VERDICT_INCONCLUSIVE ||
			proof->verdict.word == VERDICT_INVALID)
			proved = proved == PROVED_NO ? PROVED_NO : PROVED_OPEN;
		else if (proof->verdict.word != (is_revert ? VERDICT_IMPROVED : VERDICT_REGRESSED))
			return PROVED_NO;
		else if (proved == PROVED_NOT_TRIED)
			proved = PROVED_YES;
	}
	return proved;
}

static void add_step_name(const struct bisect_record *record, int position, struct str *out)
{
	const struct bisect_step *step = &record->steps[position];

	str_addf(out, "%.12s (\"%s\")", step->name, step->subject);
}

static void say_culprit(const struct bisect_report *report, struct str *out)
{
	const struct bisect_finding *finding = report->finding;

	str_add(out, "The change is ");
	add_step_name(report->record, finding->suspects[0], out);
	str_addf(out, ", with a probability of %.1f %%.", 100 * finding->probability);
}

static void say_range(const struct bisect_report *report, struct str *out)
{
	const struct bisect_finding *finding = report->finding;

	str_addf(out,
		"The change is one of %zu that cannot be told apart, with a probability of "
		"%.1f %%: ",
		finding->suspect_count, 100 * finding->probability);
	for (size_t i = 0; i < finding->suspect_count; i++) {
		str_add(out, i ? ", " : "");
		add_step_name(report->record, finding->suspects[i], out);
		if (i == 9 && finding->suspect_count > 11) {
			str_addf(out, ", and %zu more", finding->suspect_count - 10);
			break;
		}
	}
	str_add(out, ".");
}

static void say_several(const struct bisect_report *report, struct str *out)
{
	const struct bisect_finding *finding = report->finding;

	str_add(out, "There is more than one change: ");
	for (size_t i = 0; i < finding->suspect_count; i++) {
		str_add(out, i ? ", " : "");
		add_step_name(report->record, finding->suspects[i], out);
	}
	str_add(out, ".");
}

static void say_none(const struct bisect_report *report, struct str *out)
{
	if (report->finding->improved >= 0.95) {
		str_addf(out,
			"Nothing became worse: the bad end is better than the good one, with a "
			"probability of %.1f %%. Were the ends exchanged, or is %s better where "
			"the "
			"suite says the opposite?",
			100 * report->finding->improved,
			report->record->lower_is_better ? "higher" : "lower");
		return;
	}
	str_addf(out,
		"There is no change here: good and bad do not differ, with a probability of "
		"%.1f %%.",
		100 * report->finding->none);
}

/* What a larger budget would do. */
static void add_left(const struct bisect_report *report, struct str *out)
{
	const struct bisect_finding *finding = report->finding;

	if (!finding->boots_left) {
		str_add(out, finding->word == FOUND_UNDECIDED
				     ? " How many more boots would decide it cannot be told."
				     : "");
		return;
	}
	str_addf(out, " By what is seen so far, about %lld more boots",
		(long long)finding->boots_left);
	if (report->record->experiment_id) {
		str_add(out, " (");
		num_add_duration(out, (int64_t)(finding->seconds_left * 1e9));
		str_add(out, ")");
	}
	str_add(out, finding->word == FOUND_UNDECIDED ? " would decide it" : " decide it");
	if (finding->word == FOUND_UNDECIDED && report->record->experiment_id)
		str_addf(out,
			": `kbracket bisect more %lld --of %lld`, then `kbracket resume %lld`",
			(long long)finding->boots_left, (long long)report->record->experiment_id,
			(long long)report->record->experiment_id);
	str_add(out, ".");
}

static void say_undecided(const struct bisect_report *report, struct str *out)
{
	const struct bisect_finding *finding = report->finding;

	if (finding->lost_end >= 0) {
		str_add(out, "Nothing can be decided: an end cannot be tested, ");
		add_step_name(report->record, finding->lost_end, out);
		str_addf(out, " (%.300s).", bisect_skipped(report->record, finding->lost_end));
		return;
	}
	str_addf(out,
		"Not decided after %lld boots: the change is in %zu steps with a probability of "
		"%.1f %%, there is none with %.1f %%.",
		(long long)finding->boots, finding->suspect_count, 100 * finding->probability,
		100 * finding->none);
	add_left(report, out);
}

static void say_searching(const struct bisect_report *report, struct str *out)
{
	const struct bisect_finding *finding = report->finding;

	str_addf(out, "Not ended: %lld boots so far; next comes ", (long long)finding->boots);
	add_step_name(report->record, finding->next, out);
	str_addf(out, "%s%s.", finding->why[0] ? ": " : "", finding->why);
	add_left(report, out);
}

void bisect_report_conclusion(const struct bisect_report *report, struct str *out)
{
	static void (*const says[])(const struct bisect_report *report, struct str *out) = {
		[FOUND_SEARCHING] = say_searching,
		[FOUND_CULPRIT] = say_culprit,
		[FOUND_RANGE] = say_range,
		[FOUND_SEVERAL] = say_several,
		[FOUND_NONE] = say_none,
		[FOUND_UNDECIDED] = say_undecided,
	};

	says[report->finding->word](report, out);
}

void bisect_report_proof(
	const struct bisect_report *report, const struct bisect_proof *proof, struct str *out)
{
	const struct layout plain = {80, false, false};
	bool is_revert = !strcmp(proof->what, "revert");
	enum verdict_word wanted = is_revert ? VERDICT_IMPROVED : VERDICT_REGRESSED;
	const struct store_verdict *verdict = &proof->verdict;

	str_addf(out,
		is_revert ? "The bad end with %.12s reverted, against the bad end: "
			  : "%.12s against its parent: ",
		report->record->steps[proof->position].name);
	if (!proof->judged) {
		str_addf(out, "not measured to its end (experiment %lld).",
			(long long)proof->experiment_id);
		return;
	}
	form_effect(&plain, out, verdict);
	form_interval(out, verdict);
	str_addf(out, ", %s, %lld and %lld boots (experiment %lld). ", form_word(verdict->word),
		(long long)verdict->boots, (long long)verdict->against_boots,
		(long long)proof->experiment_id);
	if (verdict->word == wanted)
		str_add(out, "This bears it out.");
	else if (verdict->word == VERDICT_INCONCLUSIVE || verdict->word == VERDICT_INVALID)
		str_add(out, "This proves nothing.");
	else if (is_revert)
		str_add(out, "The proof fails: without it the bad end is not better. Something "
			     "after it may have the same effect.");
	else
		str_add(out, "The proof fails: it does not differ from its parent as it should. "
			     "The change is in a commit that is not listed, between it and the one "
			     "listed before it.");
}
