/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/log.h"
#include "cmd/answer.h"
#include "cmd/next.h"
#include "judge/judge.h"
#include "judge/suites.h"
#include "version.h"

struct layout answer_layout(void)
{
	return (struct layout){
		.columns = ui_columns(), .utf8 = ui_utf8(), .colour = ui_stdout_colour()};
}

int answer_judge(struct cmd *cmd, int64_t experiment_id, struct err *err)
{
	struct store_age age;
	int ret = store_verdict_age(cmd->store, experiment_id, &age, err);

	if (ret)
		return ret;
	if (age.judged_ns > age.evidence_ns && strcmp(age.version, KB_VERSION) == 0)
		return 0;
	log_line(LOG_DEBUG, "judging experiment %lld", (long long)experiment_id);
	return judge_experiment(cmd->store, experiment_id, KB_VERSION, err);
}

static enum status status_of_report(const struct report *report, bool allow_open)
{
	switch (report_outcome(report)) {
	case OUTCOME_REGRESSED:
		return STATUS_REGRESSION;
	case OUTCOME_FINE:
		return STATUS_FINE;
	case OUTCOME_OPEN:
		if (report_infra_failed(report))
			return STATUS_INFRA;
		return allow_open ? STATUS_FINE : STATUS_OPEN;
	}
	BUG("no such outcome");
}

enum status answer_write(struct cmd *cmd, const struct report *report, bool allow_open)
{
	struct layout layout = answer_layout();
	struct str out = STR_INIT;

	if (cmd->global->json)
		report_write_json(report, &out);
	else
		report_write_text(report, &layout, &out);
	if (!cmd->global->json && cmd->global->verbose)
		report_write_numbers(report, &layout, &out);
	ui_write_text(&out);
	str_release(&out);
	return status_of_report(report, allow_open);
}

int answer_report(struct cmd *cmd, int64_t experiment_id, bool allow_open, struct err *err)
{
	struct report report;
	struct suite_mean *suites;
	int ret = answer_judge(cmd, experiment_id, err);

	if (!ret)
		ret = report_load(cmd->store, experiment_id, cmd->arena, &report, err);
	if (!ret)
		ret = judge_suites(
			cmd->store, &report.view, cmd->arena, &suites, &report.suite_count, err);
	if (ret)
		return ret;
	report.suites = suites;
	next_steps(&report);
	return (int)answer_write(cmd, &report, allow_open);
}

void answer_json(json_t *value)
{
	struct str out = STR_INIT;

	json_write(value, true, &out);
	str_add_char(&out, '\n');
	ui_write_text(&out);
	str_release(&out);
	json_decref(value);
}
