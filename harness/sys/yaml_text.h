/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_YAML_TEXT_H
#define KB_SYS_YAML_TEXT_H

#include "base/base.h"

#include "base/diag.h"

/* The bytes of a YAML file and where its lines begin. Private to yaml.c. */
struct yaml_text {
	const char *name; /* borrowed */
	char *text;	  /* NUL-ended */
	size_t len;
	size_t *lines; /* offsets */
	size_t line_count, line_capacity;
};

/* Copies the text, finds the lines and refuses what is not plain UTF-8 text of bounded size: the
 * first such place is added to diag. Release in every case. */
KB_MUST_CHECK int yaml_text_init(
	struct yaml_text *text, const char *name, const char *bytes, size_t len, struct diag *diag);
void yaml_text_release(struct yaml_text *text);

/* True when only blanks stand before a column (from 0) of a line (from 0) and one of the line's
 * leading blanks is a tab; *tab_column is then its column. */
bool yaml_text_tab_before(
	const struct yaml_text *text, size_t line, size_t column, size_t *tab_column);

#endif
