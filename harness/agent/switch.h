/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_SWITCH_H
#define KB_AGENT_SWITCH_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/*
 * One thing of the running machine that has a value and can be given another: a file of /proc/sys
 * or /sys, a scheduler feature, a service, a swap device. Whatever is written is read back.
 */
enum switch_kind {
	SWITCH_FILE,	/* at: path; any value */
	SWITCH_FEATURE, /* at: name without NO_; "on", "off" */
	SWITCH_SERVICE, /* at: systemd unit; "active", "inactive" */
	SWITCH_SWAP,	/* at: device or file; "off", or "on PRIORITY" */
	SWITCH_KINDS
};

struct switch_place {
	enum switch_kind kind;
	const char *at;
};

/* "file", ...; and back: SWITCH_KINDS for another text. */
const char *switch_kind_name(enum switch_kind kind);
enum switch_kind switch_kind_parse(const char *name);

/* Whether `at` is one that the kind may touch: paths below /proc/sys and /sys only. */
bool switch_is_allowed(const struct switch_place *place);

/* The present value, in the word that switch_write takes. ERR_NOT_FOUND when the machine has no
 * such thing, ERR_INFRA when it cannot be told. */
KB_MUST_CHECK int switch_read(
	const char *root, const struct switch_place *place, struct str *value, struct err *err);

/* Sets a value that is not there already, and reads it back. also: other words, between blanks,
 * that mean the value when read; NULL: none. Errors as of switch_read. */
KB_MUST_CHECK int switch_write(const char *root, const struct switch_place *place,
	const char *value, const char *also, struct err *err);

#endif
