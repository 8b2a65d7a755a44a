/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_BISECT_LOG_H
#define KB_MODEL_BISECT_LOG_H

#include "base/base.h"

#include "model/bisect.h"

/*
 * A bisect as YAML text: what `bisect log` prints and `bisect replay` decides again from, without
 * repository, machine or database. Such a file can also be written by hand:
 *
 *	bisect: name
 *	metric: requests
 *	better: higher
 *	in-order: true		# false: the boots stand in another order than that of time
 *	steps:			# oldest first; the first is the good end
 *	  - [name, subject, author]
 *	events:
 *	  - boot: name		# of a step
 *	    values: [1, 2, 3]	# of the runs of one boot
 *	  - skip: name
 *	    text: why
 *	  - good: name
 *
 * Without a stage every step is a kernel that has all that the ones before it have.
 */
void bisect_log_write(const struct bisect_record *record, struct str *out);

/* Everything in the arena; name stands for the file in messages. ERR_USAGE with all mistakes in the
 * text, ERR_INVALID for a stage that is no chain. */
KB_MUST_CHECK int bisect_log_read(struct arena *arena, const char *name, const char *text,
	size_t len, struct bisect_record *out, struct err *err);

#endif
