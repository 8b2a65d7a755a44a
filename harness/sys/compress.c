/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <lz4.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "sys/compress.h"

enum {
	CHUNK_BYTES = 1 << 18,
	LZMA_MEMORY_BYTES = 1 << 28, /* xz -9 needs 65 MiB, the kernel's build up to 128 */
	LZ4_BLOCK_BYTES = 8 << 20,   /* of the legacy frame; only its last block is shorter */
	LZ4_LENGTH_BYTES = 4,	     /* before each block of the legacy frame */
	PACK_LEVEL = 6,
};

/* How far a decoder has come. */
enum progress { PROGRESS_MORE, PROGRESS_END, PROGRESS_DAMAGED };

struct unpacking {
	const uint8_t *in;
	size_t in_len, in_at;
	size_t max_bytes;
	struct str out;
	uint8_t chunk[CHUNK_BYTES];
};

/* One decoder: step decodes from in + in_at into chunk and says how many bytes it wrote. */
struct decoder {
	const char *name;
	const uint8_t magic[6];
	size_t magic_len;
	void *(*open)(void);
	enum progress (*step)(void *state, struct unpacking *u, size_t *written);
	void (*close)(void *state);
};

static void *gzip_open(void)
{
	z_stream *stream = xcalloc(1, sizeof(*stream));

	if (inflateInit2(stream, 16 + MAX_WBITS) != Z_OK)
		BUG("no gzip decoder");
	return stream;
}

static enum progress gzip_step(void *state, struct unpacking *u, size_t *written)
{
	z_stream *stream = state;
	size_t left = u->in_len - u->in_at;
	int rc;

	stream->next_in = (Bytef *)(u->in + u->in_at);
	stream->avail_in = left > UINT32_MAX ? UINT32_MAX : (uInt)left;
	stream->next_out = u->chunk;
	stream->avail_out = sizeof(u->chunk);
	rc = inflate(stream, Z_NO_FLUSH);
	u->in_at = (size_t)(stream->next_in - u->in);
	*written = sizeof(u->chunk) - stream->avail_out;
	if (rc == Z_STREAM_END)
		return PROGRESS_END;
	return rc == Z_OK ? PROGRESS_MORE : PROGRESS_DAMAGED;
}

static void gzip_close(void *state)
{
	(void)inflateEnd(state);
	free(state);
}

static void *xz_open(void)
{
	lzma_stream *stream = xcalloc(1, sizeof(*stream));

	if (lzma_stream_decoder(stream, LZMA_MEMORY_BYTES, 0) != LZMA_OK)
		BUG("no xz decoder");
	return stream;
}

static void *lzma_open(void)
{
	lzma_stream *stream = xcalloc(1, sizeof(*stream));

	if (lzma_alone_decoder(stream, LZMA_MEMORY_BYTES) != LZMA_OK)
		BUG("no lzma decoder");
	return stream;
}

static enum progress lzma_step(void *state, struct unpacking *u, size_t *written)
{
	lzma_stream *stream = state;
	lzma_ret rc;

	stream->next_in = u->in + u->in_at;
	stream->avail_in = u->in_len - u->in_at;
	stream->next_out = u->chunk;
	stream->avail_out = sizeof(u->chunk);
	rc = lzma_code(stream, LZMA_RUN);
	u->in_at = (size_t)(stream->next_in - u->in);
	*written = sizeof(u->chunk) - stream->avail_out;
	if (rc == LZMA_STREAM_END)
		return PROGRESS_END;
	return rc == LZMA_OK ? PROGRESS_MORE : PROGRESS_DAMAGED;
}

static void lzma_close(void *state)
{
	lzma_end(state);
	free(state);
}

static void *zstd_open(void)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();

	if (!context)
		BUG("no zstd decoder");
	return context;
}

static enum progress zstd_step(void *state, struct unpacking *u, size_t *written)
{
	ZSTD_inBuffer in = {u->in, u->in_len, u->in_at};
	ZSTD_outBuffer out = {u->chunk, sizeof(u->chunk), 0};
	size_t rc = ZSTD_decompressStream(state, &out, &in);

	u->in_at = in.pos;
	*written = out.pos;
	if (ZSTD_isError(rc))
		return PROGRESS_DAMAGED;
	return rc == 0 ? PROGRESS_END : PROGRESS_MORE;
}

static void zstd_close(void *state)
{
	(void)ZSTD_freeDCtx(state);
}

static void *lz4_open(void)
{
	LZ4F_dctx *context = NULL;

	if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
		BUG("no lz4 decoder");
	return context;
}

static enum progress lz4_step(void *state, struct unpacking *u, size_t *written)
{
	size_t in_used = u->in_len - u->in_at, rc;

	*written = sizeof(u->chunk);
	rc = LZ4F_decompress(state, u->chunk, written, u->in + u->in_at, &in_used, NULL);
	if (LZ4F_isError(rc)) {
		*written = 0;
		return PROGRESS_DAMAGED;
	}
	u->in_at += in_used;
	return rc == 0 ? PROGRESS_END : PROGRESS_MORE;
}

static void lz4_close(void *state)
{
	(void)LZ4F_freeDecompressionContext(state);
}

/* Indexed by format; the legacy frame of lz4 is known by another magic number and decoded block by
 * block below. */
static const struct decoder decoders[] = {
	[COMPRESS_NONE] = {.name = "none"},
	[COMPRESS_GZIP] = {"gzip", {0x1f, 0x8b, 0x08}, 3, gzip_open, gzip_step, gzip_close},
	[COMPRESS_XZ] = {"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6, xz_open, lzma_step, lzma_close},
	[COMPRESS_LZMA] = {"lzma", {0x5d, 0, 0}, 3, lzma_open, lzma_step, lzma_close},
	[COMPRESS_ZSTD] = {"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, zstd_open, zstd_step, zstd_close},
	[COMPRESS_LZ4] = {"lz4", {0x04, 0x22, 0x4d, 0x18}, 4, lz4_open, lz4_step, lz4_close},
};

static const uint8_t lz4_legacy_magic[] = {0x02, 0x21, 0x4c, 0x18};

static bool is_lz4_legacy(const uint8_t *bytes, size_t len)
{
	return len >= sizeof(lz4_legacy_magic) &&
	       memcmp(bytes, lz4_legacy_magic, sizeof(lz4_legacy_magic)) == 0;
}

const char *compress_format_name(enum compress_format format)
{
	return decoders[format].name;
}

enum compress_format compress_detect(const void *bytes, size_t len)
{
	for (size_t i = COMPRESS_GZIP; i < ARRAY_SIZE(decoders); i++)
		if (len >= decoders[i].magic_len &&
			memcmp(bytes, decoders[i].magic, decoders[i].magic_len) == 0)
			return (enum compress_format)i;
	return is_lz4_legacy(bytes, len) ? COMPRESS_LZ4 : COMPRESS_NONE;
}

static int too_large(const struct unpacking *u, const char *name, struct err *err)
{
	return err_set(
		err, ERR_INVALID, "%s data unpacks to more than %zu bytes", name, u->max_bytes);
}

static int damaged(const struct unpacking *u, const char *name, struct err *err)
{
	return err_set(err, ERR_INVALID, "%s data is %s at byte %zu of %zu", name,
		u->in_at >= u->in_len ? "cut off" : "damaged", u->in_at, u->in_len);
}

static int unpack_stream(struct unpacking *u, const struct decoder *decoder, struct err *err)
{
	enum progress progress = PROGRESS_MORE;
	void *state = decoder->open();
	int ret = 0;

	while (ret == 0 && progress == PROGRESS_MORE) {
		size_t written = 0, in_before = u->in_at;

		progress = decoder->step(state, u, &written);
		if (u->out.len + written > u->max_bytes)
			ret = too_large(u, decoder->name, err);
		else if (progress == PROGRESS_DAMAGED ||
			 (progress == PROGRESS_MORE && !written && u->in_at == in_before))
			ret = damaged(u, decoder->name, err);
		else
			str_add_bytes(&u->out, u->chunk, written);
	}
	decoder->close(state);
	return ret;
}

static uint32_t read_le32(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The legacy frame of lz4 (doc/lz4_Frame_format.md, "Legacy frame"): blocks of 8 MiB, only the last
 * one shorter, and no mark at the end. Four bytes left over are the length that the kernel's build
 * appends. */
static int unpack_lz4_legacy(struct unpacking *u, struct err *err)
{
	char *block = xmalloc(LZ4_BLOCK_BYTES);
	int ret = 0, got = LZ4_BLOCK_BYTES;

	u->in_at = sizeof(lz4_legacy_magic);
	while (ret == 0 && got == LZ4_BLOCK_BYTES) {
		size_t left = u->in_len - u->in_at, packed;

		if (u->out.len && left <= LZ4_LENGTH_BYTES)
			break;
		packed = left < LZ4_LENGTH_BYTES ? 0 : read_le32(u->in + u->in_at);
		if (u->out.len && packed > (size_t)LZ4_COMPRESSBOUND(LZ4_BLOCK_BYTES))
			break;
		if (!packed || packed > left - LZ4_LENGTH_BYTES) {
			ret = damaged(u, "lz4", err);
			break;
		}
		got = LZ4_decompress_safe((const char *)u->in + u->in_at + LZ4_LENGTH_BYTES, block,
			(int)packed, LZ4_BLOCK_BYTES);
		if (got < 0)
			ret = damaged(u, "lz4", err);
		else if (u->out.len + (size_t)got > u->max_bytes)
			ret = too_large(u, "lz4", err);
		else
			str_add_bytes(&u->out, block, (size_t)got);
		u->in_at += LZ4_LENGTH_BYTES + packed;
	}
	free(block);
	return ret;
}

static int copy(struct unpacking *u, struct err *err)
{
	if (u->in_len > u->max_bytes)
		return err_set(
			err, ERR_INVALID, "%zu bytes are more than %zu", u->in_len, u->max_bytes);
	str_add_bytes(&u->out, u->in, u->in_len);
	return 0;
}

int compress_unpack(enum compress_format format, const void *bytes, size_t len, size_t max_bytes,
	struct str *out, struct err *err)
{
	struct unpacking *u = xcalloc(1, sizeof(*u));
	int ret;

	u->in = bytes;
	u->in_len = len;
	u->max_bytes = max_bytes;
	if (format == COMPRESS_NONE)
		ret = copy(u, err);
	else if (format == COMPRESS_LZ4 && is_lz4_legacy(bytes, len))
		ret = unpack_lz4_legacy(u, err);
	else
		ret = unpack_stream(u, &decoders[format], err);
	str_release(ret ? &u->out : out);
	if (ret == 0)
		*out = u->out;
	free(u);
	return ret;
}

void compress_pack_zstd(const void *bytes, size_t len, struct str *out)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t bound = ZSTD_compressBound(len), packed;
	char *room = xmalloc(bound);

	(void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, PACK_LEVEL);
	(void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	packed = ZSTD_compress2(context, room, bound, bytes, len);
	if (ZSTD_isError(packed))
		BUG("zstd: %s", ZSTD_getErrorName(packed));
	str_release(out);
	str_add_bytes(out, room, packed);
	free(room);
	(void)ZSTD_freeCCtx(context);
}
