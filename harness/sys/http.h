/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_HTTP_H
#define KB_SYS_HTTP_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

struct http_request {
	const char *url;    /* https; http only to a loopback address (a local mirror or a test) */
	size_t max_bytes;   /* 0: 16 MiB */
	int64_t timeout_ns; /* for the whole transfer; 0: 60 s */
};

/* GET. Redirects are followed within the same scheme, host and port only, at most 5. TLS is
 * verified. A status other than 200 is ERR_INFRA (404: ERR_NOT_FOUND) with the status and URL in
 * the text. *body is replaced on success. Ends early with ERR_INTERRUPTED when a stop is asked. */
KB_MUST_CHECK int http_get(const struct http_request *request, struct str *body, struct err *err);

/* Appends text percent-encoded as one path segment (RFC 3986 unreserved characters stay). */
void http_add_escaped(struct str *out, const char *text);

#endif
