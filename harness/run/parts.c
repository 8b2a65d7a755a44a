/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "run/parts.h"

static bool is_toggled(const struct rig *rig)
{
	return rig->engine->experiment->design.order == ORDER_TOGGLE;
}

/* As the journal has it: another kbracket may have begun the block. */
static const char *stored_boot_id(const struct store_boot *boot)
{
	for (size_t a = boot->attempt_count; a-- > 0;)
		if (!strcmp(boot->attempts[a].outcome, "proved"))
			return boot->attempts[a].kernel_boot_id;
	return NULL;
}

const char *parts_boot_id(const struct rig *rig, const struct store_boot *boot)
{
	if (!is_toggled(rig))
		return NULL;
	if (rig->toggle_block == boot->block)
		return rig->toggle_boot_id;
	for (size_t i = 0; i < rig->rows->boot_count; i++) {
		const struct store_boot *part = &rig->rows->boots[i];
		const char *id = part->block == boot->block ? stored_boot_id(part) : NULL;

		if (id)
			return id;
	}
	return NULL;
}

void parts_note(struct rig *rig, const struct store_boot *boot, const char *boot_id)
{
	rig->toggle_block = boot->block;
	(void)snprintf(rig->toggle_boot_id, sizeof(rig->toggle_boot_id), "%s", boot_id);
}
