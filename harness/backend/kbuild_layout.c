/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "backend/kbuild.h"

/* Builds whose code lies elsewhere and does the same. */

/* The first object of the scheduler in link order: what stands at its head comes before all of the
 * scheduler's text. Ten lines before what has been the file's first one since 5.2. */
static const char padding[] =
	"--- a/kernel/sched/core.c\n"
	"+++ b/kernel/sched/core.c\n"
	"@@ -1,1 +1,11 @@\n"
	"+/* kbracket: %lld bytes of padding before the scheduler's text. Nothing runs there. */\n"
	"+#ifdef CONFIG_X86\n"
	"+asm(\".pushsection .text, \\\"ax\\\"\\n\"\n"
	"+    \"\\t.skip %lld, 0x90\\n\"\n"
	"+    \"\\t.popsection\");\n"
	"+#else\n"
	"+asm(\".pushsection .text, \\\"ax\\\"\\n\"\n"
	"+    \"\\t.skip %lld\\n\"\n"
	"+    \"\\t.popsection\");\n"
	"+#endif\n"
	" // SPDX-License-Identifier: GPL-2.0-only\n";

void kbuild_layout_patch(const struct variant *variant, struct arena *arena, struct git_step *step)
{
	long long bytes = variant->pad_scheduler;
	const char *text = arena_printf(arena, padding, bytes, bytes, bytes);

	*step = (struct git_step){GIT_STEP_PATCH,
		arena_printf(arena, "%lld bytes of padding before the scheduler", bytes), "", text,
		strlen(text)};
}

const char *kbuild_layout_config(const struct variant *variant)
{
	return variant->align_functions ? "CONFIG_EXPERT=y\n"
					  "CONFIG_DEBUG_FORCE_FUNCTION_ALIGN_64B=y\n"
					: "";
}

int kbuild_layout_check(const struct kbuild *kb, struct err *err)
{
	if (!kb->variant->align_functions ||
		kbuild_config_has(kb, "CONFIG_DEBUG_FORCE_FUNCTION_ALIGN_64B=y"))
		return 0;
	return err_set(err, ERR_USAGE,
		"functions cannot be aligned: CONFIG_DEBUG_FORCE_FUNCTION_ALIGN_64B did not "
		"survive "
		"in the kernel configuration (kernels from 5.17 on have it)");
}
