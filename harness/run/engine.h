/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_ENGINE_H
#define KB_RUN_ENGINE_H

#include "base/base.h"

#include "base/err.h"
#include "base/file.h"
#include "model/plan.h"
#include "model/store.h"
#include "run/backend_ops.h"
#include "run/progress.h"

/*
 * The engine walks an experiment's plan: builds, boots, proof, runs, results. It begins where the
 * journal says, so that a first run and a resumed one are the same walk. Everything is built first,
 * by the calling process and once for all machines; then several machines are walked at the same
 * time (workers.h).
 */
struct engine_options {
	const struct backend_ops *ops; /* backend_ops_real */
	const char *build_cache;       /* kernels/cache */
	const char *machine_cache;     /* guest images, keys, sockets */
	const char *agent;	       /* path of the static kbracket-agent here */
	const char *native_dir;	       /* where our own workloads were built */
	const char *version;	       /* of kbracket */
	int64_t jobs;		       /* make -j; 0: online CPUs */
	progress_fn *progress;	       /* NULL: none */
	void *arg;
	/* Called when a machine's plan (an index) was walked: appends what its results ask for to
	 * the plan and the store, and sets *grown when that is anything. Where there are several
	 * machines, in the machine's own process. NULL: plans stay as they are. */
	int (*grow)(void *grow_arg, size_t machine, bool *grown, struct err *err);
	void *grow_arg;
};

/*
 * Does what is left of an experiment that store_create wrote and store_extend appended to. plans:
 * of each machine, made again from the same experiment and what was appended (plan_make and
 * plan_extend are pure); ones that differ from the journal are ERR_USAGE. The experiment must be
 * the one that was stored.
 *
 * 0: every boot is done or failed, each with its reason. The experiment stays `started`: its caller
 * appends boots and walks again, or ends it (store_experiment_move). ERR_INTERRUPTED: a stop was
 * asked for. ERR_INFRA: something stands in the way (a machine can't be brought back, the disk is
 * full); what is left stays planned, and machines that nothing stood in the way of have been
 * walked to their end. After anything but 0 `kbracket resume` goes on. ERR_TIMEOUT: another
 * kbracket works on it, or on its only machine.
 */
KB_MUST_CHECK int engine_run(struct store *store, int64_t experiment_id,
	const struct experiment *experiment, const struct plan *plans,
	const struct engine_options *options, struct err *err);

/* Builds the variants of an experiment that is not stored, in order; a failure is told through
 * progress and in *failed, and the others go on. For `kbracket build`. */
KB_MUST_CHECK int engine_build(const struct experiment *experiment,
	const struct engine_options *options, int *failed, struct err *err);

/* Number of online CPUs of a machine whose file does not say: it is started and asked. */
KB_MUST_CHECK int engine_ask_cpus(const struct machine_spec *machine,
	const struct engine_options *options, int64_t *cpus, struct err *err);

/* The file of the lock below; the caller frees it. */
char *engine_lock_path(const struct store *store, int64_t experiment_id);
/* The lock that is held while an experiment is worked on; the caller releases it. ERR_TIMEOUT:
 * another kbracket holds it. */
KB_MUST_CHECK int engine_lock(
	struct store *store, int64_t experiment_id, struct file_lock *lock, struct err *err);

#endif
