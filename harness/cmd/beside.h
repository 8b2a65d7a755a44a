/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_BESIDE_H
#define KB_CMD_BESIDE_H

#include "base/base.h"

#include "judge/others.h"
#include "report/layout.h"

/* Another program's words beside ours. */
void beside_write_text(const struct others *others, const struct layout *layout, struct str *out);
/* {"schema", "as", "rule", "only_theirs", "only_ours", "rows": [...]}; changes in percent. */
void beside_write_json(const struct others *others, struct str *out);

#endif
