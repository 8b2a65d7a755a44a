/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket compare: two experiments side by side, or two variants of one experiment. */
#include "base/base.h"

#include "cmd/answer.h"
#include "cmd/next.h"
#include "judge/judge.h"
#include "model/name.h"
#include "report/compare.h"

struct options {
	struct global global;
	const char *a, *b, *in;
	bool allow_inconclusive;
};

static const struct opt rows[] = {
	{.name = "A",
		.positional = true,
		.required = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, a),
		.help = "an experiment's number or name, or a variant: what B is compared with"},
	{.name = "B",
		.positional = true,
		.required = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, b),
		.help = "the same"},
	{.name = "in",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, in),
		.arg = "EXPERIMENT",
		.help = "whose variants A and B are; the newest when A and B are no experiments"},
	ALLOW_INCONCLUSIVE_ROW(options),
	GLOBAL_ROWS(options),
	OPT_END,
};

static const struct store_variant *find_variant(
	const struct store_view *view, const char *name, struct err *err)
{
	struct nearest nearest;

	nearest_init(&nearest, name);
	for (size_t v = 0; v < view->variant_count; v++) {
		if (strcmp(view->variants[v].name, name) == 0)
			return &view->variants[v];
		nearest_try(&nearest, view->variants[v].name);
	}
	err_set(err, ERR_USAGE,
		"'%.60s' is neither an experiment nor a variant of experiment %lld (%s)%s", name,
		(long long)view->head.id, view->head.name, nearest_hint(&nearest));
	return NULL;
}

static int compare_variants(struct cmd *cmd, const struct options *options, struct err *err)
{
	const struct store_variant *a, *b;
	struct store_verdict *verdicts;
	struct store_view view;
	struct report report;
	size_t count;
	int64_t id;
	int ret = store_find(cmd->store, options->in, &id, err);

	if (!ret)
		ret = store_load(cmd->store, id, cmd->arena, &view, err);
	if (ret)
		return ret;
	a = find_variant(&view, options->a, err);
	b = a ? find_variant(&view, options->b, err) : NULL;
	if (!b)
		return ERR_USAGE;
	if (a == b)
		return err_set(err, ERR_USAGE, "%s cannot be compared with itself", a->name);
	ret = judge_compare(cmd->store, &view, b, a, cmd->arena, &verdicts, &count, err);
	if (!ret)
		ret = report_load_pair(
			cmd->store, &view, b, a, verdicts, count, cmd->arena, &report, err);
	if (!ret)
		next_steps(&report);
	return ret ? ret : (int)answer_write(cmd, &report, options->allow_inconclusive);
}

static int load_judged(struct cmd *cmd, int64_t id, struct report *out, struct err *err)
{
	int ret = answer_judge(cmd, id, err);

	return ret ? ret : report_load(cmd->store, id, cmd->arena, out, err);
}

static int compare_experiments(struct cmd *cmd, int64_t a, int64_t b, struct err *err)
{
	struct layout layout = answer_layout();
	struct report x, y;
	struct compare compare;
	struct str out = STR_INIT;
	int ret = load_judged(cmd, a, &x, err);

	if (!ret)
		ret = load_judged(cmd, b, &y, err);
	if (ret)
		return ret;
	compare_make(&x, &y, cmd->arena, &compare);
	if (cmd->global->json)
		compare_write_json(&compare, &out);
	else
		compare_write_text(&compare, &layout, &out);
	ui_write_text(&out);
	str_release(&out);
	return STATUS_FINE;
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct err why = ERR_INIT;
	int64_t a, b;
	bool experiments = !options->in && store_find(cmd->store, options->a, &a, &why) == 0 &&
			   store_find(cmd->store, options->b, &b, &why) == 0;

	return experiments ? compare_experiments(cmd, a, b, err)
			   : compare_variants(cmd, options, err);
}

const struct verb verb_compare = {
	.name = "compare",
	.summary = "two experiments, or two variants of one",
	.about = "Two variants of one experiment are judged against each other from the same "
		 "boots: B against A, whatever their baselines are. Of two experiments the "
		 "effects are put side by side, and what is not comparable is said.",
	.needs = NEEDS_CHANGE,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
