/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_IDENTITY_H
#define KB_RUN_IDENTITY_H

#include "base/base.h"

#include "run/engine_state.h"

/* What a program on a machine is. */
struct identity {
	const char *name;
	const char *path;	    /* there; NULL: it is not there */
	const char *sha256;	    /* set with path */
	const char *built;	    /* set with path; what the file says of it, "" nothing */
	const char *const *version; /* argv that prints its version; its first word stands for
				       path. Empty: not known how */
};

/* Fills in path, sha256 and built, in the engine's arena. */
KB_MUST_CHECK int identity_find(struct rig *rig, struct identity *program, struct err *err);

/* Appends the first line that it says of its version; nothing when it says none. */
void identity_ask_version(struct rig *rig, const struct identity *program, struct str *out);

/* Its row in the store, with its version. */
KB_MUST_CHECK int identity_store(
	struct rig *rig, const struct identity *program, int64_t *id, struct err *err);

#endif
