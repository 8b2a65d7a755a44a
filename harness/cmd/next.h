/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_NEXT_H
#define KB_CMD_NEXT_H

#include "base/base.h"

#include "report/report.h"

/* Adds to a report that was loaded what can be tried next after a regression (report_next). The
 * sources of the two kernels are compared where their repository is on this host. */
void next_steps(struct report *report);

#endif
