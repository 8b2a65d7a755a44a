/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_PROBE_H
#define KB_AGENT_PROBE_H

#include "base/base.h"

#include "base/str.h"
#include "base/strv.h"

/*
 * Reading /proc and /sys. `root` goes before every path: "" on a machine, a folder with a made-up
 * tree in tests. What cannot be read is absent, never an error: kernels and machines differ. After
 * a call out->text is not NULL.
 */

/* The first line of a file without white space at its end; false, and an empty *out, when it cannot
 * be read. */
KB_PRINTF(3, 4) bool probe_line(struct str *out, const char *root, const char *fmt, ...);
/* A whole file of at most 4 MiB. */
KB_PRINTF(3, 4) bool probe_text(struct str *out, const char *root, const char *fmt, ...);
/* The number that a file starts with, or the fallback. */
KB_PRINTF(3, 4) int64_t probe_int(const char *root, int64_t fallback, const char *fmt, ...);
KB_PRINTF(2, 3) bool probe_exists(const char *root, const char *fmt, ...);
/* Sorted names in a folder; empty when it cannot be read. */
KB_PRINTF(3, 4) void probe_list(struct strv *names, const char *root, const char *fmt, ...);

/* The text after "KEY" and any of " \t:=" at the start of a line of text (as in /proc/cpuinfo,
 * /proc/meminfo, /etc/os-release), up to the end of that line; false when there is none. */
bool probe_field(const char *text, const char *key, struct str *out);
/* The number there, or the fallback. */
int64_t probe_field_int(const char *text, const char *key, int64_t fallback);

/* A CPU list as the kernel writes it, "0-3,8": the number of CPUs, or -1 when it is malformed.
 * cpus, when not NULL, gets the members that are below max_cpus, ascending. */
int64_t probe_cpu_list(const char *text, int *cpus, size_t max_cpus);

/* Makes sure that debugfs is there under /sys/kernel/debug of a real root; needs rights. */
void probe_mount_debugfs(const char *root);

#endif
