/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a program's file. */
#include "base/base.h"

#include "base/built.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct str built = STR_INIT;

	built_of(bytes, len, &built);
	for (size_t i = 0; i < built.len; i++)
		if ((unsigned char)built.text[i] < ' ' || built.text[i] == 0x7f)
			BUG("it is not safe to print");
	if (built.len > 10000)
		BUG("it is long");
	str_release(&built);
	return 0;
}
