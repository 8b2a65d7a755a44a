/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perf report printed on a measured machine. */
#include "base/base.h"

#include "report/profile_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct arena arena = ARENA_INIT;
	struct profile_text text;
	struct err err = ERR_INIT;
	int64_t sum = 0;

	if (profile_text_read(&arena, (const char *)bytes, len, &text, &err) == 0) {
		for (size_t i = 0; i < text.count; i++) {
			sum += text.symbols[i].samples;
			if (text.symbols[i].samples < 0 || sum < 0 || !text.symbols[i].name[0] ||
				(i && strcmp(text.symbols[i - 1].name, text.symbols[i].name) >= 0))
				abort();
		}
	}
	arena_release(&arena);
	return 0;
}
