/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_READING_H
#define KB_TESTS_READING_H

#include "base/base.h"

#include "base/diag.h"
#include "base/mem.h"
#include "sys/yaml.h"

/* For tests of what reads YAML: text in, struct or messages out. */

static inline const struct ynode *yaml_of(struct arena *arena, const char *text)
{
	const struct ynode *node = NULL;
	struct diag diag = DIAG_INIT;
	struct str all = STR_INIT;

	if (yaml_read_text(arena, "test.yaml", text, strlen(text), &node, &diag)) {
		diag_write(&diag, &all);
		BUG("the test's YAML is wrong: %s", str_text(&all));
	}
	diag_release(&diag);
	return node;
}

/* All messages; *diag is empty afterwards. The arena's. */
static inline const char *messages(struct arena *arena, struct diag *diag)
{
	struct str all = STR_INIT;
	const char *kept;

	diag_write(diag, &all);
	kept = arena_strdup(arena, str_text(&all));
	str_release(&all);
	diag_release(diag);
	return kept;
}

/* All of them, shown whole when they differ: cmocka cuts long texts. */
#define assert_messages(arena, diag, expected)                                    \
	do {                                                                      \
		const char *seen_ = messages((arena), (diag));                    \
                                                                                  \
		if (strcmp(seen_, (expected)) != 0)                               \
			fprintf(stderr, "%s--- expected\n%s", seen_, (expected)); \
		assert_string_equal(seen_, (expected));                           \
	} while (0)

#endif
