/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_YAML_H
#define KB_SYS_YAML_H

#include "base/base.h"

#include "base/diag.h"
#include "base/err.h"
#include "base/mem.h"

/*
 * A YAML file as a tree of nodes with positions. Bounds: 1 MiB of text, 100,000 nodes, 64 levels;
 * anchors and aliases are refused (they are how small files become huge ones), as are tags,
 * several documents, duplicate keys, keys that are not plain scalars, invalid UTF-8, and tabs used
 * as indentation. Every refusal has file:line:column.
 */
enum ynode_kind { YNODE_SCALAR, YNODE_SEQ, YNODE_MAP };

struct ynode {
	enum ynode_kind kind;
	const char *file;     /* as given by the caller */
	int line, column;     /* 1-based */
	const char *text;     /* YNODE_SCALAR: its text, never NULL */
	bool quoted;	      /* YNODE_SCALAR: written in quotes or as a block: always a string */
	size_t count;	      /* items of a sequence, pairs of a mapping */
	struct ynode **keys;  /* YNODE_MAP: scalars */
	struct ynode **items; /* values */
};

/* Reads a file. On failure every problem found is added to diag and ERR_USAGE is returned. The
 * nodes live in the arena. An empty file gives an empty mapping. */
KB_MUST_CHECK int yaml_read_file(
	struct arena *arena, const char *path, const struct ynode **out, struct diag *diag);
/* The same for text in memory; name stands for the file in messages. */
KB_MUST_CHECK int yaml_read_text(struct arena *arena, const char *name, const char *text,
	size_t len, const struct ynode **out, struct diag *diag);

/* The value of a key, NULL when absent or when node is not a mapping. */
const struct ynode *ynode_get(const struct ynode *node, const char *key);
/* True for a plain scalar null, ~ or nothing. */
bool ynode_is_null(const struct ynode *node);

#endif
