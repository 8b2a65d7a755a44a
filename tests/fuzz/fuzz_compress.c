/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compressed streams out of kernel images: any bytes unpack to at most the bound, or are refused;
 * what we pack ourselves comes back. */
#include "base/base.h"

#include "sys/compress.h"

enum { MAX_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_own(const uint8_t *bytes, size_t len)
{
	struct str packed = STR_INIT, out = STR_INIT;
	struct err err = ERR_INIT;

	compress_pack_zstd(bytes, len, &packed);
	if (compress_unpack(COMPRESS_ZSTD, packed.text, packed.len, len, &out, &err) != 0)
		BUG("what was packed does not unpack: %s", err.text);
	if (out.len != len || (len && memcmp(out.text, bytes, len) != 0))
		BUG("what was packed has changed");
	str_release(&packed);
	str_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	enum compress_format format = compress_detect(bytes, len);
	struct str out = STR_INIT;
	struct err err = ERR_INIT;

	if (compress_unpack(format, bytes, len, MAX_BYTES, &out, &err) == 0) {
		if (out.len > MAX_BYTES)
			BUG("unpacked beyond the bound");
	} else if (!err.text[0] || out.text) {
		BUG("refused without a word");
	}
	str_release(&out);
	if (len < 64)
		check_own(bytes, len);
	return 0;
}
