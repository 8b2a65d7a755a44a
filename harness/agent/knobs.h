/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_KNOBS_H
#define KB_AGENT_KNOBS_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/* Where the kernel has its run-time switches. */

/* The scheduler features as the kernel lists them, "GENTLE_FAIR_SLEEPERS NO_HRTICK ...", from
 * /sys/kernel/debug/sched/features or, before 5.13, sched_features. False when not there. */
bool knobs_features(const char *root, struct str *out);

/* The file that lists them and takes a feature's name; the newer place where neither is there. */
const char *knobs_feature_file(const char *root);

/* Whether a feature, named without NO_, is on. ERR_NOT_FOUND when this kernel has no such feature.
 */
KB_MUST_CHECK int knobs_feature(const char *root, const char *name, bool *on, struct err *err);

/* The file of a sysctl with dots ("kernel.sched_child_runs_first", or with slashes for names that
 * have dots in them), or the absolute path below /proc/sys or /sys that the key is; NULL for
 * anything else. Freed by the caller. */
char *knobs_path(const char *key);

#endif
