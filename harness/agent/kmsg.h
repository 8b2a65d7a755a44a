/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_KMSG_H
#define KB_AGENT_KMSG_H

#include "base/base.h"

#include <jansson.h>

#include "base/str.h"

/* The kernel's log around a run, from /dev/kmsg (Documentation/ABI/testing/dev-kmsg). */

/* A reader that stands at the end of the log now; -1 when there is no log to read. */
int kmsg_mark(void);

/*
 * What was logged: all records after sequence number `after` (-1: only those since the mark). *text
 * gets them as "<LEVEL>[SECONDS] TEXT" lines, at most 256 KiB. The object, a new reference, has
 *
 *	next		sequence number of the newest record seen: `after` of the next run; null if
 *			none was seen
 *	records		number of records
 *	during		how many of them came after the mark
 *	warnings	of level warning or worse, since the mark
 *	worst_level	smallest level since the mark, null if none
 *	warning_lines	the first 20 of those warnings
 *	cut, lost	the text is not all; the ring buffer overran
 */
json_t *kmsg_since(int mark, int64_t after, struct str *text);

/* One record as read from /dev/kmsg, "LEVEL,SEQ,USEC,FLAGS;TEXT\n KEY=VALUE...". False when it is
 * malformed. text points into the record and is text_len long. */
struct kmsg_record {
	int level;
	int64_t seq, usec;
	const char *text;
	size_t text_len;
};
bool kmsg_parse(const char *record, struct kmsg_record *out);

#endif
