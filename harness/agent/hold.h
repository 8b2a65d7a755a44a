/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_HOLD_H
#define KB_AGENT_HOLD_H

#include "base/base.h"

#include <jansson.h>

#include "base/err.h"

/*
 * Makes the machine what it was originally, except for what is listed: "KEY=VALUE" as in tunable.h,
 * later ones win, and a sched_ext scheduler. What an earlier call changed and this one does not
 *list is put back; what both list keeps the original that was saved first. With an empty list
 *everything is put back.
 *
 * *report, a new reference also on failure, has
 *
 *	held		[{key, before, after, error, missing}]: before is the original; error a
 *			sentence, null when it is as asked for; missing: the machine has no such
 *thing left		[{key, at, original, error}]: what could not be put back scheduler
 *{ops, error, missing}; null when none was asked for features	all scheduler features as they are
 *now
 *
 * 0 also when some of it could not be done. ERR_USAGE when an item is no KEY=VALUE, ERR_INFRA when
 * nothing was done because what was before cannot be kept.
 */
KB_MUST_CHECK int hold(const char *root, const char *path, const char *const *items,
	const char *const *scheduler, json_t **report, struct err *err);

#endif
