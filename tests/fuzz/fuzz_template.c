/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Templates: any text expands or is refused with a word; what template_check refuses never
 * expands. */
#include "base/base.h"

#include "base/str.h"
#include "model/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static struct pair params[] = {
		{"p", "4"}, {"text", "a{b}"}, {"huge", "9223372036854775807"}};
	static const struct pairs pairs = {params, ARRAY_SIZE(params)};
	static const struct template_values values = {.workers = 15,
		.cpus = 48,
		.saturation_pct = 31.25,
		.seconds = 0.5,
		.params = &pairs};
	struct arena arena = ARENA_INIT;
	char *text = xstrndup((const char *)bytes, len);
	struct err err = ERR_INIT;
	const char *out = NULL;
	int checked = template_check(text, &pairs, &err);
	int expanded = template_expand(&arena, text, &values, &out, &err);

	if (expanded == 0 ? !out : !err.text[0])
		BUG("neither text nor a word about it");
	if (checked && expanded == 0)
		BUG("'%s' was refused and expands to '%s'", text, out);
	(void)template_uses(text, "workers");
	free(text);
	arena_release(&arena);
	return 0;
}
