/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/stop.h"
#include "sys/http.h"
#include "support.h"

/* Asks and returns the code; body and err are for the caller to look at. */
static int get(const char *url, struct http_request request, struct str *body, struct err *err)
{
	request.url = url;
	return http_get(&request, body, err);
}

static int get_from(struct support_http *server, const char *path, struct http_request request,
	struct str *body, struct err *err)
{
	char *url = support_http_url(server, path);
	int ret = get(url, request, body, err);

	free(url);
	return ret;
}

static const struct http_request plain = {.timeout_ns = 20 * NS_PER_S};

static void a_page_is_fetched(void **state KB_UNUSED)
{
	static const struct support_route routes[] = {
		{.path = "/a%2Fb?x=1", .body = "one\0two", .body_len = 7}, {.path = "/empty"}};
	struct support_http *server = support_http_start(routes, ARRAY_SIZE(routes));
	struct str body = STR_INIT;
	struct err err = ERR_INIT;

	str_add(&body, "old");
	assert_int_equal(get_from(server, "/a%2Fb?x=1", plain, &body, &err), 0);
	assert_int_equal(body.len, 7);
	assert_memory_equal(body.text, "one\0two", 7);
	assert_int_equal(get_from(server, "/empty", plain, &body, &err), 0);
	assert_int_equal(body.len, 0);
	support_http_stop(server);
	str_release(&body);
}

static void what_is_not_there_is_told(void **state KB_UNUSED)
{
	static const struct support_route routes[] = {
		{.path = "/broken", .status = 500, .body = "x"}, {.path = "/made", .status = 201}};
	struct support_http *server = support_http_start(routes, ARRAY_SIZE(routes));
	struct str body = STR_INIT;
	struct err err = ERR_INIT;

	str_add(&body, "old");
	assert_int_equal(get_from(server, "/absent", plain, &body, &err), ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "404"));
	assert_non_null(strstr(err.text, "/absent"));
	assert_int_equal(get_from(server, "/broken", plain, &body, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "500"));
	assert_int_equal(get_from(server, "/made", plain, &body, &err), ERR_INFRA);
	assert_string_equal(str_text(&body), "old");
	support_http_stop(server);
	str_release(&body);
}

static void redirects_stay_at_home(void **state KB_UNUSED)
{
	struct support_http *other, *server;
	char *elsewhere, *other_name, *tls;
	struct str body = STR_INIT;
	struct err err = ERR_INIT;
	const struct support_route secret[] = {{.path = "/secret", .body = "secret"}};

	other = support_http_start(secret, 1);
	elsewhere =
		support_path("Location: http://127.0.0.1:%d/secret\r\n", support_http_port(other));
	other_name =
		support_path("Location: http://localhost:%d/secret\r\n", support_http_port(other));
	tls = support_path("Location: https://127.0.0.1:%d/secret\r\n", support_http_port(other));
	{
		const struct support_route routes[] = {
			{.path = "/1", .status = 301, .headers = "Location: /2\r\n"},
			{.path = "/2", .status = 307, .headers = "Location: 3?x\r\n"},
			{.path = "/3?x", .body = "here"},
			{.path = "/loop", .status = 302, .headers = "Location: /loop\r\n"},
			{.path = "/port", .status = 302, .headers = elsewhere},
			{.path = "/name", .status = 302, .headers = other_name},
			{.path = "/tls", .status = 302, .headers = tls},
			{.path = "/file",
				.status = 302,
				.headers = "Location: file:///etc/passwd\r\n"},
			{.path = "/net",
				.status = 302,
				.headers = "Location: http://192.0.2.1/\r\n"},
			{.path = "/bad", .status = 302, .headers = "Location: http://[\r\n"},
		};
		static const char *const refused[] = {
			"/port", "/name", "/tls", "/file", "/net", "/loop", "/bad"};

		server = support_http_start(routes, ARRAY_SIZE(routes));
		assert_int_equal(get_from(server, "/1", plain, &body, &err), 0);
		assert_string_equal(str_text(&body), "here");
		for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
			if (get_from(server, refused[i], plain, &body, &err) == 0)
				fail_msg("%s was followed", refused[i]);
		assert_int_equal(support_http_hits(server, "/loop"), 6);
		assert_int_equal(support_http_hits(other, "/secret"), 0);
		support_http_stop(server);
	}
	support_http_stop(other);
	free(elsewhere);
	free(other_name);
	free(tls);
	str_release(&body);
}

static void size_is_bounded(void **state KB_UNUSED)
{
	static const struct support_route routes[] = {{.path = "/ten", .body = "0123456789"},
		{.path = "/endless", .body = "0123456789", .endless = true}};
	struct support_http *server = support_http_start(routes, ARRAY_SIZE(routes));
	struct http_request request = plain;
	struct str body = STR_INIT;
	struct err err = ERR_INIT;

	request.max_bytes = 10;
	assert_int_equal(get_from(server, "/ten", request, &body, &err), 0);
	request.max_bytes = 9;
	assert_int_equal(get_from(server, "/ten", request, &body, &err), ERR_INFRA);
	request.max_bytes = 1 << 20;
	assert_int_equal(get_from(server, "/endless", request, &body, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "larger than 1.0 MiB"));
	support_http_stop(server);
	str_release(&body);
}

static void a_slow_server_meets_the_deadline(void **state KB_UNUSED)
{
	static const struct support_route routes[] = {
		{.path = "/late", .body = "x", .delay_ms = 60000},
		{.path = "/drip", .body = "0123456789", .drip_ms = 20000},
		{.path = "/hops",
			.status = 302,
			.headers = "Location: /hops\r\n",
			.delay_ms = 300}};
	struct http_request request = {.timeout_ns = 500 * NS_PER_MS};
	struct str body = STR_INIT;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		struct support_http *server = support_http_start(routes, ARRAY_SIZE(routes));

		assert_int_equal(
			get_from(server, routes[i].path, request, &body, &err), ERR_TIMEOUT);
		assert_non_null(strstr(err.text, "500 ms"));
		support_http_stop(server);
	}
	str_release(&body);
}

static void a_closed_port_and_a_cut_answer_are_failures(void **state KB_UNUSED)
{
	static const struct support_route routes[] = {
		{.path = "/cut", .headers = "Content-Length: 100\r\n", .body = "x"}};
	struct support_http *server = support_http_start(routes, 1);
	char *url = support_http_url(server, "/cut");
	struct str body = STR_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(get(url, plain, &body, &err), ERR_INFRA);
	assert_int_equal(support_http_hits(server, "/cut"), 1);
	support_http_stop(server);
	assert_int_equal(get(url, plain, &body, &err), ERR_INFRA);
	assert_null(body.text);
	free(url);
}

static void unsafe_urls_are_refused(void **state KB_UNUSED)
{
	static const char *const urls[] = {"http://example.com/", "http://192.0.2.1/",
		"ftp://127.0.0.1/", "file:///etc/passwd", "127.0.0.1/x", "", "http://",
		"http://127.0.0.1.example.com/", "http://user:pass@127.0.0.1/",
		"https://user@example.com/", "gopher://127.0.0.1/"};
	struct str body = STR_INIT;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++)
		if (get(urls[i], plain, &body, &err) != ERR_USAGE)
			fail_msg("%s: %s", urls[i], err.text);
}

/* Exit code 0 when the wait ended by the signal. */
static int get_until_stopped(const char *url)
{
	struct http_request request = {.url = url, .timeout_ns = 100 * NS_PER_S};
	struct str body = STR_INIT;
	struct err err = ERR_INIT;

	stop_catch_signals();
	return http_get(&request, &body, &err) == ERR_INTERRUPTED ? 0 : 1;
}

static void a_stop_ends_the_wait(void **state KB_UNUSED)
{
	static const struct support_route routes[] = {{.path = "/late", .delay_ms = 100000}};
	struct support_http *server = support_http_start(routes, 1);
	char *url = support_http_url(server, "/late");
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(get_until_stopped(url));
	for (int i = 0; i < 2000 && !support_http_hits(server, "/late"); i++)
		clock_sleep_ns(10 * NS_PER_MS);
	assert_int_equal(support_http_hits(server, "/late"), 1);
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	support_http_stop(server);
	free(url);
}

static void names_are_escaped(void **state KB_UNUSED)
{
	struct str out = STR_INIT;

	http_add_escaped(&out, "20261030.1-a@b.org/../x?y#z %\xc3\xa9");
	assert_string_equal(str_text(&out), "20261030.1-a%40b.org%2F..%2Fx%3Fy%23z%20%25%C3%A9");
	str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_is_fetched),
		cmocka_unit_test(what_is_not_there_is_told),
		cmocka_unit_test(redirects_stay_at_home),
		cmocka_unit_test(size_is_bounded),
		cmocka_unit_test(a_slow_server_meets_the_deadline),
		cmocka_unit_test(a_closed_port_and_a_cut_answer_are_failures),
		cmocka_unit_test(unsafe_urls_are_refused),
		cmocka_unit_test(a_stop_ends_the_wait),
		cmocka_unit_test(names_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
