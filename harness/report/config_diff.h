/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_REPORT_CONFIG_DIFF_H
#define KB_REPORT_CONFIG_DIFF_H

#include "base/base.h"

#include "base/strv.h"

/* Options in which two resolved .config texts differ, as "NAME a -> b" without CONFIG_, in order of
 * name; "not set" where one has none. Options that only tell the compiler's version are left out.
 * Appended to *out. */
void config_diff(const char *a, const char *b, struct strv *out);

#endif
