/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_LAB_H
#define KB_BACKEND_LAB_H

#include "base/base.h"

#include "base/sha256.h"
#include "base/strv.h"
#include "backend/machine_ops.h"
#include "sys/ssh.h"

/*
 * Inside the ssh kind of machine only: a Linux host in somebody's lab, with a distribution, a disk
 * and a boot loader. Its *own* kernel is the one that it starts by itself; kernels of kbracket's
 * have LAB_MARK on their command line, which no kernel acts on.
 */
#define LAB_MARK "kbracket.boot=1"

struct lab {
	struct ssh *ssh;
	char *own_cmdline;  /* of its own kernel, without what a boot loader adds; NULL: not known
			       yet */
	struct strv staged; /* images, as here, that this session has put there whole */
	int turns; /* restarts and power cycles since a kernel of ours came up */
};

static inline struct lab *lab_of(struct machine *machine)
{
	return machine->state;
}

/* Runs a shell script there, as root, with arguments up to the final NULL; it must end with 0.
 * *out (replaced; may be NULL) gets what it printed. */
KB_MUST_CHECK int lab_script(struct machine *machine, int64_t timeout_ns, struct str *out,
	struct err *err, const char *script, const char *const *arguments);

/* Whether the kernel that runs there is one of kbracket's, and its release (replaced). */
KB_MUST_CHECK int lab_running(
	struct machine *machine, bool *is_ours, struct str *release, struct err *err);

/* Finds out what the machine's own kernel has on its command line; what was found is kept on the
 * machine, because later kernels are started from kernels of ours. */
KB_MUST_CHECK int lab_learn(struct machine *machine, struct err *err);

/* The whole command line of a kernel of ours, freed by the caller: the mark, the words of the
 * machine's own kernel unless its file says where the root is, and the given ones. */
char *lab_cmdline(const struct machine_spec *spec, const char *own, const char *cmdline);
/* The words of a running kernel's command line that another kernel can be started with; freed by
 * the caller. */
char *lab_own_words(const char *running);

/* Brings image, modules and initramfs there, as machine_ops.stage. */
KB_MUST_CHECK int lab_stage(struct machine *machine, const struct boot_image *image, char **kernel,
	char **initrd, struct err *err);

/* SHA-256 over the modules below folder: of the list that `find . -name '*.ko*' -type f | sort |
 * xargs sha256sum` prints there. The size of all files there is added to *bytes. */
KB_MUST_CHECK int lab_modules_sum(
	const char *folder, char hex[SHA256_HEX_LEN + 1], int64_t *bytes, struct err *err);

/* The machine runs its own kernel again, after whatever it takes; *err tells what was tried. */
KB_MUST_CHECK int lab_recover(struct machine *machine, struct err *err);

#endif
