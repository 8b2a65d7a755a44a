/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_PLUMBING_H
#define KB_SYS_PLUMBING_H

#include "base/base.h"

#include "base/err.h"
#include "sys/proc.h"
#include "sys/stream.h"

/*
 * Where a child's stdin comes from and where its output goes, as its spec says. Private to proc.c
 * and proc_start.c.
 */
struct plumbing {
	int child_fds[3];
	bool owned[3]; /* child_fds that we have to close */
	int file_fd;   /* output_path; -1: none */
	struct stream streams[2];
};

/* For proc_run: pipes where output is captured, counted or read by lines. */
KB_MUST_CHECK int plumbing_open(struct plumbing *plumbing, const struct proc_spec *spec,
	struct proc_result *result, struct err *err);
/* For proc_start: no pipes. */
KB_MUST_CHECK int plumbing_open_detached(
	struct plumbing *plumbing, const struct proc_spec *spec, struct err *err);
/* Call after the start of the child, else no pipe ever ends. */
void plumbing_close_child_ends(struct plumbing *plumbing);
void plumbing_pump(struct plumbing *plumbing, size_t max_bytes);
bool plumbing_is_over(const struct plumbing *plumbing);
int plumbing_write_errno(const struct plumbing *plumbing);
/* Hands on unfinished lines and closes everything; half-opened plumbing is fine. */
void plumbing_close(struct plumbing *plumbing);

#endif
