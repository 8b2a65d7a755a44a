/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_ENGINE_STATE_H
#define KB_RUN_ENGINE_STATE_H

#include "base/base.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/strv.h"
#include "model/store_view.h"
#include "run/engine.h"
#include "run/estimate.h"
#include "run/remote.h"
#include "run/watch.h"

/* Inside run/ only: what the steps of a walk share. */
struct engine {
	struct store *store;
	int64_t experiment_id;
	const struct experiment *experiment;
	const struct plan *plans;
	const struct engine_options *options;
	struct arena arena;
	struct store_view view; /* as it was at the start */
	struct build *builds;	/* by variant */
	bool *built;
	struct estimate *estimate;
	int64_t started_ns;
	size_t machine; /* that this process walks (an index); ENGINE_ALL: none in particular */
};

#define ENGINE_ALL SIZE_MAX

/* The view, the estimate and what is left, anew: a plan has grown. Of the engine's machine. */
KB_MUST_CHECK int engine_reload(struct engine *engine, struct err *err);

/* A program or server that the machine has by itself, as it was when the machine was opened. */
struct own_program {
	const struct suite *suite;
	const char *name, *path, *sha256;
};

/* A machine while its boots are walked. */
struct rig {
	struct engine *engine;
	size_t index; /* of the machine in the experiment */
	const struct plan *plan;
	const struct store_machine *rows;
	struct machine_env env;
	struct machine_program *programs; /* by suite */
	const char **program_paths;	  /* on the machine, by suite; NULL: an optional one that is
					     not there */
	const char *perf_path;		  /* on the machine; NULL: nothing needs it */
	int64_t *program_ids;		  /* in the store, by suite */
	int64_t *server_ids;		  /* of what serves it; 0: nothing */
	struct own_program *own_programs; /* that are not ours, and may change */
	size_t own_count;
	struct remote remote;
	struct file_lock lock;
	struct boot_image safe;
	int64_t boot_id; /* of the boot that is walked, or comes next */
	/* order: toggle: the block whose parts are in this start of the kernel */
	int toggle_block;
	char toggle_boot_id[64];
	int64_t first_mc;	/* temperature that its first run began at; -1: not known */
	bool held;		/* something is changed on it that must be put back */
	bool full;		/* its disk is: nothing more can be run on it */
	struct strv complaints; /* of its settings, told already */
};

/* A kernel that was proved and is being measured in. */
struct live {
	int64_t attempt_id;
	int attempt_number;
	char boot_id[64];
	struct watch_boot watch;
	int64_t kmsg_after;
	struct str trouble;    /* hooks of this boot, then of this run, that failed */
	size_t boot_trouble;   /* how much of it is the boot's */
	struct str last_place; /* folder of the last run on the machine, to be forgotten */
	bool died;
	bool measured; /* it died under counters, when all that is measured was there */
};

/* The text a step is told with; fills in what the engine knows. boot may be NULL. */
void engine_tell(struct engine *engine, struct progress *progress);
void rig_tell(
	struct rig *rig, const struct store_boot *boot, enum progress_kind kind, const char *text);

/* What is left of a boot is no longer to be done: for the estimate. */
void engine_discount(struct engine *engine, size_t machine, const struct store_boot *boot);

/* ERR_INFRA when there is hardly any room left for results: nothing new is begun then, because a
 * full disk must not cost a boot. */
KB_MUST_CHECK int engine_check_room(const struct engine *engine, struct err *err);

/* An event row; a failure to store it is not worth stopping for. */
void engine_note(struct engine *engine, int64_t boot_id, const char *kind, const char *fmt, ...)
	KB_PRINTF(4, 5);

/* True when no build is needed: the machine's running kernel is what is measured. */
static inline bool rig_is_booted(const struct rig *rig)
{
	return rig->plan->machine->boot != BOOT_NONE;
}

/* Relative path of a boot's raw files, without what comes after the last "/". */
char *rig_raw_path(const struct rig *rig, const struct store_boot *boot, const char *name);

#endif
