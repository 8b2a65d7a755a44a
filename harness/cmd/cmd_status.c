/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket status: how far an experiment is, also while another kbracket runs it. */
#include "base/base.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/num.h"
#include "base/stop.h"
#include "cmd/answer.h"
#include "model/store_status.h"
#include "run/engine.h"
#include "sys/json_put.h"

struct options {
	struct global global;
	const char *experiment;
	bool follow;
	int64_t every_ns;
};

static const struct opt rows[] = {
	{.name = "EXPERIMENT",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, experiment),
		.help = "number or name; the newest when left out"},
	{.name = "follow",
		.flag = 'f',
		.type = OPT_BOOL,
		.offset = offsetof(struct options, follow),
		.help = "say it again until the experiment has ended or was stopped"},
	{.name = "every",
		.type = OPT_DURATION,
		.offset = offsetof(struct options, every_ns),
		.def = "2s",
		.help = "how often, with --follow"},
	GLOBAL_ROWS(options),
	OPT_END,
};

/* The moment's state of an experiment. */
struct moment {
	struct store_experiment head;
	struct store_progress progress;
	struct store_machine_status *machines;
	size_t machine_count;
	pid_t worker;	      /* the kbracket that works on it; 0: none */
	int64_t worker_since; /* wall time; 0: none */
};

enum fate { FATE_PLANNED, FATE_WORKING, FATE_PARKED, FATE_STOPPED, FATE_DONE };

static const char *const fates[] = {
	[FATE_PLANNED] = "planned",
	[FATE_WORKING] = "working",
	[FATE_PARKED] = "parked",
	[FATE_STOPPED] = "stopped",
	[FATE_DONE] = "done",
};

static int64_t all(const int64_t counts[5])
{
	return counts[0] + counts[1] + counts[2] + counts[3] + counts[4];
}

static int64_t ended(const int64_t counts[5])
{
	return counts[STATE_DONE] + counts[STATE_FAILED];
}

/* Found unusable, and not begun with since: by the machine's own rows, or by a kbracket that began
 * later and is still at it. */
static bool is_parked(const struct moment *moment, const struct store_machine_status *machine)
{
	return machine->parked_ns && machine->parked_ns >= machine->last_ns &&
	       machine->parked_ns >= moment->worker_since;
}

static enum fate fate_of(const struct moment *moment, const struct store_machine_status *machine)
{
	if (ended(machine->boots) == all(machine->boots))
		return FATE_DONE;
	if (is_parked(moment, machine))
		return FATE_PARKED;
	if (moment->worker)
		return FATE_WORKING;
	return machine->last_ns ? FATE_STOPPED : FATE_PLANNED;
}

/* Longer than that is not an estimate: a clock was set. */
#define LEFT_MAX_NS ((double)INT64_MAX / 4)

/* What is left takes as long as what is done took: < 0 when nothing is known yet. */
static int64_t left_on(const struct store_machine_status *machine)
{
	int64_t runs = ended(machine->runs), total = all(machine->runs);
	double spent = (double)machine->spent_ns;
	double left = runs ? spent / (double)runs * (double)(total - runs) : 0;

	if (runs == 0 || spent <= 0 || left > LEFT_MAX_NS)
		return -1;
	return (int64_t)left;
}

/* Machines work at the same time; what is parked is not waited for. */
static int64_t left_ns(const struct moment *moment)
{
	int64_t longest = -1;

	for (size_t m = 0; m < moment->machine_count; m++) {
		const struct store_machine_status *machine = &moment->machines[m];
		int64_t left = left_on(machine);

		if (fate_of(moment, machine) != FATE_PARKED && left > longest)
			longest = left;
	}
	return longest;
}

static json_t *counts_json(const int64_t counts[5])
{
	json_t *out = json_object();

	for (int state = STATE_PLANNED; state <= STATE_INTERRUPTED; state++)
		json_put_int(out, store_state_name((enum store_state)state), counts[state]);
	return out;
}

static json_t *or_null(int64_t value, bool known)
{
	return known ? json_integer(value) : json_null();
}

static json_t *json_of_machine(
	const struct moment *moment, const struct store_machine_status *machine)
{
	enum fate fate = fate_of(moment, machine);
	int64_t left = left_on(machine);
	json_t *out = json_object();

	json_put_text(out, "machine", machine->name);
	json_put_text(out, "state", fates[fate]);
	json_put_text(out, "parked", fate == FATE_PARKED ? machine->parked : "");
	json_put(out, "boots", counts_json(machine->boots));
	json_put(out, "runs", counts_json(machine->runs));
	json_put_int(out, "current_boot", machine->boot);
	json_put_text(out, "variant", machine->variant);
	json_put_bool(out, "proved", machine->proved);
	json_put_int(out, "current_run", machine->run);
	json_put_text(out, "condition", machine->condition);
	json_put_int(out, "last_ns", machine->last_ns);
	json_put(out, "left_ns", or_null(left, left >= 0));
	return out;
}

static void write_json(const struct moment *moment)
{
	json_t *out = json_object(), *machines = json_array();
	int64_t left = left_ns(moment);

	json_put_int(out, "experiment", moment->head.id);
	json_put_text(out, "name", moment->head.name);
	json_put_text(out, "kind", store_kind_name(moment->head.kind));
	json_put_text(out, "state", store_state_name(moment->head.state));
	json_put(out, "pid", or_null(moment->worker, moment->worker > 0));
	json_put(out, "boots", counts_json(moment->progress.boots));
	json_put(out, "runs", counts_json(moment->progress.runs));
	json_put_int(out, "current_boot", moment->progress.current_boot);
	json_put_int(out, "last_ns", moment->progress.last_ns);
	json_put(out, "left_ns", or_null(left, left >= 0));
	for (size_t m = 0; m < moment->machine_count; m++)
		json_push(machines, json_of_machine(moment, &moment->machines[m]));
	json_put(out, "machines", machines);
	answer_json(out);
}

static void add_counts(struct str *out, const char *what, const int64_t counts[5])
{
	str_addf(out, "  %-6s %lld of %lld done", what, (long long)counts[STATE_DONE],
		(long long)all(counts));
	for (int state = STATE_PLANNED; state <= STATE_INTERRUPTED; state++)
		if (state != STATE_DONE && counts[state])
			str_addf(out, ", %lld %s", (long long)counts[state],
				store_state_name((enum store_state)state));
	str_add_char(out, '\n');
}

/* "boot 4, rate-fix: run 5 of 20, hackbench/pairs 50%" */
static void add_now(struct str *out, const struct store_machine_status *machine)
{
	if (!machine->boot)
		return;
	str_addf(out, ", boot %d, %s", machine->boot, machine->variant);
	if (machine->run)
		str_addf(out, ": run %d of %d, %s%s", machine->run, machine->runs_in_boot,
			machine->condition, machine->kind == RUN_MEASURED ? "" : " (not measured)");
	else if (!machine->proved)
		str_add(out, ": being started");
}

static void add_machine(struct str *out, const struct layout *layout, const struct moment *moment,
	const struct store_machine_status *machine)
{
	enum fate fate = fate_of(moment, machine);
	int64_t left = left_on(machine);
	struct str text = STR_INIT;

	str_addf(&text, "%s: %s, %lld of %lld boots", machine->name, fates[fate],
		(long long)ended(machine->boots), (long long)all(machine->boots));
	if (fate != FATE_DONE && fate != FATE_PARKED)
		add_now(&text, machine);
	if (fate == FATE_WORKING && left >= 0) {
		str_add(&text, ", about ");
		num_add_duration(&text, left);
		str_add(&text, " left");
	}
	if (fate == FATE_PARKED)
		str_addf(&text, ": %s", machine->parked);
	layout_paragraph(layout, out, 2, 4, str_text(&text));
	str_release(&text);
}

static void add_left(struct str *out, const struct moment *moment)
{
	int64_t left = left_ns(moment);

	if (moment->head.state == STATE_DONE || left < 0)
		return;
	str_add(out, "  left   about ");
	num_add_duration(out, left);
	str_add(out, moment->head.looks ? " of what is planned so far\n" : "\n");
}

static void write_text(const struct moment *moment)
{
	const struct store_experiment *head = &moment->head;
	int64_t last = moment->progress.last_ns, now = clock_wall_ns();
	struct layout layout = answer_layout();
	struct str out = STR_INIT;

	str_addf(&out, "%s %lld, ", store_kind_name(head->kind), (long long)head->id);
	str_add_safe(&out, head->name, strlen(head->name));
	str_addf(&out, ": %s", store_state_name(head->state));
	if (moment->worker)
		str_addf(&out, ", worked on by process %ld", (long)moment->worker);
	str_addf(&out, "\n  %s\n", head->design);
	add_counts(&out, "boots", moment->progress.boots);
	add_counts(&out, "runs", moment->progress.runs);
	if (last > 0) {
		str_add(&out, "  stored ");
		num_add_duration(&out, now > last ? now - last : 0);
		str_add(&out, " ago\n");
	}
	add_left(&out, moment);
	for (size_t m = 0; m < moment->machine_count; m++)
		add_machine(&out, &layout, moment, &moment->machines[m]);
	ui_write_text(&out);
	str_release(&out);
}

static int take_moment(struct cmd *cmd, int64_t id, struct moment *out, struct err *err)
{
	char *lock = engine_lock_path(cmd->store, id);
	int ret = store_load_head(cmd->store, id, cmd->arena, &out->head, err);

	if (!ret)
		ret = store_progress(cmd->store, id, &out->progress, err);
	if (!ret)
		ret = store_load_status(
			cmd->store, id, cmd->arena, &out->machines, &out->machine_count, err);
	out->worker = file_lock_holder(lock);
	out->worker_since = out->worker ? file_modified_ns(lock) : 0;
	free(lock);
	return ret;
}

static bool is_over(const struct moment *moment)
{
	return moment->head.state == STATE_DONE ||
	       (moment->head.state == STATE_INTERRUPTED && !moment->worker);
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	bool redraw = options->follow && !cmd->global->json && isatty(STDOUT_FILENO);
	struct moment moment;
	int64_t id;
	int ret = store_find(cmd->store, options->experiment, &id, err);

	while (!ret) {
		ret = take_moment(cmd, id, &moment, err);
		if (ret)
			break;
		if (redraw)
			ui_write("\033[H\033[J", 6);
		if (cmd->global->json)
			write_json(&moment);
		else
			write_text(&moment);
		if (!options->follow || is_over(&moment))
			break;
		ret = ui_flush(err);
		clock_sleep_ns(options->every_ns);
		if (!ret)
			ret = stop_check(err);
	}
	return ret;
}

const struct verb verb_status = {
	.name = "status",
	.summary = "how far an experiment is",
	.about = "Counts boots and runs by state, with an estimate of the time that is left, and "
		 "tells for every machine what is done on it at the moment, or why it is parked. "
		 "Reads the database only, so it can be used while another kbracket runs the "
		 "experiment.",
	.needs = NEEDS_READ,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
