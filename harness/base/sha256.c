/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"

static const uint32_t round_constants[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
	0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152,
	0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
	0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624,
	0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3,
	0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void expand_block(uint32_t w[64], const unsigned char *block)
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

/* The eight working variables change places in every round; naming them anew instead of moving them
 * makes this several times as fast, and images of 100 MB are hashed. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                               \
	do {                                                                           \
		uint32_t t = (h) + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +    \
			     (((e) & (f)) ^ (~(e) & (g))) + round_constants[i] + w[i]; \
                                                                                       \
		(d) += t;                                                              \
		(h) = t + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +             \
		      (((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c)));                       \
	} while (0)

static void compress(uint32_t state[8], const unsigned char *block)
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
	uint32_t w[64];

	expand_block(w, block);
	for (int i = 0; i < 64; i += 8) {
		ROUND(a, b, c, d, e, f, g, h, i);
		ROUND(h, a, b, c, d, e, f, g, i + 1);
		ROUND(g, h, a, b, c, d, e, f, i + 2);
		ROUND(f, g, h, a, b, c, d, e, i + 3);
		ROUND(e, f, g, h, a, b, c, d, i + 4);
		ROUND(d, e, f, g, h, a, b, c, i + 5);
		ROUND(c, d, e, f, g, h, a, b, i + 6);
		ROUND(b, c, d, e, f, g, h, a, i + 7);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	state[5] += f;
	state[6] += g;
	state[7] += h;
}

void sha256_init(struct sha256 *hash)
{
	static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(hash->state, start, sizeof(start));
	hash->bytes = 0;
}

void sha256_add(struct sha256 *hash, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	while (len) {
		size_t used = hash->bytes % 64, take = 64 - used < len ? 64 - used : len;

		if (take == 64) {
			compress(hash->state, at);
		} else {
			memcpy(hash->block + used, at, take);
			if (used + take == 64)
				compress(hash->state, hash->block);
		}
		hash->bytes += take;
		at += take;
		len -= take;
	}
}

void sha256_add_field(struct sha256 *hash, const char *text)
{
	sha256_add(hash, text ? "=" : "-", 1);
	if (text)
		sha256_add(hash, text, strlen(text) + 1);
}

void sha256_hex(struct sha256 *hash, char hex[SHA256_HEX_LEN + 1])
{
	static const unsigned char pad[64] = {0x80};
	uint64_t bits = hash->bytes * 8;
	size_t used = hash->bytes % 64;
	unsigned char length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(hash, pad, used < 56 ? 56 - used : 120 - used);
	sha256_add(hash, length, sizeof(length));
	for (int i = 0; i < 8; i++)
		(void)snprintf(hex + 8 * i, 9, "%08x", hash->state[i]);
}

void sha256_of(const void *bytes, size_t len, char hex[SHA256_HEX_LEN + 1])
{
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add(&hash, bytes, len);
	sha256_hex(&hash, hex);
}

int sha256_of_file(const char *path, char hex[SHA256_HEX_LEN + 1], struct err *err)
{
	unsigned char buffer[65536];
	struct sha256 hash;
	ssize_t got;
	int fd, ret = file_open(path, &fd, err);

	if (ret)
		return ret;
	sha256_init(&hash);
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		sha256_add(&hash, buffer, (size_t)got);
	if (got < 0) {
		int saved = errno;

		(void)close(fd);
		return err_errno(err, ERR_INFRA, saved, "cannot read %s", path);
	}
	(void)close(fd); /* only read from */
	sha256_hex(&hash, hex);
	return 0;
}
