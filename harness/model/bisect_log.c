/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "model/bisect_log.h"
#include "sys/json_put.h"

/* --- writing --- */

static json_t *step_json(const struct bisect_step *step)
{
	json_t *item = json_array();

	json_push(item, json_text(step->name));
	json_push(item, json_text(step->subject));
	json_push(item, json_text(step->author));
	return item;
}

static json_t *values_json(const struct bisect_event *event)
{
	json_t *list = json_array();

	for (size_t i = 0; i < event->value_count; i++)
		json_push(list, json_num(event->values[i]));
	return list;
}

/* What an event is about. */
static json_t *subject_json(const struct bisect_record *record, const struct bisect_event *event)
{
	if (event->kind == EVENT_STAGE)
		return json_text(event->text);
	if (event->kind == EVENT_PROOF || event->kind == EVENT_NOTE)
		return json_text("");
	return json_text(record->steps[event->position].name);
}

static json_t *event_json(const struct bisect_record *record, const struct bisect_event *event)
{
	json_t *item = json_object();

	json_put(item, bisect_event_name(event->kind), subject_json(record, event));
	if (event->kind == EVENT_BOOT)
		json_put(item, "values", values_json(event));
	else if (event->kind != EVENT_STAGE)
		json_put_text(item, "text", event->text);
	return item;
}

/* What is undone, and what was lost, shows nothing: a replay need not see it. */
static bool is_told(const struct bisect_event *event)
{
	return !event->undone && event->kind != EVENT_UNDO &&
	       (event->kind != EVENT_STAGE || !event->other) &&
	       (event->kind != EVENT_BOOT || event->value_count);
}

void bisect_log_write(const struct bisect_record *record, struct str *out)
{
	json_t *log = json_object(), *steps = json_array(), *events = json_array();

	json_put_text(log, "bisect", record->name);
	json_put_text(log, "axis", bisect_axis_name(record->axis));
	json_put_text(log, "machine", record->machine);
	json_put_text(log, "condition", record->condition);
	json_put_text(log, "metric", record->metric);
	json_put_text(log, "unit", record->unit);
	json_put_text(log, "better", record->lower_is_better ? "lower" : "higher");
	json_put_int(log, "confidence", record->spec.confidence_pct);
	json_put_int(log, "max-boots", record->max_boots);
	json_put_int(log, "runs", record->spec.runs);
	json_put_int(log, "listed", (int64_t)record->listed);
	json_put_bool(log, "in-order", !record->unordered);
	for (size_t i = 0; i < record->step_count; i++)
		json_push(steps, step_json(&record->steps[i]));
	json_put(log, "steps", steps);
	for (size_t i = 0; i < record->event_count; i++)
		if (is_told(&record->events[i]))
			json_push(events, event_json(record, &record->events[i]));
	json_put(log, "events", events);
	opt_write_yaml(log, out);
	json_decref(log);
}

/* --- reading --- */

struct log_file {
	const char *name, *machine, *condition, *metric, *unit;
	int axis, better;
	int64_t confidence, max_boots, runs, listed;
	bool in_order;
	const struct ynode *steps, *events;
};

static const char *const axes[] = {"commits", "patches", "configs", "features", NULL};
static const char *const directions[] = {"higher", "lower", NULL};

static void keep_steps(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	if (opt_node_is(ctx, node, YNODE_SEQ, row->name))
		((struct log_file *)base)->steps = node;
}

static void keep_events(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	if (opt_node_is(ctx, node, YNODE_SEQ, row->name))
		((struct log_file *)base)->events = node;
}

/* clang-format off */
#define AT(member) offsetof(struct log_file, member)
static const struct opt log_rows[] = {
	{"bisect", OPT_TEXT, AT(name), .def = "bisect", .help = "its name"},
	{"axis", OPT_CHOICE, AT(axis), .def = "commits", .choices = axes, .help = "what steps are"},
	{"machine", OPT_TEXT, AT(machine), .def = "", .help = "that it was measured on"},
	{"condition", OPT_TEXT, AT(condition), .def = "", .help = "what was measured"},
	{"metric", OPT_TEXT, AT(metric), .required = true, .help = "what decides"},
	{"unit", OPT_TEXT, AT(unit), .def = "", .help = "of the metric"},
	{"better", OPT_CHOICE, AT(better), .def = "higher", .choices = directions,
		.help = "which values are better"},
	{"confidence", OPT_INT, AT(confidence), .def = "95", .min = 95, .max = 99,
		.help = "probability at which a culprit is named"},
	{"max-boots", OPT_INT, AT(max_boots), .def = "150", .min = 1, .max = 1e9,
		.help = "boots after which it ends"},
	{"runs", OPT_INT, AT(runs), .def = "3", .min = 1, .max = 100, .help = "in a boot"},
	{"listed", OPT_INT, AT(listed), .max = 1e6,
		.help = "steps that may be named; all but the first when left out"},
	{"in-order", OPT_BOOL, AT(in_order), .def = "true",
		.help = "the boots stand in the order in which they were made"},
	{"steps", OPT_CUSTOM, AT(steps), .required = true, .read = keep_steps,
		.help = "names, or lists of name, subject and author; the good end first"},
	{"events", OPT_CUSTOM, AT(events), .read = keep_events, .help = "in their order"},
	OPT_END};
/* clang-format on */

struct log_reading {
	struct opt_ctx ctx;
	struct bisect_record *record;
};

static const char *text_at(const struct log_reading *r, const struct ynode *list, size_t index)
{
	const char *text;

	if (list->kind == YNODE_SCALAR)
		return index ? "" : list->text;
	if (list->kind != YNODE_SEQ || index >= list->count)
		return "";
	text = opt_node_text(&r->ctx, list->items[index], "steps");
	return text ? text : "";
}

static void read_steps(struct log_reading *r, const struct ynode *list)
{
	struct bisect_record *record = r->record;

	record->steps = arena_alloc(r->ctx.arena, (list->count + 1) * sizeof(*record->steps));
	for (size_t i = 0; i < list->count; i++) {
		struct bisect_step *step = &record->steps[record->step_count++];

		*step = (struct bisect_step){.name = text_at(r, list->items[i], 0),
			.subject = text_at(r, list->items[i], 1),
			.author = text_at(r, list->items[i], 2),
			.recipe = ""};
		if (!step->name[0])
			opt_node_error(&r->ctx, list->items[i], "steps: a step has no name");
	}
	if (record->step_count < 2)
		opt_node_error(&r->ctx, list, "steps: at least two are wanted");
}

static bool find_kind(const struct ynode *node, enum bisect_event_kind *kind, size_t *at)
{
	for (*at = 0; node->kind == YNODE_MAP && *at < node->count; (*at)++)
		if (bisect_event_parse(node->keys[*at]->text, kind))
			return true;
	return false;
}

static void read_values(
	const struct log_reading *r, const struct ynode *list, struct bisect_event *event)
{
	if (!list || !opt_node_is(&r->ctx, list, YNODE_SEQ, "values"))
		return;
	event->values = arena_alloc(r->ctx.arena, (list->count + 1) * sizeof(double));
	for (size_t i = 0; i < list->count; i++) {
		struct err err = ERR_INIT;
		double value = (double)NAN;

		if (list->items[i]->kind != YNODE_SCALAR ||
			num_double(list->items[i]->text, &value, &err) || !(value > 0))
			opt_node_error(
				&r->ctx, list->items[i], "values: a number above 0 is wanted");
		event->values[event->value_count++] = value;
	}
}

static void read_position(
	const struct log_reading *r, const struct ynode *node, struct bisect_event *event)
{
	struct err err = ERR_INIT;

	if (bisect_step_find(r->record, node->text, &event->position, &err))
		opt_node_error(&r->ctx, node, "%s", err.text);
}

static void read_event(
	const struct log_reading *r, const struct ynode *node, struct bisect_event *event)
{
	const struct ynode *text = ynode_get(node, "text"), *about;
	size_t at;

	event->text = text && text->kind == YNODE_SCALAR ? text->text : "";
	event->reason = "";
	if (!find_kind(node, &event->kind, &at) || node->items[at]->kind != YNODE_SCALAR) {
		opt_node_error(&r->ctx, node,
			"events: an event is a mapping with boot, skip, good, "
			"bad or stage");
		return;
	}
	about = node->items[at];
	if (event->kind == EVENT_STAGE)
		event->text = about->text;
	else if (event->kind != EVENT_NOTE && event->kind != EVENT_PROOF)
		read_position(r, about, event);
	if (event->kind == EVENT_BOOT) {
		event->state = STATE_DONE;
		read_values(r, ynode_get(node, "values"), event);
	}
}

static void read_events(struct log_reading *r, const struct ynode *list)
{
	struct bisect_record *record = r->record;
	size_t count = list ? list->count : 0;

	record->events = arena_alloc(r->ctx.arena, (count + 1) * sizeof(*record->events));
	for (size_t i = 0; i < count; i++) {
		struct bisect_event *event = &record->events[record->event_count++];

		event->number = (int64_t)i + 1;
		read_event(r, list->items[i], event);
	}
}

static void take_head(struct bisect_record *record, const struct log_file *file)
{
	record->name = file->name;
	record->axis = (enum bisect_axis)file->axis;
	record->machine = file->machine;
	record->condition = file->condition;
	record->metric = file->metric;
	record->unit = file->unit;
	record->lower_is_better = file->better == 1;
	record->tree = "";
	record->spec.confidence_pct = file->confidence;
	record->spec.max_boots = file->max_boots;
	record->spec.runs = file->runs;
	record->unordered = !file->in_order;
}

int bisect_log_read(struct arena *arena, const char *name, const char *text, size_t len,
	struct bisect_record *out, struct err *err)
{
	struct diag diag = DIAG_INIT;
	struct log_reading r = {{arena, NULL, &diag}, out};
	struct log_file file = {0};
	struct str said = STR_INIT;
	const struct ynode *node;
	int ret = yaml_read_text(arena, name, text, len, &node, &diag);

	*out = (struct bisect_record){0};
	if (!ret)
		ret = opt_read_map(&r.ctx, log_rows, node, &file, "a bisect's log");
	if (!ret) {
		take_head(out, &file);
		read_steps(&r, file.steps);
		out->listed = file.listed ? (size_t)file.listed : out->step_count - 1;
		read_events(&r, file.events);
	}
	if (!ret && !diag.count && out->listed >= out->step_count)
		opt_node_error(&r.ctx, node, "listed: there are only %zu steps", out->step_count);
	if (ret || diag.count) {
		diag_write(&diag, &said);
		ret = err_set(err, ERR_USAGE, "%s", str_text(&said));
	}
	str_release(&said);
	diag_release(&diag);
	return ret ? ret : bisect_record_finish(out, arena, err);
}
