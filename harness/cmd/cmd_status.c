/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket status: how far an experiment is, also while another kbracket runs it. */
#include "base/base.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/stop.h"
#include "cmd/answer.h"
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
		.help = "say it again until the experiment has ended"},
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
};

static int64_t all(const int64_t counts[5])
{
	return counts[0] + counts[1] + counts[2] + counts[3] + counts[4];
}

static int64_t ended(const int64_t counts[5])
{
	return counts[STATE_DONE] + counts[STATE_FAILED];
}

/* Longer than that is not an estimate: a clock was set. */
#define LEFT_MAX_NS ((double)INT64_MAX / 4)

/* What is left takes as long as what is done took: < 0 when nothing is known yet. */
static int64_t left_ns(const struct moment *moment)
{
	int64_t runs = ended(moment->progress.runs), total = all(moment->progress.runs);
	double spent = (double)moment->progress.last_ns - (double)moment->head.created_ns;
	double left = runs ? spent / (double)runs * (double)(total - runs) : 0;

	if (runs == 0 || spent <= 0 || left > LEFT_MAX_NS)
		return -1;
	return (int64_t)left;
}

static json_t *counts_json(const int64_t counts[5])
{
	json_t *out = json_object();

	for (int state = STATE_PLANNED; state <= STATE_INTERRUPTED; state++)
		json_put_int(out, store_state_name((enum store_state)state), counts[state]);
	return out;
}

static void write_json(const struct moment *moment)
{
	json_t *out = json_object();
	int64_t left = left_ns(moment);

	json_put_int(out, "experiment", moment->head.id);
	json_put_text(out, "name", moment->head.name);
	json_put_text(out, "kind", store_kind_name(moment->head.kind));
	json_put_text(out, "state", store_state_name(moment->head.state));
	json_put(out, "boots", counts_json(moment->progress.boots));
	json_put(out, "runs", counts_json(moment->progress.runs));
	json_put_int(out, "current_boot", moment->progress.current_boot);
	json_put_int(out, "last_ns", moment->progress.last_ns);
	json_put(out, "left_ns", left < 0 ? json_null() : json_integer(left));
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

static void write_text(const struct moment *moment)
{
	const struct store_experiment *head = &moment->head;
	int64_t left = left_ns(moment), last = moment->progress.last_ns, now = clock_wall_ns();
	struct str out = STR_INIT;

	str_addf(&out, "%s %lld, ", store_kind_name(head->kind), (long long)head->id);
	str_add_safe(&out, head->name, strlen(head->name));
	str_addf(&out, ": %s\n  %s\n", store_state_name(head->state), head->design);
	add_counts(&out, "boots", moment->progress.boots);
	add_counts(&out, "runs", moment->progress.runs);
	if (moment->progress.current_boot)
		str_addf(&out, "  now    boot %lld\n", (long long)moment->progress.current_boot);
	if (last > 0) {
		str_add(&out, "  stored ");
		num_add_duration(&out, now > last ? now - last : 0);
		str_add(&out, " ago\n");
	}
	if (head->state != STATE_DONE && left >= 0) {
		str_add(&out, "  left   about ");
		num_add_duration(&out, left);
		str_add(&out, head->looks ? " of what is planned so far\n" : "\n");
	}
	ui_write_text(&out);
	str_release(&out);
}

static int take_moment(struct cmd *cmd, int64_t id, struct moment *out, struct err *err)
{
	int ret = store_load_head(cmd->store, id, cmd->arena, &out->head, err);

	return ret ? ret : store_progress(cmd->store, id, &out->progress, err);
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct moment moment;
	int64_t id;
	int ret = store_find(cmd->store, options->experiment, &id, err);

	while (!ret) {
		ret = take_moment(cmd, id, &moment, err);
		if (ret)
			break;
		if (cmd->global->json)
			write_json(&moment);
		else
			write_text(&moment);
		if (!options->follow || moment.head.state == STATE_DONE)
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
	.about = "Counts boots and runs by state, with an estimate of the time that is left. "
		 "Reads the database only, so it can be used while another kbracket runs the "
		 "experiment.",
	.needs = NEEDS_READ,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
