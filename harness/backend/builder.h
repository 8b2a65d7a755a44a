/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_BUILDER_H
#define KB_BACKEND_BUILDER_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/variant.h"

/* Where builds live and how they are made. */
struct build_env {
	const char *cache_dir; /* kernels/cache */
	int64_t jobs;	       /* make -j; 0: online CPUs */
	void (*progress)(
		void *arg, const char *line); /* one line of what is going on; may be NULL */
	void *arg;
};

/* The artefact of a variant's source + config + compiler, in cache_dir/KEY/. All text is the
 * arena's; "" where there is nothing. */
struct build {
	const char *key;	  /* 64 hex digits */
	const char *commit;	  /* what was built: git show tells all of it; "" for prebuilt */
	const char *tree;	  /* git tree id; "" for prebuilt */
	const char *release;	  /* uname -r */
	const char *proc_version; /* /proc/version as it must read; "" when unknown */
	const char *build_id;	  /* hex of the GNU build-id note; "" when it could not be read */
	const char *code_sha256;  /* of what it does: builds with the same need to be measured
				     only once (code_identity.h); "" when not known */
	const char *image;	  /* path of the bzImage */
	const char *modules;	  /* path of a folder holding lib/modules/RELEASE; "" when none */
	const char *config;	  /* path of the resolved .config; "" when not known */
	const char *config_sha256;
	const char *compiler; /* version line */
	const char *log;      /* path; "" for prebuilt */
	bool from_cache;      /* nothing had to be made */
	int64_t seconds;      /* that making took, also when it was made earlier */
};

/* What a ref means today, read only: for the plan. */
struct resolved {
	const char *commit;  /* of the ref, before reverts and patches; "" for prebuilt */
	const char *subject; /* its subject line */
};

struct builder {
	const char *name;
	/* Reads only. ERR_USAGE when a ref, file or package does not exist. */
	int (*resolve)(const struct variant *variant, struct arena *arena, struct resolved *out,
		struct err *err);
	/* Makes the build or finds it in the cache; one at a time per key on this host (lock).
	 * ERR_USAGE for a recipe that cannot work (a patch that does not apply), ERR_INFRA for a
	 * failed build with the log's path and its first error line in the text. */
	int (*build)(const struct build_env *env, const struct variant *variant,
		struct arena *arena, struct build *out, struct err *err);
};

extern const struct builder builder_kbuild;
extern const struct builder builder_prebuilt;

/* The builder for a variant. */
const struct builder *builder_for(const struct variant *variant);

#endif
