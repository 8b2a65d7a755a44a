/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_SANDBOX_H
#define KB_SYS_SANDBOX_H

#include "base/base.h"

#include "base/err.h"
#include "base/strv.h"

/*
 * Where code that came from outside runs (a kernel's build): without network, as a user of its own,
 * with one folder to read and two to write, and ended as a whole when we end. As much of that as
 * the host allows; what is missing is said. Programs are started with proc_run, with sandbox_argv's
 * words first, sandbox_enter as in_child and the sandbox as arg.
 */
enum sandbox_level {
	SANDBOX_NONE,	    /* nothing: as we are */
	SANDBOX_USER_NS,    /* we are not root: no network, but our own user id */
	SANDBOX_ALONE,	    /* we are root, in a chroot of root's own: no network */
	SANDBOX_USER,	    /* we are root: another user id, but the network stays, and so does
			     * what was started when we are killed */
	SANDBOX_USER_ALONE, /* we are root, in a chroot: no network, another user id */
	SANDBOX_FULL,	    /* we are root: all of it, in a file system view of its own */
};

struct sandbox {
	enum sandbox_level level;
	char *source, *output, *scratch; /* here */
	int keep_fd;			 /* stays open in all programs started; -1: none */
	char *why; /* what stood in the way of a better level; NULL: nothing */
};

/* Finds the best level that works by trying `test` in it. source is read, output and scratch are
 * written (made when absent, and handed to the build's user when we are root). keep_fd is a
 * descriptor, such as a lock, that lives as long as any program in the sandbox. */
KB_MUST_CHECK int sandbox_init(struct sandbox *sandbox, const char *source, const char *output,
	const char *scratch, int keep_fd, struct err *err);
void sandbox_release(struct sandbox *sandbox);

/* The folders as programs in the sandbox see them; borrowed. */
const char *sandbox_source(const struct sandbox *sandbox);
const char *sandbox_output(const struct sandbox *sandbox);
const char *sandbox_scratch(const struct sandbox *sandbox);

/* Adds the words that come before a program and its arguments. */
void sandbox_argv(const struct sandbox *sandbox, struct strv *argv);
/* For struct proc_spec.in_child; arg is the sandbox. */
int sandbox_enter(void *arg);

/* One sentence on what protects us, for logs. */
const char *sandbox_about(const struct sandbox *sandbox);

#endif
