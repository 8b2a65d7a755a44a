/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_ERR_H
#define KB_BASE_ERR_H

#include "base/base.h"

/*
 * How a fallible function fails. Functions return 0 or the negative code and
 * describe the failure in the caller's struct err, one sentence that each
 * level may prefix with where it happened: "boot 3: machine guest: ssh: ...".
 */
enum err_code {
	ERR_NONE = 0,
	ERR_USAGE = -1,	      /* the person's input or configuration is wrong */
	ERR_INFRA = -2,	      /* build, boot, ssh, disk, network: the answer could not be had */
	ERR_INVALID = -3,     /* a measurement exists and must not be used */
	ERR_NOT_FOUND = -4,   /* the thing named does not exist */
	ERR_TIMEOUT = -5,     /* a deadline passed */
	ERR_INTERRUPTED = -6, /* the person asked us to stop (SIGINT, SIGTERM) */
};

struct err {
	enum err_code code;
	char text[2048];
};

#define ERR_INIT             \
	{                    \
		ERR_NONE, "" \
	}

/* Replaces what *err says and returns the code, so that callers write
 * `return err_set(err, ERR_INFRA, "...")`. Too long a text is cut. err may be NULL. */
KB_PRINTF(3, 4) int err_set(struct err *err, enum err_code code, const char *fmt, ...);

/* As err_set, with ": " and strerror(errno_value) at the end. */
KB_PRINTF(4, 5)
int err_errno(struct err *err, enum err_code code, int errno_value, const char *fmt, ...);

/* Prefixes the text with a clause and ": ", keeps the code and returns it. */
KB_PRINTF(2, 3) int err_wrap(struct err *err, const char *fmt, ...);

/* One word for a code: "usage", "infrastructure", ... */
const char *err_code_name(enum err_code code);

#endif
