/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_SIGNALS_H
#define KB_BASE_SIGNALS_H

#include "base/base.h"

/* Every signal to its default, none blocked: for a child between fork and exec. libc keeps two
 * signals from its own functions, but a parent may have left them ignored all the same. */
void signals_reset(void);

#endif
