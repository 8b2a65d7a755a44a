/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_SHA256_H
#define KB_BASE_SHA256_H

#include "base/base.h"

#include "base/err.h"

/* SHA-256 (FIPS 180-4): content keys and checks of what was copied. */
enum { SHA256_HEX_LEN = 64 };

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;
	unsigned char block[64];
};

void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *bytes, size_t len);
/* Adds a field that may be NULL, marked and ended so that a list of fields has one reading only. */
void sha256_add_field(struct sha256 *hash, const char *text);
/* Writes 64 lower-case hex digits and a NUL; hash is used up. */
void sha256_hex(struct sha256 *hash, char hex[SHA256_HEX_LEN + 1]);
/* Of a memory block in one call. */
void sha256_of(const void *bytes, size_t len, char hex[SHA256_HEX_LEN + 1]);
/* Of a whole regular file; anything else is ERR_USAGE. */
KB_MUST_CHECK int sha256_of_file(const char *path, char hex[SHA256_HEX_LEN + 1], struct err *err);

#endif
