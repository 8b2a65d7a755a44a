/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/log.h"
#include "cmd/study.h"
#include "judge/judge.h"
#include "run/fault.h"

/* A machine's plan grows with what its results ask for: blocks that were disturbed are repeated,
 * and until: adds blocks. Judging decides what, the plan says in which order, the engine walks it.
 */

/* Whose plan grows. */
struct growing {
	struct cmd *cmd;
	struct study *study;
	int64_t id;
};

static int grant(const struct growing *growing, size_t machine, const struct judge_wish *wish,
	struct err *err)
{
	const struct study *study = growing->study;
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
		growing->cmd->arena, plan, extension.block, wish->variants, &extension.variants);
	log_line(LOG_INFO, "%s: %s: %zu boots with %zu of %zu conditions", plan->machine->name,
		wish->reason, extension.boot_count, wish->condition_count, plan->condition_count);
	return study_append(growing->cmd, growing->study, growing->id, machine, &extension, err);
}

static int grow(void *arg, size_t machine, bool *grown, struct err *err)
{
	const struct growing *growing = arg;
	struct arena arena = ARENA_INIT;
	struct judge_wish *wishes = NULL;
	size_t count = 0;
	int ret;

	fault_point("look");
	ret = judge_next(growing->cmd->store, growing->id,
		growing->study->experiment.machines[machine].name, &arena, &wishes, &count, err);
	for (size_t i = 0; !ret && i < count; i++)
		ret = grant(growing, machine, &wishes[i], err);
	fault_point("grown");
	*grown = count > 0;
	arena_release(&arena);
	return ret;
}

void study_let_grow(struct cmd *cmd, struct study *study, int64_t id)
{
	struct growing *growing = arena_alloc(cmd->arena, sizeof(*growing));

	*growing = (struct growing){cmd, study, id};
	study->engine.grow = grow;
	study->engine.grow_arg = growing;
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
