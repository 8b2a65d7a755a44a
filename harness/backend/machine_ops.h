/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_MACHINE_OPS_H
#define KB_BACKEND_MACHINE_OPS_H

#include "base/base.h"

#include "backend/machine.h"

/*
 * Inside backend/ only: what a kind of machine and a boot method have to provide. A NULL function
 * means "not supported", which machine.c tells.
 */
struct machine_ops {
	const char *name;
	bool unchecked_kexec; /* staged images cannot be damaged: kexec need not check them */
	/* Makes machine->state; no contact yet. */
	int (*open)(struct machine *machine, struct err *err);
	/* Makes the machine answer. machine.c then puts the agent and the programs there. */
	int (*start)(struct machine *machine, const struct boot_image *safe, struct err *err);
	/* Power cycle and wait for the safe kernel. */
	int (*recover)(struct machine *machine, const struct boot_image *safe, struct err *err);
	int (*exec)(struct machine *machine, const struct proc_spec *spec,
		struct proc_result *result, struct err *err);
	/* The first file on a machine that has no agent yet: machine_put without it. */
	int (*put_agent)(struct machine *machine, struct err *err);
	/* Brings a kernel to where kexec on the machine can load it. On success the paths, on the
	 * machine, are the caller's to free; *initrd is NULL when the kernel needs none. */
	int (*stage)(struct machine *machine, const struct boot_image *image, char **kernel,
		char **initrd, struct err *err);
	/* Whether what answers after a boot is a kernel of ours at all: ERR_INFRA when it is the
	 * machine's own again. NULL: it cannot be another one. */
	int (*came_up)(struct machine *machine, const struct boot_image *image, struct err *err);
	/* Ends what runs and starts it with this kernel from outside (QEMU's -kernel). */
	int (*start_with)(struct machine *machine, const struct boot_image *image, struct err *err);
	/* The whole command line of a kernel to be booted from within, freed by the caller; called
	 * after stage. NULL: it is the image's own. */
	char *(*cmdline)(struct machine *machine, const char *cmdline);
	/* 1: worth connecting to; 0: not yet; negative: it never will be. NULL: always worth it. */
	int (*ready)(struct machine *machine, struct err *err);
	/* From here on the console goes to this file. */
	int (*console)(struct machine *machine, const char *path, struct err *err);
	/* False when it has certainly ended; NULL: nobody knows. */
	bool (*alive)(struct machine *machine);
	/* The old kernel has been left (a kexec): connections to it are of no use any more. */
	void (*forget)(struct machine *machine);
	void (*close)(struct machine *machine); /* frees machine->state, which may be NULL */
};

struct boot_ops {
	const char *name;
	/* As machine_boot, without the wait for the agent when wait_after is set. */
	int (*boot)(struct machine *machine, const struct boot_image *image, struct err *err);
	bool wait_after; /* machine.c waits for the agent to answer from a new boot_id */
	/* Once it is up: that nothing of the start is left that would be in the way. NULL: nothing
	 * ever is. */
	int (*check)(struct machine *machine, struct err *err);
};

struct machine {
	const struct machine_spec *spec;
	const struct machine_env *env;
	const struct machine_ops *ops;
	const struct boot_ops *boot;
	void *state;		   /* of the kind */
	struct strv program_paths; /* on the machine, as env->programs; "" when not there */
	char *workdir;		   /* on the machine */
	char *agent;		   /* path on the machine */
	char *about;
};

extern const struct machine_ops machine_qemu, machine_ssh, machine_local;
extern const struct boot_ops boot_kexec, boot_direct, boot_reboot, boot_none;

/* A shut-down and a start through the firmware, after the session that asked for it has ended. */
extern const char *const machine_reboot_argv[];

/* The folder of this user for sockets and the files of guests: /tmp/kbracket-UID, since the path of
 * a socket may have 107 bytes only. Nobody else can write to it. What killed kbrackets have left in
 * it (NAME-PID-...) is removed. *out is the caller's to free. */
KB_MUST_CHECK int machine_private_folder(char **out, struct err *err);

/* Runs a command there that must end with 0; its last words are in the error. */
KB_MUST_CHECK int machine_check(
	struct machine *machine, const struct proc_spec *spec, struct err *err);
/* The same; *out (replaced; may be NULL) gets what it printed. */
KB_MUST_CHECK int machine_ask(
	struct machine *machine, const struct proc_spec *spec, struct str *out, struct err *err);
KB_MUST_CHECK int machine_command(
	struct machine *machine, const char *const *argv, int64_t timeout_ns, struct err *err);

/* Reads the machine's present boot_id through the agent; out is replaced. ERR_INFRA or ERR_TIMEOUT
 * when the machine does not answer within timeout_ns. */
KB_MUST_CHECK int machine_boot_id(
	struct machine *machine, int64_t timeout_ns, struct str *out, struct err *err);

/* Waits until the agent answers from a boot other than old_boot_id (NULL: from any), at most until
 * the monotonic deadline. */
KB_MUST_CHECK int machine_wait_answer(
	struct machine *machine, const char *old_boot_id, int64_t deadline_ns, struct err *err);

#endif
