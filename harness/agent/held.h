/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_HELD_H
#define KB_AGENT_HELD_H

#include "base/base.h"

#include <jansson.h>

#include "base/err.h"

#include "agent/scheduler.h"
#include "agent/switch.h"

/*
 * What was changed on the machine and what it was before: one file in a folder that is root's
 * alone, written and synced before anything is changed. It outlives every process; only a restart
 * of the machine, which undoes all of it, makes it void (it names the boot).
 */
struct held_entry {
	char *key; /* as it was asked for: "governor" */
	enum switch_kind kind;
	char *at, *original;
};

struct held {
	char *path, *boot_id;
	struct held_entry *entries; /* in the order in which they were changed */
	size_t count, capacity;
	struct scheduler scheduler; /* pid 0: none */
	json_t *scheduler_argv;	    /* of it; NULL: none */
};

/* Reads the file, which need not be there; one of another boot counts as empty. ERR_INFRA when its
 * folder is not ours alone, or the file is damaged. held_release in any case. */
KB_MUST_CHECK int held_read(const char *root, const char *path, struct held *held, struct err *err);
/* Written atomically and synced; removed when nothing is held. */
KB_MUST_CHECK int held_write(const struct held *held, struct err *err);

/* NULL when the place is not held. */
const struct held_entry *held_find(const struct held *held, const struct switch_place *place);
/* The first original that was added is the one that stays. */
void held_add(
	struct held *held, const char *key, const struct switch_place *place, const char *original);
void held_remove(struct held *held, size_t index);
/* What the file says: {boot_id, entries: [{key, kind, at, original}], scheduler}. New reference. */
json_t *held_json(const struct held *held);
void held_release(struct held *held);

#endif
