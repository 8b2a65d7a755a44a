/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_BACKEND_OPS_H
#define KB_RUN_BACKEND_OPS_H

#include "base/base.h"

#include "backend/builder.h"
#include "backend/machine.h"

/* What the engine needs of the backends, as in their headers: backend_ops_real, or a test's own. */
struct backend_ops {
	const struct builder *(*builder_for)(const struct variant *variant);
	int (*open)(const struct machine_spec *spec, const struct machine_env *env,
		struct machine **out, struct err *err);
	int (*start)(struct machine *machine, const struct boot_image *safe, struct err *err);
	int (*boot)(struct machine *machine, const struct boot_image *image,
		const char *console_path, struct err *err);
	int (*recover)(struct machine *machine, const struct boot_image *safe, struct err *err);
	int (*equip)(struct machine *machine, struct err *err);
	int (*exec)(struct machine *machine, const struct proc_spec *spec,
		struct proc_result *result, struct err *err);
	bool (*alive)(struct machine *machine);
	const char *(*workdir)(const struct machine *machine);
	const char *(*agent)(const struct machine *machine);
	const char *(*program_path)(const struct machine *machine, const char *name);
	const char *(*boot_method)(const struct machine *machine);
	const char *(*about)(const struct machine *machine);
	void (*close)(struct machine *machine);
};

extern const struct backend_ops backend_ops_real;

#endif
