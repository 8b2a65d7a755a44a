/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_CSV_H
#define KB_BASE_CSV_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/*
 * CSV as in RFC 4180: commas, fields in double quotes where needed, "" for a quote, LF or CRLF.
 * Read record by record from memory, so that a file of a million lines needs no tree.
 */
enum { CSV_FIELDS_MAX = 1024, CSV_RECORD_MAX = 65536 };

struct csv {
	const char *bytes;
	size_t len, at;
	int line;  /* of the record last read, from 1 */
	int ended; /* lines that have been used up */
	size_t count;
	const char *fields[CSV_FIELDS_MAX]; /* of the record last read, without quotes; borrowed */
	struct str text;
};

/* The bytes stay the caller's and must outlive *csv. A byte order mark is skipped. */
void csv_init(struct csv *csv, const char *bytes, size_t len);
/* Reads the next record; lines with nothing on them are skipped. 1: fields[0..count) hold it; 0: no
 * more; ERR_USAGE for more fields or bytes than allowed, an open quote, text after a closing quote,
 * or a NUL byte; the text begins with "line N: ". */
KB_MUST_CHECK int csv_next(struct csv *csv, struct err *err);
void csv_release(struct csv *csv);

/* Appends a field, in quotes when it needs them; a comma before it unless it starts a record. */
void csv_add(struct str *out, const char *field);

#endif
