/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_FEATURE_H
#define KB_MODEL_FEATURE_H

#include "base/base.h"

#include "base/strv.h"

/*
 * Features of the kernel's scheduler: switches that debugfs turns at run time. A kernel lists them
 * as "GENTLE_FAIR_SLEEPERS NO_TTWU_QUEUE ...": those that are off begin with NO_. Its source
 * declares them with SCHED_FEAT(NAME, default) and asks for them with sched_feat(NAME).
 */

/* Whether a kernel's list has the feature, on or off; and whether it is on. */
bool feature_listed(const char *list, const char *name);
bool feature_on(const char *list, const char *name);

/* Adds those that a list has on. */
void feature_list_on(const char *list, struct strv *out);

/* Adds, once each, the features that a unified diff declares, takes away or asks for, in lines that
 * it changes or that stand beside them; those with a changed line first. Any text will do. */
void feature_list_touched(const char *diff, struct strv *out);

#endif
