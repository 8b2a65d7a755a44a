/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_SUPPORT_H
#define KB_TESTS_SUPPORT_H

/*
 * What tests need around the thing they test: folders, files, git repositories, an HTTP server.
 * Nothing here uses kbracket's own code, so that its mistakes cannot hide themselves. Whatever goes
 * wrong in here ends the test program with a message.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A new empty folder under $TMPDIR or /tmp; freed by support_folder_free, which removes it. */
char *support_folder(void);
void support_folder_free(char *folder);

/* "FOLDER/NAME", printf style; freed by the caller. */
__attribute__((format(printf, 1, 2))) char *support_path(const char *fmt, ...);
void support_write(const char *path, const char *text);
void support_write_bytes(const char *path, const void *bytes, size_t len);
/* A whole file, NUL-ended; freed by the caller. *len may be NULL. */
char *support_read(const char *path, size_t *len);

/* Runs a program in a folder (NULL: here) with the arguments up to NULL, with no shell. Its exit
 * code must be 0. Returns its stdout without the last newline; freed by the caller. */
__attribute__((sentinel)) char *support_run(const char *folder, const char *program, ...);
/* The same, and only the exit code is returned; its output is thrown away. */
__attribute__((sentinel)) int support_try(const char *folder, const char *program, ...);

/* A git repository with no commit, a fixed author and date, and no influence of the user's own
 * settings. */
void support_git_init(const char *repo);
/* Writes the file (its folders are made; text NULL removes it) and commits it. Returns the commit's
 * hex name; freed by the caller. Dates grow by a minute with each commit. */
char *support_git_commit(const char *repo, const char *file, const char *text, const char *message);

/*
 * An HTTP server on 127.0.0.1 in a thread of its own, one connection after the other.
 */
struct support_route {
	const char *path;    /* "/a/b?c": the whole request target */
	int status;	     /* 0: 200 */
	const char *headers; /* "Location: /x\r\n"; NULL: none. A Content-Length replaces ours */
	const char *body;    /* NULL: empty */
	size_t body_len;     /* 0: strlen */
	int delay_ms;	     /* before the answer */
	int drip_ms;	     /* between the bytes of the body; 0: all at once */
	bool endless;	     /* the body is repeated for ever, without a Content-Length */
};

struct support_http;
/* The routes stay the caller's and may not change. Other paths are answered with 404. */
struct support_http *support_http_start(const struct support_route *routes, size_t count);
int support_http_port(const struct support_http *server);
/* "http://127.0.0.1:PORT" + path; freed by the caller. */
char *support_http_url(const struct support_http *server, const char *path);
/* How often a path was asked for. */
int support_http_hits(struct support_http *server, const char *path);
void support_http_stop(struct support_http *server);

#endif
