/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_GUEST_RUN_H
#define KB_BACKEND_GUEST_RUN_H

#include "base/base.h"

#include "base/err.h"
#include "model/machine.h"

/*
 * One QEMU process: its arguments, its files, its end. It dies with us however we end
 * (PR_SET_PDEATHSIG in sys/proc). Its monitor socket is in a private folder; the only way in from
 * the network is one port on the loopback address that leads to the guest's ssh server.
 */
struct guest_run;

struct guest_start {
	const struct qemu_spec *spec;
	enum qemu_accel accel; /* ACCEL_KVM or ACCEL_TCG */
	const char *kernel, *initrd, *cmdline;
	const char *console; /* appended to */
	const char *disk;    /* of guest_disk.h */
	const char *dir;     /* private folder for sockets and QEMU's own messages */
	int64_t deadline_ns; /* monotonic: when QEMU must be running */
};

/* Starts it. ERR_INFRA with QEMU's own message when it ends at once, ERR_TIMEOUT when its monitor
 * does not open before the deadline. */
KB_MUST_CHECK int guest_run_start(
	const struct guest_start *start, struct guest_run **out, struct err *err);
/* The port on 127.0.0.1 that leads to the guest's ssh server. */
int guest_run_port(const struct guest_run *run);
/* 0 while it runs; ERR_INFRA and how it ended (a panic ends it) when it has. */
KB_MUST_CHECK int guest_run_check(struct guest_run *run, struct err *err);
/* The CPU time that QEMU and the guest in it have used; 0 when that cannot be known. */
int64_t guest_run_cpu_ns(const struct guest_run *run);
KB_MUST_CHECK int guest_run_console(struct guest_run *run, const char *path, struct err *err);
/* Ends it and frees. NULL is fine. */
void guest_run_end(struct guest_run *run);

#endif
