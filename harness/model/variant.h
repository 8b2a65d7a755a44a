/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_VARIANT_H
#define KB_MODEL_VARIANT_H

#include "base/base.h"

#include "base/diag.h"
#include "base/mem.h"
#include "model/opt.h"
#include "model/pair.h"

/*
 * Variants: named recipes for kernels under test, from one kernels/NAME.yaml. A variant is built
 * from a git ref or prebuilt; one that is neither is for machines that are never booted, and runs
 * on the kernel that is there. What `like:` names is already merged in. Paths are resolved against
 * the folder of the file. All memory is the arena's.
 */
struct prebuilt_spec {
	const char *image;   /* path of a bzImage; NULL: none */
	const char *modules; /* folder holding lib/modules/RELEASE or RELEASE itself; may be NULL */
	const char *package; /* name of a Debian kernel package, exact or with a * at its end */
};

struct kconfig_spec {
	const char *base;	      /* a make target (defconfig, ...), or a path: has a '/' */
	const char *const *fragments; /* paths, in order, later ones win; NULL-ended */
};

struct variant {
	const char *name;
	const char *about; /* one line for reports; "" when not given */
	struct place place;
	const char *like;    /* the variant it was derived from; NULL */
	const char *against; /* another baseline than the experiment's; NULL */
	bool control;	     /* the same kernel as `against` under another label: whatever differs
				between the two is the machine's doing */

	bool is_prebuilt;
	struct prebuilt_spec prebuilt; /* when is_prebuilt */

	const char *tree;	    /* git repository; when not prebuilt */
	const char *ref;	    /* NULL: it has no kernel of its own */
	const char *const *reverts; /* refs, applied in order; NULL-ended, never NULL */
	const char *const *picks;
	const char *const *patches; /* a file, a folder, or lore:MESSAGE-ID [+ " sha256:HEX"] */
	const char *lore_url;	    /* base URL for lore: patches; MESSAGE-ID/raw follows it */
	struct kconfig_spec config;
	const char *arch; /* "x86_64" */
	/* Where its code lies, and not what it does: */
	bool align_functions;  /* every function begins at 64 bytes */
	int64_t pad_scheduler; /* bytes put before the scheduler's text; 0: none */
	const char *layout_of; /* made from that variant by layout_null; NULL: it was written */

	/* What differs only at run time: the build is shared. */
	const char *cmdline;	     /* added to the machine's; "" */
	const char *const *features; /* scheduler features, NAME or NO_NAME */
	struct pairs sysctls;
	const char *const *scheduler; /* argv of a sched_ext scheduler; empty: none */
};

struct kernels {
	const char *file;
	struct variant *variants;
	size_t count;
};

/* False when it runs on whatever kernel is there. */
bool variant_has_kernel(const struct variant *variant);

/* Reads a kernels file. Every mistake goes to diag, then ERR_USAGE. */
KB_MUST_CHECK int kernels_read(
	struct arena *arena, const char *path, struct kernels *out, struct diag *diag);
/* The same from a mapping already read; node->file says what paths are relative to. */
KB_MUST_CHECK int kernels_read_node(
	struct arena *arena, const struct ynode *node, struct kernels *out, struct diag *diag);
/* NULL when there is no such variant. */
const struct variant *kernels_find(const struct kernels *kernels, const char *name);
/* True when both give the same kernel binary by recipe (they may still differ at run time). */
bool variant_same_recipe(const struct variant *a, const struct variant *b);
/* True when they are one kernel run one way, whatever they are called and compared with. */
bool variant_same_kernel(const struct variant *a, const struct variant *b);
/* The recipe as compact JSON text, all defaults filled in: stored with the experiment. Freed by
 * the caller. */
char *variant_json(const struct variant *variant);
/* Variants as a mapping that kernels_read_node reads back: {variants: {...}}. New reference. */
json_t *kernels_json(const struct variant *variants, size_t count);

extern const struct opt kernels_opts[];
extern const struct opt variant_opts[]; /* the table of each variant */

#endif
