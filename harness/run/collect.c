/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "backend/reader.h"
#include "base/clock.h"
#include "base/stop.h"
#include "model/store_result.h"
#include "run/collect.h"
#include "run/counting.h"
#include "run/fault.h"
#include "run/profiling.h"
#include "run/raw.h"
#include "run/warmth.h"
#include "run/runspec.h"

/* Between two tries to reach a machine. */
#define RETRY_NS (2 * NS_PER_S)

char *collect_place(const struct rig *rig, const struct store_run *run)
{
	/* Another lab on the same machine has another time of creation. */
	return xasprintf("%s/run-%lld-%lld", rig->remote.ops->workdir(rig->remote.machine),
		(long long)rig->engine->view.head.created_ns, (long long)run->id);
}

static int present_boot_id(struct rig *rig, char id[64])
{
	static const char *const arguments[] = {"proof", NULL};
	json_t *seen = NULL;
	int ret = remote_json(&rig->remote, arguments, &seen, NULL);

	if (ret)
		return ret;
	(void)snprintf(id, 64, "%.63s", json_get_text(seen, "boot_id", ""));
	json_decref(seen);
	return 0;
}

/* The agent was killed with the connection, or with us: nothing was run. */
static bool never_began(const struct outcome *outcome)
{
	return outcome->reason && !strcmp(outcome->reason, "not-started");
}

/* One try. ERR_TIMEOUT: nothing answered, try again. */
static int try_collect(struct rig *rig, const struct live *live, const struct store_run *run,
	int64_t left_ns, struct outcome *outcome, enum collected *end)
{
	char *place = collect_place(rig, run), boot_id[64] = "";
	const char *arguments[] = {"collect", place, NULL};
	struct remote_call call = {.arguments = arguments,
		.timeout_ns = left_ns,
		.max_bytes = runspec_reply_bytes(rig, run)};
	struct remote_answer answer = REMOTE_ANSWER_INIT;
	int ret = present_boot_id(rig, boot_id);

	if (!ret && strcmp(boot_id, live->boot_id))
		*end = COLLECT_DIED;
	else if (!ret)
		ret = remote_call(&rig->remote, &call, &answer, NULL);
	if (!ret && !strcmp(boot_id, live->boot_id)) {
		*end = COLLECT_NEVER_RAN;
		if (answer.end == REMOTE_OK && !outcome_parse(&answer.out, outcome, NULL))
			*end = never_began(outcome) ? COLLECT_NEVER_RAN : COLLECTED;
		else if (answer.end != REMOTE_NOT_FOUND)
			ret = ERR_TIMEOUT;
	}
	remote_answer_release(&answer);
	free(place);
	return ret && ret != ERR_INTERRUPTED ? ERR_TIMEOUT : ret;
}

int collect_reply(struct rig *rig, const struct live *live, const struct store_run *run,
	struct outcome *outcome, enum collected *end, struct err *err)
{
	int64_t patience = runspec_deadline_ns(rig, run);
	int64_t deadline;

	if (rig_is_booted(rig) && patience < rig->plan->machine->boot_timeout_ns)
		patience = rig->plan->machine->boot_timeout_ns;
	deadline = clock_now_ns() + patience;
	for (;;) {
		int64_t left = deadline - clock_now_ns();
		int ret = stop_check(err);

		if (ret)
			return ret;
		if (left <= 0 || !rig->remote.ops->alive(rig->remote.machine)) {
			*end = COLLECT_DIED;
			return 0;
		}
		ret = try_collect(rig, live, run, left, outcome, end);
		if (ret != ERR_TIMEOUT)
			return ret ? err_set(err, ret, "a stop was asked for") : 0;
		clock_sleep_ns(left < RETRY_NS ? left : RETRY_NS);
	}
}

/* Everything of a run that is about to be stored. */
struct storing {
	struct rig *rig;
	const struct store_boot *boot;
	const struct store_run *run;
	const struct outcome *outcome;
	const struct condition *condition;
	const struct store_condition *rows;
	struct arena arena;
	struct store_run_end end;
	struct store_raw raws[7];
	struct err why;
};

static int keep_part(struct storing *storing, const char *part, struct err *err)
{
	size_t len;
	const char *bytes = outcome_part(storing->outcome, part, &len);
	char *name, *path;
	int ret;

	if (!len)
		return 0;
	name = xasprintf("run-%03d.%d-%s", storing->run->position, storing->run->attempt_try, part);
	path = rig_raw_path(storing->rig, storing->boot, name);
	ret = raw_keep(&storing->arena, store_folder(storing->rig->engine->store), path, part,
		bytes, len, &storing->raws[storing->end.raw_count], err);
	storing->end.raw_count += !ret;
	free(name);
	free(path);
	return ret;
}

/* Counts per operation, of a run that was made for them; or the reason why there are none. */
static void read_counters(struct storing *storing, const struct reading *reading)
{
	struct counter_source source = {.condition = storing->condition,
		.reading = reading,
		.seconds = (double)storing->outcome->wall_ns / (double)NS_PER_S,
		.functions = storing->rig->engine->experiment->counting.functions};
	struct store_counter *counters;

	if (storing->run->kind != RUN_COUNTED)
		return;
	source.bytes = outcome_part(storing->outcome, "counters", &source.len);
	if (counting_read(&storing->arena, &source, &counters, &storing->end.counter_count,
		    &storing->why)) {
		storing->end.reason = "unparsable";
		storing->end.detail = storing->why.text;
		return;
	}
	storing->end.counters = counters;
}

/* The samples, or the reason why there are none. */
static void read_output(struct storing *storing)
{
	struct program_output output;
	struct reading reading = READING_INIT;
	struct store_sample *samples;

	output.out = outcome_part(storing->outcome, "stdout", &output.out_len);
	output.err_out = outcome_part(storing->outcome, "stderr", &output.err_len);
	if (reader_read(storing->condition, &output, &reading, &storing->why)) {
		storing->end.reason = "unparsable";
		storing->end.detail = storing->why.text;
		return;
	}
	samples = arena_alloc(&storing->arena, (reading.count + 1) * sizeof(*samples));
	for (size_t i = 0; i < reading.count; i++)
		samples[i] = (struct store_sample){
			.metric_id = storing->rows->metrics[reading.values[i].metric].id,
			.ordinal = reading.values[i].ordinal,
			.value = reading.values[i].value,
			.observations = reading.values[i].observations,
		};
	read_counters(storing, &reading);
	if (!storing->end.reason) {
		storing->end.samples = samples;
		storing->end.sample_count = reading.count;
	}
	reading_release(&reading);
}

static void find_flags(struct storing *storing, struct live *live)
{
	struct watch_run run = {
		.duration_ns = storing->condition->spec->duration_ns,
		.tolerance_pct = storing->condition->suite->tolerance_pct,
		.overrun_pct = storing->condition->suite->overrun_pct,
		.cpus = storing->condition->cpus,
		.clock_here_ns = storing->outcome->received_ns,
		.hooks = str_text(&live->trouble),
		.dmesg_allow = storing->rig->engine->experiment->dmesg_allow,
	};
	struct store_flag *flags;

	warmth_learn(storing->rig, storing->outcome->result);
	watch_flags(storing->outcome->result, &run, &live->watch, &storing->arena, &flags,
		&storing->end.flag_count);
	storing->end.flags = flags;
	live->kmsg_after = json_get_int(
		json_object_get(storing->outcome->result, "kmsg"), "next", live->kmsg_after);
}

static int write_rows(struct storing *storing, struct err *err)
{
	struct store *store = storing->rig->engine->store;
	int ret = store_begin(store, err);

	if (ret)
		return ret;
	ret = store_run_finish(store, &storing->end, err);
	fault_point("transaction");
	return store_finish(store, ret, err);
}

static void set_columns(struct storing *storing, const struct live *live)
{
	const struct outcome *outcome = storing->outcome;
	size_t suite =
		(size_t)(storing->condition->suite - storing->rig->engine->experiment->suites);

	storing->end = (struct store_run_end){
		.run_id = storing->run->id,
		.attempt_id = live->attempt_id,
		.program_id = storing->rig->program_ids[suite],
		.server_id = storing->rig->server_ids[suite],
		.reason = outcome->reason,
		.detail = outcome->detail,
		.started_ns = outcome->started_ns,
		.ended_ns = outcome->ended_ns,
		.wall_ns = outcome->wall_ns,
		.exit_code = outcome->exit_code,
		.signal = outcome->signal,
		.user_ns = outcome->user_ns,
		.system_ns = outcome->system_ns,
		.max_rss_bytes = outcome->max_rss_bytes,
		.voluntary_switches = outcome->voluntary_switches,
		.involuntary_switches = outcome->involuntary_switches,
		.raws = storing->raws,
	};
}

int collect_store(struct rig *rig, const struct store_boot *boot, struct live *live,
	const struct store_run *run, const struct outcome *outcome, struct str *failure,
	struct err *err)
{
	static const char *const parts[] = {"stdout", "stderr", "dmesg", "around", "counters"};
	struct storing storing = {
		.rig = rig,
		.boot = boot,
		.run = run,
		.outcome = outcome,
		.condition = &rig->plan->conditions[run->condition_position],
		.rows = &rig->rows->conditions[run->condition_position],
	};
	char *environment = outcome_environment(outcome);
	int ret = 0;

	set_columns(&storing, live);
	storing.end.environment = environment;
	if (!outcome->reason)
		read_output(&storing);
	find_flags(&storing, live);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && !ret; i++)
		ret = keep_part(&storing, parts[i], err);
	if (!ret && profiling_wants(rig, run) && !storing.end.reason)
		ret = profiling_keep(
			rig, boot, run, &storing.arena, storing.raws, &storing.end.raw_count, err);
	fault_point("raw");
	if (!ret)
		ret = write_rows(&storing, err);
	fault_point("stored");
	if (!ret && storing.end.reason)
		str_addf(failure, "%s: %s", storing.end.reason, storing.end.detail);
	arena_release(&storing.arena);
	free(environment);
	return ret;
}
