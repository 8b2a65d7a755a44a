/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person writes: any bytes give an experiment, a suite, kernels or a machine, or messages;
 * what was read is written, and that reads as the same. */
#include "base/base.h"

#include "model/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void expect_messages(int ret, struct diag *diag)
{
	if ((ret != 0) != (diag->count != 0))
		BUG("%d with %zu messages", ret, diag->count);
	diag_release(diag);
}

static void expect_same(const char *once, const char *twice)
{
	if (strcmp(once, twice) != 0)
		BUG("written and read again it differs:\n%s\n---\n%s", once, twice);
}

static const struct ynode *read_again(struct arena *arena, json_t *json, struct str *text)
{
	const struct ynode *node;
	struct diag diag = DIAG_INIT;

	str_reset(text);
	opt_write_yaml(json, text);
	json_decref(json);
	if (yaml_read_text(arena, "again", text->text, text->len, &node, &diag)) {
		str_reset(text);
		diag_write(&diag, text);
		BUG("what was written is no YAML: %s", str_text(text));
	}
	return node;
}

static void try_machine(struct arena *arena, const struct ynode *node)
{
	struct machine_spec machine, again;
	struct diag diag = DIAG_INIT;
	struct str once = STR_INIT, twice = STR_INIT;
	int ret = machine_read_node(arena, node, &machine, &diag);

	expect_messages(ret, &diag);
	if (ret)
		return;
	if (machine_read_node(
		    arena, read_again(arena, machine_json(&machine), &once), &again, &diag))
		BUG("a machine that was written is refused: %s\n%s", diag.items[0].text,
			str_text(&once));
	(void)read_again(arena, machine_json(&again), &twice);
	expect_same(str_text(&once), str_text(&twice));
	str_release(&once);
	str_release(&twice);
}

static void try_suite(struct arena *arena, const struct ynode *node)
{
	static const double pcts[] = {100, 50, 31.25, 25};
	struct suite suite, again;
	struct diag diag = DIAG_INIT;
	struct str once = STR_INIT;
	struct condition *conditions;
	struct err err = ERR_INIT;
	size_t count;
	int ret = suite_read_node(arena, node, &suite, &diag);

	expect_messages(ret, &diag);
	if (ret)
		return;
	if (suite_read_node(arena, read_again(arena, suite_json(&suite), &once), &again, &diag))
		BUG("a suite that was written is refused: %s\n%s", diag.items[0].text,
			str_text(&once));
	expect_same(suite.text, again.text);
	ret = suite_expand(arena, &suite, 3, pcts, 4, &conditions, &count, &err);
	if (ret == 0 && !count)
		BUG("a suite without conditions was taken");
	str_release(&once);
}

static void try_kernels(struct arena *arena, const struct ynode *node)
{
	struct kernels kernels, again;
	struct diag diag = DIAG_INIT;
	struct str once = STR_INIT, twice = STR_INIT;
	int ret = kernels_read_node(arena, node, &kernels, &diag);

	expect_messages(ret, &diag);
	if (ret)
		return;
	if (kernels_read_node(arena,
		    read_again(arena, kernels_json(kernels.variants, kernels.count), &once), &again,
		    &diag))
		BUG("kernels that were written are refused: %s\n%s", diag.items[0].text,
			str_text(&once));
	(void)read_again(arena, kernels_json(again.variants, again.count), &twice);
	expect_same(str_text(&once), str_text(&twice));
	str_release(&once);
	str_release(&twice);
}

static void try_plan(struct arena *arena, const struct experiment *e)
{
	struct plan plan;
	struct err err = ERR_INIT;

	if (e->design.boots * e->design.runs > 2000)
		return; /* only time would be learned */
	if (plan_make(arena, e, &e->machines[0], 8, &plan, &err) == 0) {
		if (!plan.boot_count || !plan.boots[0].run_count)
			BUG("an empty plan");
	} else if (!err.text[0]) {
		BUG("no plan and no word about it");
	}
}

static void try_experiment(struct arena *arena, const char *text, size_t len)
{
	struct experiment e, again;
	struct diag diag = DIAG_INIT;
	char *once, *twice;
	int ret = experiment_read_text(arena, "input", text, len, &e, &diag);

	expect_messages(ret, &diag);
	if (ret)
		return;
	once = experiment_dump(&e);
	if (experiment_read_text(arena, "again", once, strlen(once), &again, &diag))
		BUG("an experiment that was written is refused: %s\n%s", diag.items[0].text, once);
	twice = experiment_dump(&again);
	expect_same(once, twice);
	free(once);
	free(twice);
	try_plan(arena, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct arena arena = ARENA_INIT;
	struct diag diag = DIAG_INIT;
	const struct ynode *node;
	int ret = yaml_read_text(&arena, "input", (const char *)bytes, len, &node, &diag);

	expect_messages(ret, &diag);
	if (ret == 0) {
		try_machine(&arena, node);
		try_suite(&arena, node);
		try_kernels(&arena, node);
		try_experiment(&arena, (const char *)bytes, len);
	}
	arena_release(&arena);
	return 0;
}
