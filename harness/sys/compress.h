/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_COMPRESS_H
#define KB_SYS_COMPRESS_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/* Formats found in kernel images and packages; known by their first bytes. */
enum compress_format {
	COMPRESS_NONE,
	COMPRESS_GZIP,
	COMPRESS_XZ,
	COMPRESS_LZMA,
	COMPRESS_ZSTD,
	COMPRESS_LZ4, /* the legacy frame that the kernel's build uses, and the modern one */
};

const char *compress_format_name(enum compress_format format);
/* By magic number. */
enum compress_format compress_detect(const void *bytes, size_t len);

/* Decompresses one stream at the start of bytes; what follows its end is ignored (kernel images
 * append a length). More than max_bytes of output is ERR_INVALID, as is a damaged or cut stream.
 * COMPRESS_NONE copies. *out is replaced on success. */
KB_MUST_CHECK int compress_unpack(enum compress_format format, const void *bytes, size_t len,
	size_t max_bytes, struct str *out, struct err *err);

/* Packs as zstd, level 6, with a checksum: raw output in the results folder. *out is replaced. */
void compress_pack_zstd(const void *bytes, size_t len, struct str *out);

#endif
