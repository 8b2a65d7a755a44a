/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_CMD_H
#define KB_CMD_CMD_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/strv.h"
#include "cmd/ui.h"
#include "model/opt.h"
#include "model/store.h"

/* What kbracket ends with. Where several are true: usage, regression, infra, open, fine. */
enum status {
	STATUS_FINE = 0,
	STATUS_REGRESSION = 1,
	STATUS_USAGE = 2, /* also configuration */
	STATUS_INFRA = 3, /* build, boot, ssh, disk kept the answer from being known */
	STATUS_OPEN = 4,  /* inconclusive or invalid */
	STATUS_STOPPED = 130,
};

/* Options of every verb. Each verb's options begin with them. */
struct global {
	const char *results; /* folder */
	const char *db;	     /* file; NULL: kbracket.db in results */
	int colour;	     /* enum ui_colour */
	bool verbose, json, help, version;
};

extern const struct opt global_rows[];

/* The first row of every verb's table. */
#define GLOBAL_ROWS(options)                                                                   \
	{                                                                                      \
		.name = "global", .type = OPT_MAP, .offset = offsetof(struct options, global), \
		.rows = global_rows                                                            \
	}

/* Rows that several verbs have, for their members `jobs` (int64_t) and `allow_inconclusive`. */
#define JOBS_ROW(options)                                                                      \
	{                                                                                      \
		.name = "jobs", .flag = 'j', .type = OPT_INT,                                  \
		.offset = offsetof(struct options, jobs), .def = "0", .max = 4096, .arg = "N", \
		.help = "parallel jobs of kernel builds; 0 is one for each CPU"                \
	}
#define ALLOW_INCONCLUSIVE_ROW(options)                                                 \
	{                                                                               \
		.name = "allow-inconclusive", .type = OPT_BOOL,                         \
		.offset = offsetof(struct options, allow_inconclusive),                 \
		.help = "exit 0 instead of 4 when something is inconclusive or invalid" \
	}

enum verb_needs {
	NEEDS_NOTHING,
	NEEDS_READ,   /* the database, which must exist */
	NEEDS_CHANGE, /* the same, to write to */
	NEEDS_WRITE,  /* the database, made when absent */
};

/* What a verb works with. */
struct cmd {
	struct arena *arena;
	const struct global *global;
	const char *db_path;
	const char *command_line; /* as typed, quoted: stored and printed in reports */
	struct store *store;	  /* NULL for NEEDS_NOTHING */
};

struct verb {
	const char *name;
	const char *summary; /* half a sentence for the list of verbs */
	const char *about;   /* what --help says before the options */
	enum verb_needs needs;
	const struct opt *rows;
	size_t bytes; /* of the options struct */
	/* A status, or a negative enum err_code. */
	int (*run)(struct cmd *cmd, const void *options, struct err *err);
};

extern const struct verb verb_init, verb_doctor, verb_calibrate, verb_plan, verb_build, verb_run,
	verb_resume, verb_status, verb_report, verb_compare, verb_show, verb_profile, verb_suite,
	verb_reread, verb_judge, verb_bisect, verb_export, verb_import, verb_prune;

/* Every verb, NULL-ended, in the order in which they are used. */
extern const struct verb *const verbs[];

/* The status for an error. */
enum status status_of_error(enum err_code code);
/* The one that counts of two: precedence 2, 1, 3, 4, 0. */
enum status status_worse(enum status a, enum status b);

#endif
