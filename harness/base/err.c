/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdarg.h>

#include "base/err.h"

void kb_bug(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "kbracket: bug at %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	char text[sizeof(err->text)]; /* the arguments may hold err's own text */
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)snprintf(err->text, sizeof(err->text), "%s", text);
	return code;
}

int err_errno(struct err *err, enum err_code code, int errno_value, const char *fmt, ...)
{
	size_t used;
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	used = strlen(err->text);
	(void)snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(errno_value));
	return code;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	size_t used;
	va_list ap;

	if (!err)
		return ERR_INFRA;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	used = strlen(err->text);
	(void)snprintf(err->text + used, sizeof(err->text) - used, ": %s", old);
	return err->code;
}

const char *err_code_name(enum err_code code)
{
	switch (code) {
	case ERR_NONE:
		return "none";
	case ERR_USAGE:
		return "usage";
	case ERR_INFRA:
		return "infrastructure";
	case ERR_INVALID:
		return "invalid";
	case ERR_NOT_FOUND:
		return "not found";
	case ERR_TIMEOUT:
		return "timeout";
	case ERR_INTERRUPTED:
		return "interrupted";
	}
	return "unknown";
}
