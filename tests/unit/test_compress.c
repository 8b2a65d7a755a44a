/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <lz4.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <cmocka.h>

#include "base/mem.h"
#include "sys/compress.h"

/* Bytes that compress a little: every sort of match and literal occurs. */
static char *make_bytes(size_t len)
{
	char *bytes = xmalloc(len + 1);
	uint32_t seed = 1;

	for (size_t i = 0; i < len; i++) {
		seed = seed * 1103515245 + 12345;
		bytes[i] = (char)(seed >> 30 ? "kernel"[i % 6] : (int)(seed >> 16 & 0xff));
	}
	return bytes;
}

static void pack_gzip(const char *bytes, size_t len, struct str *out)
{
	z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)len};
	uLong bound;
	char *room;

	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, 0), Z_OK);
	bound = deflateBound(&stream, len) + 64;
	room = xmalloc(bound);
	stream.next_out = (Bytef *)room;
	stream.avail_out = (uInt)bound;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	str_add_bytes(out, room, stream.total_out);
	(void)deflateEnd(&stream);
	free(room);
}

static void pack_with_lzma(lzma_stream *stream, const char *bytes, size_t len, struct str *out)
{
	size_t bound = 2 * len + 1024;
	char *room = xmalloc(bound);

	stream->next_in = (const uint8_t *)bytes;
	stream->avail_in = len;
	stream->next_out = (uint8_t *)room;
	stream->avail_out = bound;
	assert_int_equal(lzma_code(stream, LZMA_FINISH), LZMA_STREAM_END);
	str_add_bytes(out, room, stream->total_out);
	lzma_end(stream);
	free(room);
}

static void pack_xz(const char *bytes, size_t len, struct str *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;

	assert_int_equal(lzma_easy_encoder(&stream, 1, LZMA_CHECK_CRC32), LZMA_OK);
	pack_with_lzma(&stream, bytes, len, out);
}

static void pack_lzma(const char *bytes, size_t len, struct str *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_options_lzma options;

	assert_false(lzma_lzma_preset(&options, 1));
	assert_int_equal(lzma_alone_encoder(&stream, &options), LZMA_OK);
	pack_with_lzma(&stream, bytes, len, out);
}

static void pack_lz4_frame(const char *bytes, size_t len, struct str *out)
{
	size_t bound = LZ4F_compressFrameBound(len, NULL), packed;
	char *room = xmalloc(bound);

	packed = LZ4F_compressFrame(room, bound, bytes, len, NULL);
	assert_false(LZ4F_isError(packed));
	str_add_bytes(out, room, packed);
	free(room);
}

static void add_le32(struct str *out, uint32_t value)
{
	for (int shift = 0; shift < 32; shift += 8)
		str_add_char(out, (char)(value >> shift & 0xff));
}

/* As lz4 -l does, which the kernel's build calls. */
static void pack_lz4_legacy(const char *bytes, size_t len, struct str *out)
{
	const size_t block = 8 << 20;
	size_t bound = (size_t)LZ4_compressBound((int)block), at = 0;
	char *room = xmalloc(bound);

	add_le32(out, 0x184c2102);
	do {
		size_t part = len - at < block ? len - at : block;
		int packed = LZ4_compress_default(bytes + at, room, (int)part, (int)bound);

		assert_true(packed > 0);
		add_le32(out, (uint32_t)packed);
		str_add_bytes(out, room, (size_t)packed);
		at += part;
	} while (at < len);
	free(room);
}

static const struct {
	enum compress_format format;
	const char *name;
	void (*pack)(const char *bytes, size_t len, struct str *out);
} formats[] = {
	{COMPRESS_GZIP, "gzip", pack_gzip},
	{COMPRESS_XZ, "xz", pack_xz},
	{COMPRESS_LZMA, "lzma", pack_lzma},
	{COMPRESS_ZSTD, "zstd", (void (*)(const char *, size_t, struct str *))compress_pack_zstd},
	{COMPRESS_LZ4, "lz4", pack_lz4_frame},
	{COMPRESS_LZ4, "lz4", pack_lz4_legacy},
};

static void check_round_trip(size_t format, size_t len)
{
	char *bytes = make_bytes(len);
	struct str packed = STR_INIT, out = STR_INIT;
	struct err err = ERR_INIT;

	formats[format].pack(bytes, len, &packed);
	assert_int_equal(compress_detect(packed.text, packed.len), (int)formats[format].format);
	add_le32(&packed, (uint32_t)len); /* as the kernel's build does */
	assert_int_equal(
		compress_unpack(formats[format].format, packed.text, packed.len, len, &out, &err),
		0);
	assert_int_equal(out.len, len);
	if (len)
		assert_memory_equal(out.text, bytes, len);
	str_release(&out);
	str_release(&packed);
	free(bytes);
}

static void every_format_comes_back(void **state KB_UNUSED)
{
	static const size_t lengths[] = {1, 1000, 1 << 18, (1 << 18) + 1};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		assert_string_equal(compress_format_name(formats[i].format), formats[i].name);
		for (size_t k = 0; k < ARRAY_SIZE(lengths); k++)
			check_round_trip(i, lengths[k]);
	}
}

static void the_legacy_frame_has_blocks(void **state KB_UNUSED)
{
	static const size_t lengths[] = {(8 << 20) - 1, 8 << 20, (8 << 20) + 1};

	for (size_t k = 0; k < ARRAY_SIZE(lengths); k++)
		check_round_trip(ARRAY_SIZE(formats) - 1, lengths[k]);
}

static void damage_and_cuts_are_seen(void **state KB_UNUSED)
{
	const size_t len = 100000;
	char *bytes = make_bytes(len);

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct str packed = STR_INIT, out = STR_INIT;
		struct err err = ERR_INIT;

		formats[i].pack(bytes, len, &packed);
		for (size_t cut = 0; cut < 20; cut++)
			assert_int_equal(compress_unpack(formats[i].format, packed.text,
						 packed.len / 20 * cut, len, &out, &err),
				ERR_INVALID);
		assert_non_null(strstr(err.text, formats[i].name));
		assert_int_equal(compress_unpack(formats[i].format, packed.text, packed.len,
					 len - 1, &out, &err),
			ERR_INVALID);
		assert_non_null(strstr(err.text, "more than 99999 bytes"));
		assert_int_equal(
			compress_unpack(formats[i].format, NULL, 0, len, &out, &err), ERR_INVALID);
		memset(packed.text + packed.len / 2, 0x55, 64);
		if (formats[i].pack != pack_lz4_legacy && formats[i].pack != pack_lz4_frame &&
			formats[i].pack != pack_lzma) /* those have no checksum */
			assert_int_equal(compress_unpack(formats[i].format, packed.text, packed.len,
						 len, &out, &err),
				ERR_INVALID);
		assert_null(out.text);
		str_release(&packed);
	}
	free(bytes);
}

static void a_bomb_stops_at_the_limit(void **state KB_UNUSED)
{
	const size_t len = 64 << 20;
	char *zeros = xcalloc(len, 1);
	struct str packed = STR_INIT, out = STR_INIT;
	struct err err = ERR_INIT;

	compress_pack_zstd(zeros, len, &packed);
	assert_true(packed.len < 100000);
	assert_int_equal(
		compress_unpack(COMPRESS_ZSTD, packed.text, packed.len, 1 << 20, &out, &err),
		ERR_INVALID);
	str_release(&packed);
	free(zeros);
}

static void plain_bytes_are_copied(void **state KB_UNUSED)
{
	struct str out = STR_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(compress_detect("plain text", 10), COMPRESS_NONE);
	assert_int_equal(compress_detect("\x1f", 1), COMPRESS_NONE);
	assert_int_equal(compress_detect("", 0), COMPRESS_NONE);
	assert_int_equal(compress_unpack(COMPRESS_NONE, "a\0b", 3, 3, &out, &err), 0);
	assert_int_equal(out.len, 3);
	assert_memory_equal(out.text, "a\0b", 3);
	assert_int_equal(compress_unpack(COMPRESS_NONE, "abcd", 4, 3, &out, &err), ERR_INVALID);
	assert_int_equal(out.len, 3);
	str_release(&out);
}

static void nothing_can_be_packed(void **state KB_UNUSED)
{
	struct str packed = STR_INIT, out = STR_INIT;
	struct err err = ERR_INIT;

	compress_pack_zstd(NULL, 0, &packed);
	assert_int_equal(compress_unpack(COMPRESS_ZSTD, packed.text, packed.len, 0, &out, &err), 0);
	assert_int_equal(out.len, 0);
	str_release(&packed);
	str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_comes_back),
		cmocka_unit_test(the_legacy_frame_has_blocks),
		cmocka_unit_test(damage_and_cuts_are_seen),
		cmocka_unit_test(a_bomb_stops_at_the_limit),
		cmocka_unit_test(plain_bytes_are_copied),
		cmocka_unit_test(nothing_can_be_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
