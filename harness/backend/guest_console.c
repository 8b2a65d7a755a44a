/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "backend/guest_console.h"

void guest_console_set(struct guest_console *console, const char *path)
{
	int64_t size = file_size(path);
	char *copy = xstrdup(path);

	free(console->path);
	console->path = copy;
	console->from = size > 0 ? size : 0;
}

/* Freed by the caller; "" when it cannot be read. */
static char *said(const struct guest_console *console)
{
	size_t from = (size_t)console->from;
	struct str text = STR_INIT;
	char *copy = NULL;

	if (file_read(console->path, 64 << 20, &text, NULL) == 0 && text.len > from)
		copy = xstrdup(text.text + from); /* up to a NUL, which no kernel prints */
	str_release(&text);
	return copy ? copy : xstrdup("");
}

bool guest_console_shows(const struct guest_console *console, const char *mark)
{
	char *text = said(console);
	bool found = strstr(text, mark) != NULL;

	free(text);
	return found;
}

char *guest_console_panic(const struct guest_console *console)
{
	char *text = said(console), *at = strstr(text, "Kernel panic - "), *line = NULL;
	struct str safe = STR_INIT;

	if (at) {
		str_add_safe(&safe, at, strcspn(at, "\r\n"));
		line = str_take(&safe);
	}
	free(text);
	return line;
}

void guest_console_release(struct guest_console *console)
{
	free(console->path);
	*console = (struct guest_console){0};
}
