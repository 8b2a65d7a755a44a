/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/strv.h"
#include "cmd/cmd.h"
#include "cmd/bisect_oracle.h"
#include "judge/bisect.h"
#include "model/oracle_reply.h"
#include "sys/dialog.h"
#include "sys/json_put.h"
#include "sys/proc.h"

static const char *const directions[] = {"higher", "lower", NULL};

const struct opt bisect_oracle_opts[] = {
	{.name = "oracle",
		.type = OPT_TEXT,
		.offset = offsetof(struct bisect_oracle, command),
		.arg = "COMMAND",
		.help = "ask this program, by numbers, instead of booting commits; split at "
			"blanks, quotes as in a shell"},
	{.name = "commits",
		.type = OPT_INT,
		.offset = offsetof(struct bisect_oracle, commits),
		.def = "0",
		.max = 100000,
		.arg = "N",
		.help = "with --oracle: commit 0 is good, N is bad"},
	{.name = "runs-per-boot",
		.type = OPT_INT,
		.offset = offsetof(struct bisect_oracle, runs),
		.def = "3",
		.min = 1,
		.max = 1000,
		.arg = "K",
		.help = "with --oracle: values to ask for in each boot"},
	{.name = "cost",
		.type = OPT_TEXT,
		.offset = offsetof(struct bisect_oracle, cost),
		.def = "build=10,boot=3,run=1",
		.arg = "COSTS",
		.help = "with --oracle: what a build, a boot and a run cost, in any one unit"},
	{.name = "better",
		.type = OPT_CHOICE,
		.offset = offsetof(struct bisect_oracle, better),
		.choices = directions,
		.def = "higher",
		.help = "with --oracle: which values are better"},
	{.name = "reply-timeout",
		.type = OPT_DURATION,
		.offset = offsetof(struct bisect_oracle, reply_timeout_ns),
		.def = "1d",
		.help = "with --oracle: how long an answer may take"},
	OPT_END,
};

/* A talk with the program. */
struct talk {
	const struct bisect_oracle *oracle;
	struct dialog *dialog;
	struct bisect *engine;
	struct str line, answer;
	double *values;
	int64_t builds, boots, runs;
	bool *built;
};

static int read_cost(const char *text, const char *name, double *out, struct err *err)
{
	size_t len = strlen(name);

	for (const char *at = text; at; at = strchr(at, ',')) {
		char *figure;
		int ret;

		at += *at == ',';
		if (strncmp(at, name, len) != 0 || at[len] != '=')
			continue;
		figure = xstrndup(at + len + 1, strcspn(at + len + 1, ","));
		ret = num_double(figure, out, err);
		if (!ret && !(*out >= 0))
			ret = err_set(err, ERR_USAGE, "a cost is not negative");
		free(figure);
		return ret ? err_wrap(err, "--cost: %s", name) : 0;
	}
	return err_set(err, ERR_USAGE,
		"--cost '%.100s' does not say what a %s costs; as in "
		"build=10,boot=3,run=1",
		text, name);
}

static int ask(struct talk *t, struct err *err)
{
	return dialog_ask(
		t->dialog, str_text(&t->line), t->oracle->reply_timeout_ns, &t->answer, err);
}

/* Says in which request a reply that was refused was asked for. */
static int blame(const struct talk *t, int ret, struct err *err)
{
	return ret ? err_wrap(err, "the oracle, asked '%s'", str_text(&t->line)) : 0;
}

static int measure(struct talk *t, int commit, struct err *err)
{
	int ret;

	str_reset(&t->line);
	str_addf(&t->line, "run %lld", (long long)t->oracle->runs);
	ret = ask(t, err);
	if (!ret)
		ret = blame(t,
			oracle_read_values(
				str_text(&t->answer), (size_t)t->oracle->runs, t->values, err),
			err);
	if (ret)
		return ret;
	t->boots++;
	t->builds += !t->built[commit];
	t->built[commit] = true;
	t->runs += t->oracle->runs;
	bisect_fed(t->engine, commit, t->values, (size_t)t->oracle->runs);
	return 0;
}

static int boot(struct talk *t, int commit, struct err *err)
{
	bool skip = false;
	int ret;

	str_reset(&t->line);
	str_addf(&t->line, "boot %d", commit);
	ret = ask(t, err);
	if (!ret)
		ret = blame(t, oracle_read_boot(str_text(&t->answer), &skip, err), err);
	if (ret)
		return ret;
	if (!skip)
		return measure(t, commit, err);
	if (commit == 0 || commit == t->oracle->commits)
		return err_set(err, ERR_INFRA,
			"the oracle skips commit %d: without its ends "
			"nothing can be bisected",
			commit);
	bisect_skip(t->engine, commit);
	return 0;
}

static void progress(struct talk *t, int commit)
{
	struct bisect_result result;

	bisect_get(t->engine, &result, NULL);
	log_line(LOG_DEBUG, "after %lld boots: %d..%d %.3f, no change %.3f; commit %d is next",
		(long long)t->boots, result.lo, result.hi, result.probability, result.none, commit);
}

static json_t *range_json(int lo, int hi)
{
	return json_pack("[ii]", lo, hi);
}

static void put_range(json_t *out, const struct bisect_result *r)
{
	bool known = r->lo > 0;

	json_put(out, "lo", known ? json_integer(r->lo) : json_null());
	json_put(out, "hi", known ? json_integer(r->hi) : json_null());
	if (r->verdict != BISECT_SEVERAL)
		return;
	json_put(out, "changes", json_array());
	for (int i = 0; i < 2; i++)
		json_push(json_object_get(out, "changes"),
			range_json(r->changes[i][0], r->changes[i][1]));
}

static void write_json(const struct talk *t, const struct bisect_result *r)
{
	json_t *out = json_object();
	struct str line = STR_INIT;
	struct bisect_needs needs;

	json_put_text(out, "verdict", bisect_verdict_name(r->verdict));
	put_range(out, r);
	json_put_num(out, "posterior", r->probability);
	json_put_num(out, "none", r->none);
	if (r->verdict == BISECT_NONE)
		json_put_num(out, "improved", r->improved);
	json_put_int(out, "builds", t->builds);
	json_put_int(out, "boots", t->boots);
	json_put_int(out, "runs", t->runs);
	if (r->verdict == BISECT_UNDECIDED && bisect_left(t->engine, &needs))
		json_put_int(out, "more_boots", needs.boots);
	json_write(out, false, &line); /* readers take the last line */
	str_add_char(&line, '\n');
	ui_write_text(&line);
	str_release(&line);
	json_decref(out);
}

static void write_text(const struct talk *t, const struct bisect_result *r)
{
	struct str out = STR_INIT;
	struct bisect_needs needs;

	str_add(&out, bisect_verdict_name(r->verdict));
	if (r->lo > 0 && r->lo == r->hi)
		str_addf(&out, ": commit %d", r->lo);
	else if (r->lo > 0)
		str_addf(&out, ": commits %d to %d", r->lo, r->hi);
	str_addf(&out, ", probability %.1f %%\n%lld builds, %lld boots, %lld runs\n",
		100 * r->probability, (long long)t->builds, (long long)t->boots,
		(long long)t->runs);
	if (r->improved >= 0.95)
		str_addf(&out, "bad is better than good, probability %.1f %%: exchanged?\n",
			100 * r->improved);
	if (r->verdict == BISECT_UNDECIDED && bisect_left(t->engine, &needs))
		str_addf(&out, "about %d more boots and %d more builds would decide it\n",
			needs.boots, needs.builds);
	ui_write_text(&out);
	str_release(&out);
}

static int write_answer(const struct talk *t)
{
	static const enum status statuses[] = {[BISECT_CULPRIT] = STATUS_REGRESSION,
		[BISECT_RANGE] = STATUS_REGRESSION,
		[BISECT_SEVERAL] = STATUS_REGRESSION,
		[BISECT_NONE] = STATUS_FINE,
		[BISECT_UNDECIDED] = STATUS_OPEN};
	struct bisect_result result;

	bisect_get(t->engine, &result, NULL);
	if (t->oracle->json)
		write_json(t, &result);
	else
		write_text(t, &result);
	return statuses[result.verdict];
}

static int talk(struct talk *t, struct err *err)
{
	int commit, ret = 0;

	while (!ret && bisect_next(t->engine, &commit) == BISECT_BOOT) {
		progress(t, commit);
		ret = boot(t, commit, err);
	}
	return ret;
}

static int start(struct talk *t, struct err *err)
{
	const struct bisect_oracle *o = t->oracle;
	struct bisect_options options = {.commits = (int)o->commits,
		.lower_is_better = o->better == 1,
		.confidence = o->confidence,
		.max_boots = (int)o->max_boots,
		.runs = (int)o->runs};
	struct strv argv = STRV_INIT;
	int ret = read_cost(o->cost, "build", &options.cost_build, err);

	if (!ret)
		ret = read_cost(o->cost, "boot", &options.cost_boot, err);
	if (!ret)
		ret = read_cost(o->cost, "run", &options.cost_run, err);
	if (!ret)
		ret = proc_split_words(o->command, &argv, err);
	if (!ret && argv.count == 0)
		ret = err_set(err, ERR_USAGE, "--oracle: the command is empty");
	if (!ret)
		ret = dialog_start(strv_argv(&argv), &t->dialog, err);
	strv_release(&argv);
	if (ret)
		return ret;
	t->engine = bisect_new(&options);
	t->values = xcalloc((size_t)o->runs, sizeof(*t->values));
	t->built = xcalloc((size_t)o->commits + 1, sizeof(*t->built));
	return 0;
}

int bisect_ask_oracle(const struct bisect_oracle *oracle, struct err *err)
{
	struct talk t = {.oracle = oracle};
	int ret;

	if (oracle->commits < 1)
		return err_set(err, ERR_USAGE, "--oracle needs --commits N, at least 1");
	ret = start(&t, err);
	if (!ret)
		ret = talk(&t, err);
	dialog_end(t.dialog, ret ? NULL : "done");
	if (!ret)
		ret = write_answer(&t);
	bisect_free(t.engine);
	str_release(&t.line);
	str_release(&t.answer);
	free(t.values);
	free(t.built);
	return ret;
}
