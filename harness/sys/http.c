/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/stop.h"
#include "sys/http.h"

enum { REDIRECTS_MAX = 5, POLL_MS = 1000 };
static const size_t default_max_bytes = 16 << 20;
static const int64_t default_timeout_ns = 60 * NS_PER_S;
static const int64_t connect_timeout_ms = 30000;

struct transfer {
	CURL *easy;
	CURLM *multi;
	struct str body;
	size_t max_bytes;
	bool too_large;
	int64_t timeout_ns, deadline_ns;
};

/* Where a URL leads: what must stay the same through a redirect. */
struct origin {
	char *scheme, *host, *port;
};

static void origin_release(struct origin *origin)
{
	curl_free(origin->scheme);
	curl_free(origin->host);
	curl_free(origin->port);
}

static bool is_loopback(const char *host)
{
	struct in_addr v4;

	if (strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0)
		return true;
	return inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

static int check_url(CURLU *url, const char *text, struct origin *origin, struct err *err)
{
	char *user = NULL;
	bool has_user = curl_url_get(url, CURLUPART_USER, &user, 0) == CURLUE_OK;

	curl_free(user);
	if (curl_url_get(url, CURLUPART_SCHEME, &origin->scheme, 0) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_HOST, &origin->host, 0) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_PORT, &origin->port, CURLU_DEFAULT_PORT) != CURLUE_OK)
		return err_set(err, ERR_USAGE, "%s is not the URL of a file on a server", text);
	if (has_user)
		return err_set(err, ERR_USAGE, "a URL with a user name is not supported");
	if (strcmp(origin->scheme, "https") == 0)
		return 0;
	if (strcmp(origin->scheme, "http") != 0)
		return err_set(err, ERR_USAGE, "%s: only https is supported", text);
	if (!is_loopback(origin->host))
		return err_set(err, ERR_USAGE,
			"%s: http without TLS is only allowed to this machine; write https", text);
	return 0;
}

static int read_origin(const char *url, struct origin *origin, struct err *err)
{
	struct str safe = STR_INIT;
	CURLU *parsed = curl_url();
	int ret;

	str_add_safe(&safe, url, strlen(url));
	if (curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK)
		ret = err_set(err, ERR_USAGE, "'%s' is not a URL", str_text(&safe));
	else
		ret = check_url(parsed, str_text(&safe), origin, err);
	curl_url_cleanup(parsed);
	str_release(&safe);
	return ret;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
	struct transfer *t = arg;

	if (t->body.len + size * count > t->max_bytes) {
		t->too_large = true;
		return 0; /* ends the transfer */
	}
	str_add_bytes(&t->body, bytes, size * count);
	return size * count;
}

/* Waits for the network, the person's stop, or the deadline. */
static int wait_for_transfer(struct transfer *t, CURLcode *result, struct err *err)
{
	struct curl_waitfd stop = {.fd = stop_fd(), .events = CURL_WAIT_POLLIN};
	int running = 1;

	for (;;) {
		struct CURLMsg *message;
		int left_ms, ret = stop_check(err);

		if (ret)
			return ret;
		if (curl_multi_perform(t->multi, &running) != CURLM_OK)
			return err_set(err, ERR_INFRA, "the transfer failed inside libcurl");
		message = curl_multi_info_read(t->multi, &left_ms);
		if (message && message->msg == CURLMSG_DONE) {
			*result = message->data.result;
			return 0;
		}
		left_ms = clock_poll_ms(t->deadline_ns);
		if (!left_ms) {
			*result = CURLE_OPERATION_TIMEDOUT;
			return 0;
		}
		(void)curl_multi_poll(
			t->multi, &stop, stop.fd >= 0, left_ms < POLL_MS ? left_ms : POLL_MS, NULL);
	}
}

static int tell_failure(const struct transfer *t, CURLcode result, const char *why, struct err *err)
{
	struct str safe = STR_INIT;
	int ret;

	if (t->too_large) {
		num_add_bytes(&safe, (int64_t)t->max_bytes);
		ret = err_set(err, ERR_INFRA, "the answer is larger than %s", str_text(&safe));
	} else if (result == CURLE_OPERATION_TIMEDOUT) {
		num_add_duration(&safe, t->timeout_ns);
		ret = err_set(err, ERR_TIMEOUT, "no whole answer within %s", str_text(&safe));
	} else {
		const char *said = why[0] ? why : curl_easy_strerror(result);

		str_add_safe(&safe, said, strlen(said));
		ret = err_set(err, ERR_INFRA, "%s", str_text(&safe));
	}
	str_release(&safe);
	return ret;
}

static void set_options(const struct transfer *t, const char *url, char *why)
{
	curl_easy_reset(t->easy);
	(void)curl_easy_setopt(t->easy, CURLOPT_URL, url);
	(void)curl_easy_setopt(t->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	(void)curl_easy_setopt(t->easy, CURLOPT_FOLLOWLOCATION, 0L); /* ours, below */
	(void)curl_easy_setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_timeout_ms);
	(void)curl_easy_setopt(t->easy, CURLOPT_USERAGENT, "kbracket");
	(void)curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, why);
	(void)curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_body);
	(void)curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, (void *)t);
	if (str_starts(url, "http:")) /* to this machine: no proxy of the network */
		(void)curl_easy_setopt(t->easy, CURLOPT_NOPROXY, "*");
}

/* One request. *location is set to where the server redirects to (freed by the caller), or NULL. */
static int request_once(
	struct transfer *t, const char *url, long *status, char **location, struct err *err)
{
	char why[CURL_ERROR_SIZE] = "";
	char *redirect = NULL;
	CURLcode result = CURLE_OK;
	int ret;

	str_reset(&t->body);
	set_options(t, url, why);
	if (curl_multi_add_handle(t->multi, t->easy) != CURLM_OK)
		return err_set(err, ERR_INFRA, "the transfer cannot begin");
	ret = wait_for_transfer(t, &result, err);
	(void)curl_multi_remove_handle(t->multi, t->easy);
	if (ret == 0 && result != CURLE_OK)
		ret = tell_failure(t, result, why, err);
	if (ret)
		return ret;
	(void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, status);
	(void)curl_easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &redirect);
	*location = redirect ? xstrdup(redirect) : NULL;
	return 0;
}

static int check_same_origin(const struct origin *origin, const char *url, struct err *err)
{
	struct origin other = {NULL, NULL, NULL};
	int ret = read_origin(url, &other, err);

	if (ret == 0 && (strcmp(origin->scheme, other.scheme) != 0 ||
				strcasecmp(origin->host, other.host) != 0 ||
				strcmp(origin->port, other.port) != 0))
		ret = err_set(err, ERR_INFRA,
			"redirects to another server (%.100s, port %.10s), which is not followed",
			other.host, other.port);
	origin_release(&other);
	return ret;
}

static int check_status(long status, struct err *err)
{
	if (status == 200)
		return 0;
	if (status == 404)
		return err_set(err, ERR_NOT_FOUND, "the server says 404: there is no such page");
	return err_set(err, ERR_INFRA, "the server says %ld", status);
}

static int follow(
	struct transfer *t, const char *first_url, const struct origin *origin, struct err *err)
{
	char *url = xstrdup(first_url);
	int ret, hops = 0;

	for (;;) {
		char *location = NULL;
		long status = 0;

		ret = request_once(t, url, &status, &location, err);
		if (ret || !location) {
			ret = ret ? ret : check_status(status, err);
			break;
		}
		free(url);
		url = location;
		ret = check_same_origin(origin, url, err);
		if (ret == 0 && ++hops > REDIRECTS_MAX)
			ret = err_set(err, ERR_INFRA, "more than %d redirects", REDIRECTS_MAX);
		if (ret)
			break;
	}
	free(url);
	return ret;
}

/* Not safe against threads, as the rest of kbracket, which has one. */
static void start_library(void)
{
	static bool started;

	if (!started && curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		BUG("libcurl does not start");
	started = true;
}

int http_get(const struct http_request *request, struct str *body, struct err *err)
{
	struct transfer t = {
		.max_bytes = request->max_bytes ? request->max_bytes : default_max_bytes,
		.timeout_ns = request->timeout_ns ? request->timeout_ns : default_timeout_ns};
	struct origin origin = {NULL, NULL, NULL};
	int ret;

	start_library();
	ret = read_origin(request->url, &origin, err);
	if (ret)
		goto out;
	t.deadline_ns = clock_now_ns() + t.timeout_ns;
	t.easy = curl_easy_init();
	t.multi = curl_multi_init();
	if (!t.easy || !t.multi)
		BUG("no memory for a transfer");
	ret = follow(&t, request->url, &origin, err);
	if (ret)
		(void)err_wrap(err, "GET %.500s", request->url);
	curl_easy_cleanup(t.easy);
	(void)curl_multi_cleanup(t.multi);
out:
	origin_release(&origin);
	str_release(ret ? &t.body : body);
	if (ret == 0)
		*body = t.body;
	return ret;
}

void http_add_escaped(struct str *out, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~";

	for (; *text; text++) {
		if (strchr(plain, *text))
			str_add_char(out, *text);
		else
			str_addf(out, "%%%02X", (unsigned char)*text);
	}
}
