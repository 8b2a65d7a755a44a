/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_MACHINE_H
#define KB_MODEL_MACHINE_H

#include "base/base.h"

#include "base/diag.h"
#include "base/mem.h"
#include "model/opt.h"
#include "model/pair.h"
#include "model/tune.h"

/* What kernels are booted on: one configs/machines/NAME.yaml. All memory is the arena's. */
enum machine_kind { MACHINE_SSH, MACHINE_QEMU, MACHINE_LOCAL };
enum boot_method { BOOT_KEXEC, BOOT_DIRECT, BOOT_REBOOT, BOOT_NONE };
enum qemu_accel { ACCEL_AUTO, ACCEL_KVM, ACCEL_TCG };

struct qemu_spec {
	int64_t cpus;
	int64_t llcs; /* last-level-cache domains; divides cpus */
	int64_t memory_bytes;
	enum qemu_accel accel;
	const char *program; /* "qemu-system-x86_64" */
	const char *cpu;     /* QEMU CPU model; NULL: chosen by us for the accelerator */
};

/* How a host is reached. */
struct ssh_host {
	const char *to;	    /* destination as for ssh(1) */
	const char *config; /* of ssh(1); NULL: the user's */
};

enum { MACHINE_CPUS_MAX = 65536 };

/* Runs begin within this of the temperature that the first boot's first run began at. */
struct temperature_spec {
	double within_c; /* 0: not asked */
	int64_t wait_ns; /* for it to cool down, at most */
};

struct machine_spec {
	const char *name;
	struct place place;
	enum machine_kind kind;
	struct ssh_host ssh;   /* MACHINE_SSH */
	struct qemu_spec qemu; /* MACHINE_QEMU */
	enum boot_method boot;
	const char *cmdline;		/* kernel command line that this machine needs; "" */
	const char *const *initramfs;	/* argv run on the machine, with {initrd} and {release} for
					   template_expand; empty: by the machine's distribution */
	int64_t cold_every; /* every so-manieth boot goes through the firmware; 0: none does */
	int64_t keep;			/* kernels of ours that stay on the machine */
	const char *const *power_cycle; /* argv run here; empty: none */
	int64_t power_wait_ns;		/* for a machine that does not answer, before that */
	int64_t power_limit;		/* restarts and power cycles without a kernel coming up */
	int64_t boot_timeout_ns;	/* from the jump to a proved kernel */
	int64_t cpus;			/* online CPUs when the file says so; 0: ask the machine */
	struct tune tune;		/* how it is set while it is measured */
	struct temperature_spec temperature;
	struct pairs programs; /* program name -> path here, copied to the machine */
	const char *workdir;   /* ours on the machine; root-owned, 0700 */
};

KB_MUST_CHECK int machine_read(
	struct arena *arena, const char *path, struct machine_spec *out, struct diag *diag);
/* The same from a mapping already read. */
KB_MUST_CHECK int machine_read_node(
	struct arena *arena, const struct ynode *node, struct machine_spec *out, struct diag *diag);
/* As a mapping that machine_read_node reads back. New reference. */
json_t *machine_json(const struct machine_spec *machine);
const char *machine_kind_name(enum machine_kind kind);
const char *boot_method_name(enum boot_method method);

extern const struct opt machine_opts[];
extern const struct opt qemu_opts[]; /* of connect: {qemu: {...}} */
extern const struct opt ssh_opts[];  /* of connect: {ssh: {...}} */

#endif
