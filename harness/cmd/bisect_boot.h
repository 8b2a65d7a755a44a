/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_BISECT_BOOT_H
#define KB_CMD_BISECT_BOOT_H

#include "base/base.h"

#include "cmd/bisect.h"

/* One step on the machine, for bisect_walk. */

/* Finishes the boot that was asked for last, when it is not ended, and notes what it shows about a
 * step that cannot be measured. */
KB_MUST_CHECK int bisect_settle(struct bisect_job *job, struct err *err);

/* Makes the kernel of a step, unless that is known to fail or was done before. What comes of it is
 * an event: built, or skip. *tried: it was tried, so that there is one. */
KB_MUST_CHECK int bisect_build(struct bisect_job *job, int position, bool *tried, struct err *err);

/* Appends a boot of the step with so many runs, and makes it. */
KB_MUST_CHECK int bisect_boot(struct bisect_job *job, int position, int64_t runs, struct err *err);

/* Index of a plan's condition by its name, which must be there. */
size_t bisect_condition(const struct plan *plan, const char *name);

#endif
