/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "backend/reader_ops.h"
#include "sys/regex.h"

enum { ESCAPE = 0x1b };

/* How long the sequence is that sets a colour ("ESC[1;31m") or erases ("ESC[K"); 0: it is none. All
 * others stay: what moves the cursor changes what a person would see. */
static size_t sequence_len(const char *at, const char *end)
{
	const char *p = at + 1;

	if (p == end || *p++ != '[')
		return 0;
	while (p < end && ((*p >= '0' && *p <= '9') || *p == ';'))
		p++;
	return p < end && (*p == 'm' || *p == 'K') ? (size_t)(p + 1 - at) : 0;
}

void stream_clean(struct stream *stream, struct str *copy)
{
	const char *at = stream->bytes, *end = at + stream->len, *escape;

	if (!stream->len || !memchr(at, ESCAPE, stream->len))
		return;
	while (at < end && (escape = memchr(at, ESCAPE, (size_t)(end - at)))) {
		size_t len = sequence_len(escape, end);

		str_add_bytes(copy, at, (size_t)(escape - at) + (len ? 0 : 1));
		at = escape + (len ? len : 1);
	}
	str_add_bytes(copy, at, (size_t)(end - at));
	*stream = (struct stream){str_text(copy), copy->len};
}

int stream_narrow(struct stream *stream, const char *pattern, size_t *parts, struct err *err)
{
	struct stream part = {"", 0};
	struct regex_span span;
	struct regex *regex;
	size_t offset = 0;
	int ret = regex_compile(pattern, &regex, err);

	if (ret)
		return ret;
	while ((ret = regex_next(regex, stream->bytes, stream->len, &offset, &span, 1, err)) == 1) {
		(*parts)++;
		if (span.start != SIZE_MAX)
			part = (struct stream){stream->bytes + span.start, span.end - span.start};
	}
	regex_free(regex);
	if (ret)
		return ret;
	*stream = part;
	return 0;
}
