/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_KBUILD_H
#define KB_BACKEND_KBUILD_H

#include "base/base.h"

#include "base/file.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "sys/gitrepo.h"
#include "sys/sandbox.h"
#include "backend/builder.h"

/*
 * One kernel build from git, shared by builder_kbuild.c and the kbuild_*.c files. In the cache:
 *
 *   work/ID/            one source tree for a repository, and what is built in it
 *     src/              the checkout; files that are equal in two variants keep their times
 *     out-CONFIG/       make O=; one for each choice of base and fragments, so that going from one
 *                       variant to the next is an incremental build
 *   ccache/             of the build's user
 *   logs/               of builds under way and failed ones
 *   locks/ID            of work/ID, held also by everything that the build started; locks/KEY
 */
struct kbuild {
	const struct build_env *env;
	const struct variant *variant;
	const struct kbuild_arch *arch;
	struct arena *arena;

	struct gitid commit, tree;
	const char *compiler; /* version lines of compiler and linker */
	const char *cc;	      /* "gcc", or "ccache gcc" */
	char recipe[SHA256_HEX_LEN + 1];

	const char *work_id, *src, *out, *scratch, *log; /* paths */
	struct file_lock lock, key_lock;
	struct sandbox box;
	char key[SHA256_HEX_LEN + 1];
	char config_sha256[SHA256_HEX_LEN + 1];
};

/* What kbuild calls an architecture, and where its image is made. */
struct kbuild_arch {
	const char *name;   /* as in variants */
	const char *arch;   /* ARCH= */
	const char *target; /* what is made */
	const char *image;  /* below O= */
};
/* NULL when it cannot be built. */
const struct kbuild_arch *kbuild_arch_find(const char *name);

/* Opens the variant's repository, makes its commit, identifies the compiler and fills in commit,
 * tree, compiler, cc, recipe, and the paths. */
KB_MUST_CHECK int kbuild_read_recipe(struct kbuild *kb, struct gitrepo **repo, struct err *err);

/* Makes out/.config out of base and fragments and checks that every line of a fragment survived.
 * Fills in config_sha256 and key. */
KB_MUST_CHECK int kbuild_configure(struct kbuild *kb, struct err *err);

/* Looks after what a build would otherwise draw at random: gives module signatures one key for the
 * whole cache (and configures again when that changes something), and warns of structures laid out
 * at random, whose seed stays with the output folder. */
KB_MUST_CHECK int kbuild_fix_random(struct kbuild *kb, struct err *err);

/* Runs make in the sandbox with the usual variables, then the words up to the final NULL. Output
 * goes to the log; lines such as "  CC  kernel/fork.o" to the progress. ERR_INFRA names the log and
 * the first error in it. */
KB_MUST_CHECK __attribute__((sentinel)) int kbuild_make(struct kbuild *kb, struct err *err, ...);

/* Copies what belongs to the result into a folder of the cache and fills in *build, paths in that
 * folder included: image, config, log, modules as a folder and packed, build-id and release out of
 * vmlinux, what the code is. */
KB_MUST_CHECK int kbuild_collect(
	struct kbuild *kb, const char *folder, struct build *build, struct err *err);

/* Checks a resolved .config against fragments, one of which may override another before it.
 * ERR_USAGE names symbols and places. */
KB_MUST_CHECK int kbuild_check_fragments(
	const char *const *fragments, const char *config, struct err *err);

/* How the code is to lie, as changes of what is built (kbuild_layout.c): the name and text of a
 * patch that puts padding before the scheduler's text; lines of configuration, "" for none. */
void kbuild_layout_patch(const struct variant *variant, struct arena *arena, struct git_step *step);
const char *kbuild_layout_config(const struct variant *variant);
/* That the configuration took it. */
KB_MUST_CHECK int kbuild_layout_check(const struct kbuild *kb, struct err *err);

/* True when the resolved .config has exactly this line. */
bool kbuild_config_has(const struct kbuild *kb, const char *line);

/* Puts text behind out/.config and makes it a whole configuration again. */
KB_MUST_CHECK int kbuild_append_config(struct kbuild *kb, const char *text, struct err *err);

/* What is done to a variant's ref: reverts first, then cherry-picks, then patches. The arena's. */
KB_MUST_CHECK int kbuild_list_steps(const struct variant *variant, const char *cache_dir,
	struct arena *arena, struct git_step **steps, size_t *count, struct err *err);

#endif
