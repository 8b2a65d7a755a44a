/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_GUEST_TSC_H
#define KB_BACKEND_GUEST_TSC_H

#include "base/base.h"

/* The speed of the time stamp counter that a TCG guest sees, which is this host's, in kHz; 0 where
 * there is none. Measured over 50 ms once, then kept. */
int64_t guest_tsc_khz(void);

#endif
