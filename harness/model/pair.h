/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_PAIR_H
#define KB_MODEL_PAIR_H

#include "base/base.h"

/* A mapping from text to text as written in a file, in its order. */
struct pair {
	const char *key;
	const char *value;
};

struct pairs {
	struct pair *items;
	size_t count;
};

/* Where something was written, for messages. */
struct place {
	const char *file;
	int line, column;
};

#endif
