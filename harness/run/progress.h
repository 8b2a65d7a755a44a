/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_PROGRESS_H
#define KB_RUN_PROGRESS_H

#include "base/base.h"

#include "model/run_kind.h"

/* What the engine is doing, for cmd/ to draw. Text is borrowed during the call; NULL where it does
 * not apply. */
enum progress_kind {
	PROGRESS_BUILD,	       /* variant: being built or looked up */
	PROGRESS_BUILD_LINE,   /* text: one line of the build */
	PROGRESS_BUILT,	       /* text: "from the cache" or how long it took */
	PROGRESS_BUILD_FAILED, /* text: why */
	PROGRESS_MACHINE,      /* machine: being started; then again with text: how it is run */
	PROGRESS_BOOT,	       /* boot k of n: its kernel is being started */
	PROGRESS_PROVED,       /* text: release, and "weak proof" where it is */
	PROGRESS_BOOT_FAILED,  /* text: why; a try, or the boot when it was the last one */
	PROGRESS_RECOVER,      /* the machine is being brought back */
	PROGRESS_RUN,	       /* run j of m in this boot begins: condition */
	PROGRESS_RUN_END,      /* text: NULL, or why it failed */
	PROGRESS_BOOT_END,
	PROGRESS_END, /* everything was walked */
};

struct progress {
	enum progress_kind kind;
	const char *machine, *variant, *condition, *text;
	int boot, boots; /* of this machine; 0 before the first */
	int run, runs;	 /* of this boot */
	enum run_kind run_kind;
	int64_t elapsed_ns; /* of this session */
	int64_t left_ns; /* of all, estimated; measured durations replace declared ones as they come
			  */
	bool measured;	 /* the estimate rests on durations that were seen */
	int at_work;	 /* machines that are walked at the same time; 0: this one only */
};

typedef void progress_fn(void *arg, const struct progress *progress);

#endif
