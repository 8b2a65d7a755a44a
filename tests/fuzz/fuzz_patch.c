/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patches from anywhere: any bytes give a patch or a sentence; a patch applies to any text or says
 * which hunk does not. The part before the first NUL is the patch, what follows the file. */
#include "base/base.h"

#include "base/str.h"
#include "sys/mail.h"
#include "sys/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void apply(const struct patch_file *file, const char *old, size_t len)
{
	struct str out = STR_INIT;
	struct err err = ERR_INIT;
	size_t hunk = SIZE_MAX;

	if (patch_apply(file, old, len, &out, &hunk, &err) != 0 &&
		(!err.text[0] || hunk >= file->hunk_count || out.len))
		BUG("a refusal without a hunk");
	str_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes;
	size_t patch_len = strnlen(text, len);
	struct arena arena = ARENA_INIT;
	struct str mail = STR_INIT;
	struct err err = ERR_INIT;
	struct patch patch;

	if (mail_add_text(text, len, &mail, &err) != 0 && !err.text[0])
		BUG("refused without a word");
	if (patch_parse(&arena, "fuzz", text, patch_len, &patch, &err) == 0)
		for (size_t i = 0; i < patch.file_count && i < 100; i++) {
			apply(&patch.files[i], text + patch_len, len - patch_len);
			apply(&patch.files[i], text, len);
		}
	str_release(&mail);
	arena_release(&arena);
	return 0;
}
