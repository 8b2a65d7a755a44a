/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "sys/json_put.h"
#include "model/experiment_file.h"
#include "model/name.h"
#include "sys/regex.h"

/* What an experiment's file may say: the tables, and writing it back. */

static const char *const order_names[] = {[ORDER_BRACKETED] = "bracketed",
	[ORDER_SHUFFLED] = "shuffled",
	[ORDER_TOGGLE] = "toggle",
	[ORDER_ADAPTIVE] = "adaptive",
	NULL};

static int check_policy(const char *text, struct err *err)
{
	enum flag_policy ignored;

	if (!flag_policy_parse(text, &ignored))
		return err_set(err, ERR_USAGE, "is not one of: drop, flag, ignore");
	return 0;
}

static int check_reason(const char *text, struct err *err)
{
	struct nearest nearest;

	if (validity_find(text))
		return 0;
	nearest_init(&nearest, text);
	for (size_t i = 0; i < validity_reason_count; i++)
		nearest_try(&nearest, validity_reasons[i].name);
	return err_set(
		err, ERR_USAGE, "is not a reason for a run to be unfit%s", nearest_hint(&nearest));
}

static void read_order(const struct opt_ctx *ctx, const struct opt *row KB_UNUSED,
	const struct ynode *node, void *base)
{
	static const struct opt list = {"order", OPT_LIST, offsetof(struct design, explicit_order),
		.min = 1, .max = 1000, .check = name_check};
	struct design *design = base;

	if (node->kind == YNODE_SEQ) {
		design->order = ORDER_EXPLICIT;
		opt_read_value(ctx, &list, node, design);
		return;
	}
	for (int i = 0; node->kind == YNODE_SCALAR && order_names[i]; i++) {
		if (strcmp(order_names[i], node->text) == 0) {
			design->order = (enum design_order)i;
			return;
		}
	}
	opt_node_error(ctx, node,
		"order is bracketed, shuffled, toggle, or a list of variants such as "
		"[A, B, A]");
}

static json_t *order_json(const struct opt *row KB_UNUSED, const void *base)
{
	const struct design *design = base;
	json_t *list;

	if (design->order != ORDER_EXPLICIT)
		return json_text(order_names[design->order]);
	list = json_array();
	for (const char *const *name = design->explicit_order; *name; name++)
		json_push(list, json_text(*name));
	return list;
}

static void read_until(const struct opt_ctx *ctx, const struct opt *row KB_UNUSED,
	const struct ynode *node, void *base)
{
	static const struct opt width = {
		"until", OPT_PCT, offsetof(struct design, until_pct), .min = 0.01, .max = 50};
	struct design *design = base;

	if (node->kind == YNODE_SCALAR && strcmp(node->text, "verdict") == 0) {
		design->until = UNTIL_VERDICT;
		return;
	}
	design->until = UNTIL_WIDTH;
	if (node->kind == YNODE_SCALAR && str_ends(node->text, "%"))
		opt_read_value(ctx, &width, node, design);
	else
		opt_node_error(ctx, node, "until is verdict, or a half-width such as 1%%");
}

static json_t *until_json(const struct opt *row KB_UNUSED, const void *base)
{
	const struct design *design = base;
	struct str text = STR_INIT;
	json_t *json;

	if (design->until == UNTIL_BOOTS)
		return NULL;
	if (design->until == UNTIL_VERDICT)
		return json_text("verdict");
	opt_add_pct(&text, design->until_pct);
	json = json_text(str_text(&text));
	str_release(&text);
	return json;
}

static int check_pattern(const char *text, struct err *err)
{
	struct regex *regex = NULL;
	int ret = regex_compile(text, &regex, err);

	regex_free(regex);
	return ret ? err_wrap(err, "is no pattern") : 0;
}

static int check_event(const char *text, struct err *err)
{
	if (!*text || *text == '-' || strlen(text) > 200)
		return err_set(err, ERR_USAGE, "is not an event of perf stat");
	return name_check_line(text, err);
}

static int check_function(const char *text, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.";

	if (!*text || strspn(text, allowed) != strlen(text) || strlen(text) > 100)
		return err_set(err, ERR_USAGE, "is not the name of a kernel function");
	return 0;
}

static void keep_node(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	bool list = row->json != NULL && row->max > 0;

	if (list && !opt_node_is(ctx, node, YNODE_SEQ, row->name))
		return;
	if (list && (!node->count || node->count > (size_t)row->max))
		opt_node_error(ctx, node, "%s has %zu items; 1 to %.0f are wanted", row->name,
			node->count, row->max);
	else
		*(const struct ynode **)((char *)base + row->offset) = node;
}

static json_t *machines_json(const struct opt *row KB_UNUSED, const void *base)
{
	const struct experiment *e = base;
	json_t *list = json_array();

	for (size_t i = 0; i < e->machine_count; i++)
		json_push(list, machine_json(&e->machines[i]));
	return list;
}

static json_t *suites_json(const struct opt *row KB_UNUSED, const void *base)
{
	const struct experiment *e = base;
	json_t *list = json_array();

	for (size_t i = 0; i < e->suite_count; i++)
		json_push(list, suite_json(&e->suites[i]));
	return list;
}

/* Those that were written; the others are made again from them. */
static json_t *used_kernels_json(const struct opt *row KB_UNUSED, const void *base)
{
	const struct experiment *e = base;
	struct variant *used = xcalloc(e->variant_count + 1, sizeof(*used));
	size_t count = 0;
	json_t *json;

	for (size_t i = 0; i < e->variant_count; i++)
		if (!e->variants[i]->layout_of)
			used[count++] = *e->variants[i];
	json = kernels_json(used, count);
	free(used);
	return json;
}

/* clang-format off */

#define DESIGN(member) offsetof(struct design, member)
static const struct opt design_rows[] = {
	{"order", OPT_CUSTOM, .read = read_order, .json = order_json,
		.help = "bracketed, shuffled, toggle, or a list of variants such as [A, B, A]"},
	{"boots", OPT_INT, DESIGN(boots), .min = 1, .max = 1000,
		.help = "boots of each variant, 4 unless given; even when bracketed"},
	{"until", OPT_CUSTOM, .read = read_until, .json = until_json,
		.help = "instead of boots: verdict, or a half-width such as 1%; a look after "
			"every block"},
	{"max", OPT_INT, DESIGN(max_boots), .min = 2, .max = 200,
		.help = "boots of each variant at most, 16 unless given; with until, even"},
	{"runs", OPT_INT, DESIGN(runs), .def = "9", .min = 1, .max = 1000,
		.help = "measured runs in a boot and condition"},
	{"warmup", OPT_INT, DESIGN(warmup), .def = "1", .min = 0, .max = 100,
		.help = "runs before them, per suite and boot; kept, marked, not used"},
	{"seed", OPT_INT, DESIGN(seed), .def = "1", .min = 0, .max = 9e15,
		.help = "of the orders that are drawn"},
	OPT_END};

#define GATES(member) offsetof(struct gates, member)
static const struct opt gates_rows[] = {
	{"cv", OPT_PCT, GATES(cv_pct), .def = "auto", .automatic = true, .max = 100,
		.help = "highest coefficient of variation within a boot"},
	{"drift", OPT_PCT, GATES(drift_pct), .def = "auto", .automatic = true, .max = 100,
		.help = "highest drift of the baseline"},
	{"margin", OPT_PCT, GATES(margin_pct), .def = "1%", .min = 0.001, .max = 50,
		.help = "differences below it are equivalence"},
	{"alpha", OPT_PCT, GATES(alpha_pct), .def = "5%", .min = 0.01, .max = 50,
		.help = "rate of false discoveries"},
	OPT_END};

#define FILE_ROW(member) offsetof(struct experiment_file, member)
const struct opt experiment_opts[] = {
	{"experiment", OPT_TEXT, FILE_ROW(e.name), .required = true, .check = name_check,
		.help = "its name"},
	{"about", OPT_TEXT, FILE_ROW(e.about), .def = "", .check = name_check_line,
		.help = "one line for reports"},
	{"layout_null", OPT_BOOL, FILE_ROW(e.layout_null),
		.help = "compare variants with their baselines in two other code layouts, too"},
	{"machines", OPT_CUSTOM, FILE_ROW(machines), .required = true, .max = 1000,
		.read = keep_node, .json = machines_json,
		.help = "names (machines/NAME.yaml beside this file), paths, or mappings"},
	{"kernels", OPT_CUSTOM, FILE_ROW(kernels), .required = true, .read = keep_node,
		.json = used_kernels_json, .help = "path of the kernels file, or its mapping"},
	{"baseline", OPT_TEXT, FILE_ROW(baseline), .required = true, .check = name_check,
		.help = "variant that the others are compared with"},
	{"variants", OPT_LIST, FILE_ROW(variants), .max = 100, .check = name_check,
		.help = "variants to measure beside the baseline"},
	{"suites", OPT_CUSTOM, FILE_ROW(suites), .required = true, .max = 100,
		.read = keep_node, .json = suites_json,
		.help = "names (the lab's suites/, then kbracket's own), paths, or mappings"},
	{"saturation", OPT_PCTS, FILE_ROW(e.saturations_pct),
		.count_offset = FILE_ROW(e.saturation_count), .def = "100%", .min = 0.01,
		.max = 10000, .help = "workers as a percentage of online CPUs"},
	{"duration", OPT_DURATION, FILE_ROW(e.duration_ns), .max = 86400e9,
		.help = "of every timed condition, instead of the suites' own"},
	{"design", OPT_MAP, FILE_ROW(e.design), .rows = design_rows,
		.help = "which boots, in which order"},
	{"gates", OPT_MAP, FILE_ROW(e.gates), .rows = gates_rows,
		.help = "what numbers must keep to for a verdict"},
	{"policies", OPT_PAIRS, FILE_ROW(e.policies), .max = 100, .check_key = check_reason,
		.check = check_policy,
		.help = "reason that makes a run unfit, and drop, flag or ignore"},
	{"hooks", OPT_CUSTOM, FILE_ROW(e.hooks), .count_offset = FILE_ROW(e.hook_count),
		.rows = hook_opts, .read = hooks_read, .json = hooks_json,
		.help = "programs called on this host around the experiment, its boots and runs"},
	{"dmesg_allow", OPT_LIST, FILE_ROW(e.dmesg_allow), .max = 100, .check = check_pattern,
		.help = "patterns of lines in the kernel's log that mean nothing"},
	{"counters", OPT_LIST, FILE_ROW(e.counting.events), .max = 100, .check = check_event,
		.help = "events of perf stat, counted in runs of their own, told per operation"},
	{"functions", OPT_LIST, FILE_ROW(e.counting.functions), .max = 50,
		.check = check_function, .help = "kernel functions whose calls are counted there"},
	{"counter_threads", OPT_CHOICE, FILE_ROW(e.counting.threads), .def = "suite",
		.choices = suite_thread_names,
		.help = "whose events are counted: suite (as each suite says), all or main"},
	{"counter_runs", OPT_INT, FILE_ROW(e.counting.runs), .def = "1", .min = 1, .max = 100,
		.help = "such runs in a boot and condition"},
	{"profile", OPT_INT, FILE_ROW(e.profile_hz), .min = 0, .max = 20000,
		.help = "every measured run is made under perf record, with so many samples a "
			"second and CPU; 0: none"},
	{"decide", OPT_LIST, FILE_ROW(e.decide), .max = 1000, .check = name_check_line,
		.help = "suites, or SUITE/CONDITION, that decide the exit code"},
	OPT_END};

/* clang-format on */

char *experiment_dump(const struct experiment *experiment)
{
	struct experiment_file file = {.e = *experiment};
	const char **names = xcalloc(experiment->variant_count + 1, sizeof(*names));
	struct str text = STR_INIT;
	json_t *json;

	file.baseline = experiment->variants[0]->name;
	for (size_t i = 1; i < experiment->listed_count; i++)
		names[i - 1] = experiment->variants[i]->name;
	file.variants = names;
	json = opt_json(experiment_opts, &file);
	opt_write_yaml(json, &text);
	json_decref(json);
	free(names);
	return str_take(&text);
}
