/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_PROC_H
#define KB_SYS_PROC_H

#include "base/base.h"

#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

/*
 * Child processes: argument vectors, never a shell. Every child leads its own session and process
 * group (no terminal: nothing can stop and ask), has default signal dispositions, inherits no
 * descriptors but 0, 1 and 2, and dies with us (PR_SET_PDEATHSIG; a program that gains rights, as
 * sudo, loses that). When it ends, what it left running in its group is killed.
 */
struct proc_spec {
	const char *const *argv; /* NULL-ended; argv[0] is looked up in PATH */
	const char *const *env;	 /* NULL-ended NAME=VALUE list; NULL inherits ours */
	const char *cwd;	 /* NULL: ours */
	int64_t timeout_ns;	 /* 0: none. Then SIGTERM to the group, 2 s later SIGKILL */
	size_t max_output_bytes; /* of stdout and of stderr each; 0: 1 MiB, with output_path no
				    limit. More: killed, output_limit */
	const void *input;	 /* given on stdin; NULL: /dev/null */
	size_t input_len;
	int input_fd; /* > 0: this descriptor is the child's stdin instead (a file to copy) */
	const char *
		output_path; /* stdout and stderr go to this file (appended) and are not captured */
	int output_fd;	     /* > 0: stdout goes to this descriptor and is not captured */
	/* called for each whole line of stdout and stderr as it arrives, without its line end (with
	 * output_path too: the line is also written to the file); lines over 64 KiB come in pieces;
	 * NULL: none */
	void (*on_line)(void *arg, const char *line);
	void *arg;
	/* runs in the child between fork and exec (async-signal-safe calls only), to drop rights;
	 * a value other than 0 ends the child with exit 126 */
	int (*in_child)(void *arg);
	bool ignore_stop; /* finish even when stop_requested(): for clean-up commands */
};

struct proc_result {
	int exit_code;	    /* -1 when ended by a signal */
	int signal;	    /* 0 when it exited */
	bool timed_out;	    /* we ended it at the deadline */
	bool output_limit;  /* we ended it for printing too much */
	int64_t timeout_ns; /* of the spec, for proc_describe */
	int64_t wall_ns;
	struct str out;	    /* captured stdout, bytes */
	struct str err_out; /* captured stderr, bytes */
};

#define PROC_RESULT_INIT                                     \
	{                                                    \
		0, 0, false, false, 0, 0, STR_INIT, STR_INIT \
	}

/* Runs to its end. 0 when the program was started and ended in any way (look at *result);
 * ERR_NOT_FOUND when there is no such program, ERR_INFRA when it could not be started,
 * ERR_INTERRUPTED when a stop was asked for (the group is killed and reaped first). The caller
 * releases *result in every case. */
KB_MUST_CHECK int proc_run(
	const struct proc_spec *spec, struct proc_result *result, struct err *err);

/* As proc_run, and anything but exit code 0 is ERR_INFRA (ERR_TIMEOUT at the deadline) with the
 * last lines of stderr (or stdout) made safe in the text. *out gets stdout; may be NULL. */
KB_MUST_CHECK int proc_check(const struct proc_spec *spec, struct str *out, struct err *err);

/* One sentence on how a child ended: "exit 2", "killed by signal 9 (Killed)", "no end within 30 s".
 */
void proc_describe(const struct proc_result *result, struct str *out);

void proc_result_release(struct proc_result *result);

/* A child that goes on while we work (a guest). timeout_ns, input, max_output_bytes and on_line are
 * not used; output goes to output_path or output_fd (with both: stdout to output_fd, stderr to
 * output_path), or to /dev/null. */
struct proc;
KB_MUST_CHECK int proc_start(const struct proc_spec *spec, struct proc **out, struct err *err);
pid_t proc_pid(const struct proc *proc);
/* True while it runs; when it has ended, exit_code, signal and wall_ns of *result (may be NULL) are
 * filled in. Never waits. */
bool proc_alive(struct proc *proc, struct proc_result *result);
/* Kill ladder over the whole group: SIGTERM, after grace_ns SIGKILL; reaps. */
void proc_kill(struct proc *proc, int64_t grace_ns);
/* Kills with SIGKILL what still runs, and frees. NULL is fine. */
void proc_free(struct proc *proc);

/* The full path of a program found in PATH, /usr/sbin and /sbin; NULL when there is none. Freed by
 * the caller. */
char *proc_find_program(const char *name);

/* Splits a command line at blanks with shell quoting ('..', "..", \x) and appends the words to
 * *out, without a shell: no variables, globs or operators. ERR_USAGE for an open quote. */
struct strv;
KB_MUST_CHECK int proc_split_words(const char *text, struct strv *out, struct err *err);

#endif
