/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_OPT_H
#define KB_MODEL_OPT_H

#include "base/base.h"

#include "base/diag.h"
#include "base/err.h"
#include "base/mem.h"
#include "sys/json.h"
#include "sys/yaml.h"

/*
 * The option-table engine. One table per struct: each row names a key, its type and its field. The
 * same table reads a YAML mapping, parses a command line, writes --help, and writes the struct
 * back as JSON or YAML that reads as the same struct.
 *
 * A table ends with a row whose name is NULL. All memory given out is the arena's.
 */
enum opt_type {
	OPT_BOOL,     /* bool */
	OPT_INT,      /* int64_t */
	OPT_DOUBLE,   /* double */
	OPT_TEXT,     /* const char * */
	OPT_PATH,     /* const char *; resolved against the folder of the file; "~/" is home */
	OPT_BYTES,    /* int64_t */
	OPT_DURATION, /* int64_t, ns */
	OPT_PCT,      /* double, as a percentage: 31.25 */
	OPT_CHOICE,   /* an enum (of the size of int): index into choices */
	OPT_LIST,     /* const char *const *, NULL-ended and never NULL; text */
	OPT_PATHS,    /* the same, each as OPT_PATH */
	OPT_PCTS,     /* double * and, at count_offset, size_t */
	OPT_PAIRS,    /* struct pairs: text -> text */
	OPT_MAP,      /* a mapping with the table `rows` for the struct at offset; on a command line
			 its rows stand among the others */
	OPT_CUSTOM,   /* whatever `read` makes of the node */
};

struct opt;

struct opt_ctx {
	struct arena *arena;
	const char *dir;   /* what paths are resolved against; NULL: the current folder */
	struct diag *diag; /* for YAML; NULL on a command line */
};

/* 0, or ERR_USAGE with the end of a sentence that begins with the value ("is not a name: ..."). */
typedef int opt_check_fn(const char *text, struct err *err);
/* Reads a node into the struct at base; mistakes go to ctx->diag. */
typedef void opt_read_fn(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base);
/* The field as JSON, or NULL when there is nothing to write. New reference. */
typedef json_t *opt_json_fn(const struct opt *row, const void *base);

struct opt {
	const char *name;
	enum opt_type type;
	size_t offset;
	size_t count_offset;	    /* OPT_PCTS */
	const char *def;	    /* default, as it would be written; NULL: zero, empty or NULL */
	double min, max;	    /* of numbers; of the item count for lists, pairs and maps.
				       Both 0: 0 up to a bound of the type */
	const char *const *choices; /* OPT_CHOICE, NULL-ended */
	bool required;
	bool automatic;		 /* numbers: "auto" is allowed and stored as -1 */
	bool path;		 /* OPT_PAIRS: values are paths */
	const char *help;	 /* one sentence or less, without a full stop */
	opt_check_fn *check;	 /* of a text, or of each item or value */
	opt_check_fn *check_key; /* OPT_PAIRS */
	const struct opt *rows;	 /* OPT_MAP; OPT_CUSTOM: the table of its items, if any */
	opt_read_fn *read;	 /* OPT_CUSTOM */
	opt_json_fn *json;	 /* OPT_CUSTOM; NULL: never written */

	/* Command lines only. */
	char flag;	 /* short form, 0: none */
	bool positional; /* an argument, not an option; a list takes all that are left */
	const char *arg; /* what stands for the value in --help; NULL: chosen by type */
};

#define OPT_END              \
	{                    \
		.name = NULL \
	}

/* Fills in the defaults of a table, nested tables included. The struct must be zeroed before. */
void opt_defaults(const struct opt *rows, void *base, struct arena *arena);

/* Reads a mapping into *base (zeroed by the caller; defaults are filled in first). `what` names
 * the mapping in messages: "design". Every mistake goes to ctx->diag, then ERR_USAGE. */
KB_MUST_CHECK int opt_read_map(const struct opt_ctx *ctx, const struct opt *rows,
	const struct ynode *map, void *base, const char *what);

/* Reads one value as the row says, into the struct at base. */
void opt_read_value(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base);
/* Tells diag of keys that the table does not know, as opt_read_map does. */
void opt_check_keys(const struct opt_ctx *ctx, const struct opt *rows, const struct ynode *map,
	const char *what);
/* For opt_read_fn: the text of a scalar that is not null, or NULL after telling diag. */
const char *opt_node_text(const struct opt_ctx *ctx, const struct ynode *node, const char *what);
/* Adds "NAME: TEXT ERR" to ctx->diag at the node when the check fails; true when it passes. */
bool opt_node_check(const struct opt_ctx *ctx, const struct ynode *node, const char *what,
	const char *text, opt_check_fn *check);
/* True when the node has the kind; otherwise tells diag what is wanted. */
bool opt_node_is(const struct opt_ctx *ctx, const struct ynode *node, enum ynode_kind kind,
	const char *what);
/* diag_add at the node's place. */
KB_PRINTF(3, 4)
void opt_node_error(const struct opt_ctx *ctx, const struct ynode *node, const char *fmt, ...);
/* base overlaid with over: a key of over replaces the key of base, mappings are merged key by key.
 * Either may be NULL. Only keys that the table knows are taken. */
const struct ynode *opt_node_merge(struct arena *arena, const struct opt *rows,
	const struct ynode *base, const struct ynode *over);

/* Sets one field from its text, without looking at required. */
KB_MUST_CHECK int opt_set(const struct opt_ctx *ctx, const struct opt *row, const char *text,
	void *base, struct err *err);
/* A path as written, resolved as OPT_PATH does; the arena's. */
const char *opt_path(const struct opt_ctx *ctx, const char *text);
/* The folder of a file as ctx->dir: absolute when it exists. */
const char *opt_dir_of(struct arena *arena, const char *file);
/* The file `path` as written in `file`: resolved against its folder, kept as short as it can be
 * without meaning another file. For opening and for messages. */
const char *opt_file_beside(struct arena *arena, const char *file, const char *path);

/*
 * Parses a command line: `--name value`, `--name=value`, `-n value`, `-nvalue`, `-ab`, and
 * positional arguments; "--" ends the options. args is NULL-ended and holds no program name. A
 * list option may be repeated; percentages may be separated by commas. When a bool row named
 * "help" is set, missing arguments are not an error. ERR_USAGE names the nearest option.
 */
KB_MUST_CHECK int opt_parse_args(struct arena *arena, const struct opt *rows,
	const char *const *args, void *base, struct err *err);
/* The --help text: a usage line that begins with command ("kbracket run"), arguments, options; at
 * most 80 columns. */
void opt_write_help(const char *command, const struct opt *rows, struct str *out);

/* The struct as a JSON object whose keys and values are as a person would write them in YAML;
 * what is empty or NULL is left out. New reference. */
json_t *opt_json(const struct opt *rows, const void *base);
/* One field as JSON; NULL when there is nothing to write. New reference. */
json_t *opt_json_value(const struct opt *row, const void *base);
/* A JSON value as block-style YAML. */
void opt_write_yaml(const json_t *value, struct str *out);

/* Exact text of a value, such that reading it gives the same: "1500ms", "2G", "31.25%". */
void opt_add_duration(struct str *s, int64_t ns);
void opt_add_bytes(struct str *s, int64_t bytes);
void opt_add_pct(struct str *s, double pct);

#endif
