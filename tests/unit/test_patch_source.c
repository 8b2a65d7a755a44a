/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/sha256.h"
#include "backend/patch_source.h"
#include "support.h"

#define ID "20260101.1-a+b@example.org"
#define PATH_OF_ID "/all/20260101.1-a%2Bb%40example.org/raw"
#define BODY "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"

static const char mail[] = "From mboxrd@z Thu Jan  1 00:00:00 1970\nSubject: s\n\n" BODY;
static const char changed[] = "From mboxrd@z Thu Jan  1 00:00:00 1970\nSubject: s\n\n" BODY "+c\n";

static const struct support_route original_routes[] = {{.path = PATH_OF_ID, .body = mail}};
static const struct support_route changed_routes[] = {{.path = PATH_OF_ID, .body = changed}};

static char *top;

static int set_up(void **state KB_UNUSED)
{
	top = support_folder();
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	support_folder_free(top);
	return 0;
}

static int read_one(struct arena *arena, const char *spec, const char *lore,
	struct patch_series *out, struct err *err)
{
	const char *const specs[] = {spec, NULL};
	char *cache = support_path("%s/cache", top);
	int ret = patch_series_read(arena, specs, lore, cache, out, err);

	free(cache);
	return ret;
}

static void check_fails(const char *spec, const char *lore, int code, const char *says)
{
	struct arena arena = ARENA_INIT;
	struct patch_series series = {NULL, 77};
	struct err err = ERR_INIT;

	assert_int_equal(read_one(&arena, spec, lore, &series, &err), code);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
	assert_int_equal(series.count, 77);
	arena_release(&arena);
}

static void files_and_folders_are_read(void **state KB_UNUSED)
{
	struct arena arena = ARENA_INIT;
	struct patch_series series;
	struct err err = ERR_INIT;
	char *file = support_path("%s/one.patch", top), *folder = support_path("%s/series", top);
	char *second = support_path("%s/0010-b.patch", folder);
	char *first = support_path("%s/0002-a.diff", folder);
	char *other = support_path("%s/notes.txt", folder);
	const char *const specs[] = {file, folder, NULL};
	char hex[SHA256_HEX_LEN + 1];

	support_write(file, BODY);
	support_write(second, "second");
	support_write(first, "first");
	support_write(other, "other");
	assert_int_equal(patch_series_read(&arena, specs, "", top, &series, &err), 0);
	assert_int_equal(series.count, 3);
	assert_string_equal(series.items[0].name, "one.patch");
	sha256_of(BODY, strlen(BODY), hex);
	assert_string_equal(series.items[0].sha256, hex);
	assert_memory_equal(series.items[0].text, BODY, series.items[0].len);
	assert_string_equal(series.items[1].name, "series/0002-a.diff");
	assert_string_equal(series.items[2].name, "series/0010-b.patch");
	free(other);
	free(first);
	free(second);
	free(folder);
	free(file);
	arena_release(&arena);
}

static void missing_patches_are_told(void **state KB_UNUSED)
{
	char *empty = support_path("%s/empty", top), *file = support_path("%s/x", empty);

	check_fails("/nonexistent/p.patch", "", ERR_USAGE, "there is no patch");
	support_write(file, "");
	check_fails(empty, "", ERR_USAGE, "holds no patch");
	check_fails("lore:no-at-sign", "", ERR_USAGE, "holds no message-id");
	check_fails("lore:../../etc@x", "", ERR_USAGE, "holds no message-id");
	check_fails("lore:a@b sha256:12", "", ERR_USAGE, "64 lower-case hex digits");
	free(file);
	free(empty);
}

static void mails_are_fetched_once(void **state KB_UNUSED)
{
	struct support_http *server = support_http_start(original_routes, 1);
	char *lore = support_http_url(server, "/all/");
	struct arena arena = ARENA_INIT;
	struct patch_series series;
	struct err err = ERR_INIT;

	for (int i = 0; i < 2; i++) {
		if (read_one(&arena, "lore:" ID, lore, &series, &err))
			fail_msg("%s", err.text);
		assert_int_equal(series.count, 1);
		assert_string_equal(series.items[0].name, "lore:" ID);
		assert_non_null(strstr(series.items[0].text, BODY));
		assert_int_equal(support_http_hits(server, PATH_OF_ID), 1);
	}
	check_fails("lore:absent@x", lore, ERR_USAGE, "there is no mail");
	support_http_stop(server);
	check_fails("lore:other@x", lore, ERR_INFRA, "127.0.0.1");
	free(lore);
	arena_release(&arena);
}

static void pins_are_honoured(void **state KB_UNUSED)
{
	struct support_http *server = support_http_start(original_routes, 1);
	char *lore = support_http_url(server, "/all");
	char hex[SHA256_HEX_LEN + 1], spec[256];
	struct arena arena = ARENA_INIT;
	struct patch_series series;
	struct err err = ERR_INIT;

	sha256_of(mail, strlen(mail), hex);
	(void)snprintf(spec, sizeof(spec), "lore:" ID " sha256:%s", hex);
	assert_int_equal(read_one(&arena, spec, lore, &series, &err), 0);
	hex[0] = hex[0] == '0' ? '1' : '0';
	(void)snprintf(spec, sizeof(spec), "lore:" ID " sha256:%s", hex);
	check_fails(spec, lore, ERR_USAGE, "its pin in the kernels file says");
	support_http_stop(server);
	free(lore);
	arena_release(&arena);
}

/* Whoever serves the mail later, what was recorded the first time holds. */
static void changed_mails_are_refused(void **state KB_UNUSED)
{
	char *mails = support_path("%s/cache/mails", top);
	struct support_http *server = support_http_start(changed_routes, 1);
	char *lore = support_http_url(server, "/all");
	struct arena arena = ARENA_INIT;
	struct patch_series series;
	struct err err = ERR_INIT;
	char hex[SHA256_HEX_LEN + 1], where[256], *record, *kept;

	sha256_of(mail, strlen(mail), hex);
	(void)snprintf(where, sizeof(where), "%s " ID, lore);
	{
		char name[SHA256_HEX_LEN + 1];

		sha256_of(where, strlen(where), name);
		record = support_path("%s/%.32s.sha256", mails, name);
		kept = support_path("%s/%.32s.mbox", mails, name);
	}
	support_write(record, hex);
	check_fails("lore:" ID, lore, ERR_USAGE, "has the SHA-256");
	/* a copy that still is what was recorded needs no server */
	support_write(kept, mail);
	assert_int_equal(read_one(&arena, "lore:" ID, lore, &series, &err), 0);
	/* a damaged one is fetched again, and refused when it differs */
	support_write(kept, "damaged");
	check_fails("lore:" ID, lore, ERR_USAGE, record);
	support_http_stop(server);
	free(kept);
	free(record);
	free(lore);
	free(mails);
	arena_release(&arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_and_folders_are_read),
		TEST(missing_patches_are_told),
		TEST(mails_are_fetched_once),
		TEST(pins_are_honoured),
		TEST(changed_mails_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
