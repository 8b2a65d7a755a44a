/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_HEALTH_H
#define KB_REPORT_HEALTH_H

#include "base/base.h"

#include "model/machine.h"
#include "report/health_list.h"
#include "sys/json.h"

/*
 * What would spoil a measurement on a machine, by what was read there. All of it came from outside:
 * what is not there, or of another type, is not judged.
 */

/* By the agent's facts. spec: its file; what tune: sets is no fault. NULL: there is none. */
void health_facts(struct health *findings, const json_t *facts, const struct machine_spec *spec);

/* By the agent's survey (its survey.h), a look at what the machine does while nobody measures.
 * programs: the names that it was asked for. */
void health_survey(struct health *findings, const json_t *survey, const struct machine_spec *spec,
	const char *const *programs);

/* By the running kernel's configuration, as text: options that cost. */
void health_config(struct health *findings, const char *config);

/* By what `systemctl list-timers` printed. */
void health_timers(struct health *findings, const char *list, const struct machine_spec *spec);

/* By the running kernel's command line: what it has of mitigations and the kernels under test will
 * not have, or the other way round. */
void health_cmdline(struct health *findings, const char *running, const struct machine_spec *spec);

#endif
