/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replays a corpus through a fuzz target without libFuzzer: fuzz_NAME reads tests/fuzz/corpus/NAME,
 * or the files given, and prints TAP. A crash or a sanitizer's report is the failure. Each file is
 * also fed cut short at every eighth of its length, and with each of a few bytes flipped. */
#include "base/base.h"

#include "base/file.h"
#include "base/mem.h"

enum { MAX_BYTES = 16 << 20, FLIPS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* A copy of exactly that size, so that a read beyond the end is found. */
static void feed(const char *bytes, size_t len)
{
	uint8_t *copy = xmalloc(len ? len : 1);

	if (len)
		memcpy(copy, bytes, len);
	(void)LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static void feed_variations(const struct str *text)
{
	char *copy = xmalloc(text->len + 1);

	feed(text->text, text->len);
	for (size_t i = 0; i < 8; i++)
		feed(text->text, text->len * i / 8);
	for (size_t i = 0; i < FLIPS && text->len; i++) {
		size_t at = i * 2654435761u % text->len;

		memcpy(copy, text->text, text->len);
		copy[at] = (char)(copy[at] ^ (1 << (i % 8)));
		feed(copy, text->len);
	}
	free(copy);
}

static int replay(const char *path, int number)
{
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	int ret = file_read(path, MAX_BYTES, &text, &err);

	str_add(&text, "");
	if (!ret)
		feed_variations(&text);
	printf("%s %d - %s%s%s\n", ret ? "not ok" : "ok", number, path_name(path), ret ? ": " : "",
		err.text);
	(void)fflush(stdout);
	str_release(&text);
	return ret;
}

static int list_corpus(const char *program, struct strv *paths, struct err *err)
{
	const char *name = path_name(program);
	char *folder = xasprintf(
		"tests/fuzz/corpus/%s", str_starts(name, "fuzz_") ? name + strlen("fuzz_") : name);
	struct strv names = STRV_INIT;
	int ret = file_list(folder, &names, err);

	for (size_t i = 0; i < names.count; i++)
		strv_addf(paths, "%s/%s", folder, names.items[i]);
	strv_release(&names);
	free(folder);
	return ret;
}

int main(int argc, char **argv)
{
	struct strv paths = STRV_INIT;
	struct err err = ERR_INIT;
	int failed = 0;

	for (int i = 1; i < argc; i++)
		strv_add(&paths, argv[i]);
	if (!paths.count && list_corpus(argv[0], &paths, &err)) {
		printf("not ok 1 - %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < paths.count; i++)
		failed |= replay(paths.items[i], (int)i + 1) != 0;
	printf("1..%zu\n", paths.count);
	strv_release(&paths);
	return failed;
}
