/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_GUEST_CONSOLE_H
#define KB_BACKEND_GUEST_CONSOLE_H

#include "base/base.h"

/* The file that a guest's console goes to now. What stands in it before `from` is of an earlier
 * start. */
struct guest_console {
	char *path;
	int64_t from;
};

/* From here on the console is that file's, whatever is in it already. */
void guest_console_set(struct guest_console *console, const char *path);
/* Whether a text has been printed since. */
bool guest_console_shows(const struct guest_console *console, const char *mark);
/* The line in which the kernel has told of its panic, without control characters; NULL when it has
 * not. Freed by the caller. */
char *guest_console_panic(const struct guest_console *console);
void guest_console_release(struct guest_console *console);

#endif
