/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/log.h"
#include "cmd/study.h"
#include "judge/judge.h"
#include "run/fault.h"

/* An experiment's plan grows with what its results ask for: blocks that were disturbed are
 * repeated, and until: adds blocks. Judging decides what, the plan says in which order, the engine
 * walks it. */

static size_t machine_index(const struct study *study, const char *name)
{
	for (size_t m = 0; m < study->experiment.machine_count; m++)
		if (strcmp(study->experiment.machines[m].name, name) == 0)
			return m;
	BUG("a wish for machine %s, which the experiment does not have", name);
}

static int grant(struct cmd *cmd, struct study *study, int64_t id, const struct judge_wish *wish,
	struct err *err)
{
	size_t machine = machine_index(study, wish->machine);
	const struct plan *plan = &study->plans[machine];
	struct plan_extension extension = {
		.block = plan_next_block(plan),
		.repeats = wish->repeats,
		.conditions = wish->conditions,
		.condition_count = wish->condition_count,
		.runs = study->experiment.design.runs,
		.warmup = study->experiment.design.warmup,
		.reason = wish->reason,
	};

	extension.boot_count = plan_block_order(
		cmd->arena, plan, extension.block, wish->variants, &extension.variants);
	log_line(LOG_INFO, "%s: %s: %zu boots with %zu of %zu conditions", wish->machine,
		wish->reason, extension.boot_count, wish->condition_count, plan->condition_count);
	return study_append(cmd, study, id, machine, &extension, err);
}

int study_grow(struct cmd *cmd, struct study *study, int64_t id, bool *grown, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct judge_wish *wishes = NULL;
	size_t count = 0;
	int ret;

	fault_point("look");
	ret = judge_next(cmd->store, id, &arena, &wishes, &count, err);
	for (size_t i = 0; !ret && i < count; i++)
		ret = grant(cmd, study, id, &wishes[i], err);
	fault_point("grown");
	*grown = count > 0;
	arena_release(&arena);
	return ret;
}

/* One more block with everything in it. */
static int add_block(struct cmd *cmd, struct plan *plan, struct err *err)
{
	size_t *all = arena_alloc(cmd->arena, (plan->condition_count + 1) * sizeof(*all));
	struct plan_extension extension = {
		.block = plan_next_block(plan),
		.conditions = all,
		.condition_count = plan->condition_count,
		.runs = plan->experiment->design.runs,
		.warmup = plan->experiment->design.warmup,
		.reason = "look",
	};

	for (size_t c = 0; c < plan->condition_count; c++)
		all[c] = c;
	extension.boot_count =
		plan_block_order(cmd->arena, plan, extension.block, NULL, &extension.variants);
	return plan_extend(cmd->arena, plan, &extension, err);
}

int study_plan_most(struct cmd *cmd, const struct study *study, struct plan **out, struct err *err)
{
	size_t machines = study->experiment.machine_count;
	struct plan *plans = arena_copy(cmd->arena, study->plans, machines, sizeof(*plans));
	int looks = experiment_looks(&study->experiment), ret = 0;

	for (size_t m = 0; m < machines; m++)
		for (int look = 2; look <= looks && !ret; look++)
			ret = add_block(cmd, &plans[m], err);
	*out = plans;
	return ret;
}
