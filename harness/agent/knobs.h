/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_KNOBS_H
#define KB_AGENT_KNOBS_H

#include "base/base.h"

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

/* Run-time switches of the kernel: written, and read back. */

/* The scheduler features as the kernel lists them, "GENTLE_FAIR_SLEEPERS NO_HRTICK ...", from
 * /sys/kernel/debug/sched/features or, before 5.13, sched_features. False when not there. */
bool knobs_features(const char *root, struct str *out);

/* Switches a feature on ("NI_RANDOM") or off ("NO_NI_RANDOM"). ERR_NOT_FOUND when this kernel has
 * no such feature, ERR_INFRA when it cannot be written or does not read back. */
KB_MUST_CHECK int knobs_set_feature(const char *root, const char *name, struct err *err);

/* Writes "KEY=VALUE": KEY is a sysctl with dots ("kernel.sched_child_runs_first"), or an absolute
 * path below /proc/sys or /sys. The value read back must be the same, blanks apart. Adds {key,
 * before, after} to the array, so that the caller can restore it. */
KB_MUST_CHECK int knobs_set_value(
	const char *root, const char *assignment, json_t *report, struct err *err);

#endif
