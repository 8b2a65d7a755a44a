/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_SPEC_H
#define KB_AGENT_SPEC_H

#include "base/base.h"

#include "base/err.h"
#include "base/strv.h"

/*
 * What is to be run: one JSON object of at most 1 MiB. Unknown members are errors. Members:
 *
 *	argv		["hackbench", "-g", "8"]; required. A name without "/" is looked up in the
 *			PATH of env
 *	timeout_ns	from the start of the program; required, more than 0
 *	output_bytes	limit of stdout and of stderr each; required, 1 to 1 GiB
 *	env		["NAME=VALUE"]; beside PATH, HOME and LC_ALL=C, which it may replace, the
 *			program has no environment but KBRACKET_RUN
 *	cwd		absolute folder; default: a new empty one that is removed after the run
 *	work_bytes	with the default cwd: it is a tmpfs of that size; 0 (default): an ordinary
 *			folder
 *	links		{"NAME": "/absolute/path"}: symbolic links made in the default cwd
 *	settle_ns	wait before the start, at most 60 s; what others use then is reported
 *(window) on_second	true: start at the edge of a second of the wall clock
 *	heat_mc heat_within_mc heat_wait_ns	wait before that, see heat.h; default: not at all
 *	kmsg_after	sequence number: report the kernel's log after it; default -1: only what
 *			came during the run
 *	id		any text, returned in the result
 *	setup teardown	[["initdb", "-D", "data"]]: commands before the start and after the end, in
 *			the program's folder and environment
 *	server		["memcached"]: runs from the set-up to the tear-down, in the foreground
 *	ready		["pg_isready"]: exits with 0 once the server does its work
 *	ready_port	1 to 65535: the server does its work once it takes connections there, on
 *			127.0.0.1; 0 (default): not asked
 *	perf		absolute path of perf; needed for events
 *	events		["task-clock"]: counted by perf stat while the program runs (count.h)
 *	main_thread	true: of its first thread alone
 *	functions	["schedule"]: kernel functions whose calls are counted then
 *	step_ns		how long each command may take, and the server until it is ready; default
 *			60 s
 */
struct spec_commands {
	struct strv *items;
	size_t count, capacity;
};

struct run_spec {
	struct strv argv, env;
	struct spec_commands setup, teardown;
	struct strv server, ready; /* empty: none */
	int64_t ready_port, step_ns;
	struct strv link_names, link_targets;
	struct strv events, functions;
	char *perf;
	bool main_thread;
	char *cwd, *id;				       /* NULL: default; "" */
	int64_t heat_mc, heat_within_mc, heat_wait_ns; /* within 0: not asked */
	int64_t timeout_ns, output_bytes, work_bytes, settle_ns, kmsg_after;
	bool on_second;
};

enum { SPEC_MAX_BYTES = 1 << 20 };

/* Reads hostile bytes; ERR_USAGE names the member that is wrong. Released by the caller always. */
KB_MUST_CHECK int spec_parse(const char *bytes, size_t len, struct run_spec *spec, struct err *err);
void spec_release(struct run_spec *spec);
/* Whether there is a set-up, a server or a tear-down. */
bool spec_has_around(const struct run_spec *spec);

#endif
