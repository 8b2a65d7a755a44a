/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_ZOMBIES_H
#define KB_TESTS_ZOMBIES_H

#include "base/base.h"

#include <unistd.h>

#include "base/file.h"
#include "base/strv.h"

/* Children of this process in a state as /proc/PID/stat has it: 'Z' ended and not reaped; 0: any.
 */
static inline int children_in_state(char wanted)
{
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;
	int count = 0;

	if (file_list("/proc", &names, &err))
		BUG("%s", err.text);
	for (size_t i = 0; i < names.count; i++) {
		char *path = xasprintf("/proc/%s/stat", names.items[i]);
		struct str stat = STR_INIT;
		const char *close;
		char state;
		int parent;

		if (names.items[i][0] >= '1' && names.items[i][0] <= '9' &&
			!file_read(path, 4096, &stat, &err) &&
			(close = strrchr(str_text(&stat), ')')) &&
			sscanf(close + 1, " %c %d", &state, &parent) == 2)
			count += parent == (int)getpid() && (!wanted || state == wanted);
		str_release(&stat);
		free(path);
	}
	strv_release(&names);
	return count;
}

#endif
