/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/toggle.h"

static bool boot_is_part(const struct store_boot *boot)
{
	for (size_t a = 0; a < boot->attempt_count; a++)
		if (strcmp(boot->attempts[a].method, TOGGLE_METHOD) == 0)
			return true;
	return false;
}

bool toggle_seen(const struct store_view *view)
{
	for (size_t m = 0; m < view->machine_count; m++)
		for (size_t b = 0; b < view->machines[m].boot_count; b++)
			if (boot_is_part(&view->machines[m].boots[b]))
				return true;
	return false;
}
