/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

#include "agent/around.h"
#include "agent/bytes.h"
#include "agent/cgroup.h"
#include "agent/count.h"
#include "agent/js.h"
#include "agent/kmsg.h"
#include "agent/heat.h"
#include "agent/launch.h"
#include "agent/probe.h"
#include "agent/reap.h"
#include "agent/result.h"
#include "agent/room.h"
#include "agent/snapshot.h"
#include "agent/supervise.h"

/* Between the last look at the machine and the second's edge on which the program starts. */
#define EDGE_LEAD_NS (40 * NS_PER_MS)

struct run {
	const struct place *place;
	const struct run_spec *spec;
	const char *root;
	struct place_mark mark;
	struct cgroup cgroup;
	struct room room;
	struct around around;
	struct count count;    /* all zero unless the run is made for counting */
	int64_t around_cpu_ns; /* in the cgroup before the program started */
	struct strv env;
	struct launch_mark *launched;
	json_t *result;
	int kmsg_fd;
	char *oom_score;
};

static bool env_has(const struct strv *env, const char *assignment)
{
	size_t len = strcspn(assignment, "=") + 1;

	for (size_t i = 0; i < env->count; i++)
		if (strncmp(env->items[i], assignment, len) == 0)
			return true;
	return false;
}

/* What the spec says, the defaults that it does not replace, and the run's token. */
static void make_env(struct run *run)
{
	const char *home = getenv("HOME");
	char *home_entry = xasprintf("HOME=%s", home ? home : "/");
	const char *defaults[] = {LAUNCH_PATH, "LC_ALL=C", home_entry};

	for (size_t i = 0; i < run->spec->env.count; i++)
		strv_add(&run->env, run->spec->env.items[i]);
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		if (!env_has(&run->env, defaults[i]))
			strv_add(&run->env, defaults[i]);
	strv_addf(&run->env, "KBRACKET_RUN=%s", run->mark.token);
	free(home_entry);
}

/* Out of the cgroup of the connection that brought us: a session manager may kill what is in it. */
static void leave_session_cgroup(void)
{
	struct cgroup own;

	cgroup_make(&own, "agent");
	(void)cgroup_enter(&own); /* without it we stay where we are */
	cgroup_release(&own);
}

/* The kernel's out-of-memory killer shall take the program, not the agent. */
static char *protect_from_oom(void)
{
	struct str score = STR_INIT;
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	bool changed;

	(void)probe_line(&score, "", "/proc/self/oom_score_adj");
	changed = fd >= 0 && write(fd, "-1000", 5) == 5;
	if (fd >= 0)
		(void)close(fd); /* the write is what counts */
	if (changed && score.len)
		return str_take(&score);
	str_release(&score);
	return NULL;
}

/* Sleeps as the spec asks; returns the wall-clock time at which the program shall start, 0: now. */
static int64_t settle(const struct run_spec *spec)
{
	int64_t until = clock_now_ns() + spec->settle_ns, wall, edge;

	while (clock_now_ns() < until)
		clock_sleep_ns(until - clock_now_ns());
	if (!spec->on_second)
		return 0;
	wall = clock_wall_ns();
	edge = (wall / NS_PER_S + 1) * NS_PER_S;
	if (edge - wall < 2 * EDGE_LEAD_NS)
		edge += NS_PER_S;
	while (clock_wall_ns() < edge - EDGE_LEAD_NS)
		clock_sleep_ns(edge - EDGE_LEAD_NS - clock_wall_ns());
	return edge;
}

/* All that can fail before the program exists. */
static int prepare(struct run *run, char **program, struct err *err)
{
	const char *name = run->spec->argv.items[0];
	int ret;

	place_mark_make(&run->mark);
	make_env(run);
	*program = launch_find(name, strv_argv(&run->env));
	if (!*program)
		return err_set(err, ERR_NOT_FOUND, "there is no program \"%s\" in the PATH", name);
	ret = room_open(&run->room, run->place, run->spec, err);
	if (ret)
		return ret;
	cgroup_make(&run->cgroup, run->mark.token);
	return place_mark_write(run->place, &run->mark, err);
}

static void add_window(struct run *run, int64_t begin_ns, int64_t busy_before_ns)
{
	int64_t busy_ns = snapshot_busy_ns(run->root);
	json_t *o = json_object();

	js_int(o, "wall_ns", clock_now_ns() - begin_ns);
	js_count(o, "busy_ns", busy_ns < 0 || busy_before_ns < 0 ? -1 : busy_ns - busy_before_ns);
	js_set(run->result, "window", o);
}

static int64_t own_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static int64_t timeval_ns(struct timeval tv)
{
	return tv.tv_sec * NS_PER_S + tv.tv_usec * 1000;
}

static void add_usage(json_t *o, const struct rusage *usage)
{
	js_int(o, "user_ns", timeval_ns(usage->ru_utime));
	js_int(o, "system_ns", timeval_ns(usage->ru_stime));
	js_int(o, "max_rss_bytes", usage->ru_maxrss * INT64_C(1024));
	js_int(o, "voluntary_switches", usage->ru_nvcsw);
	js_int(o, "involuntary_switches", usage->ru_nivcsw);
	js_int(o, "minor_faults", usage->ru_minflt);
	js_int(o, "major_faults", usage->ru_majflt);
}

static void add_ending(struct run *run, const struct reap_report *report)
{
	bool exited = report->reaped && WIFEXITED(report->status);
	bool signalled = report->reaped && WIFSIGNALED(report->status);
	json_t *o = run->result;

	js_count(o, "exit_code", exited ? WEXITSTATUS(report->status) : -1);
	js_count(o, "signal", signalled ? WTERMSIG(report->status) : -1);
	js_int(o, "killed", report->killed);
	js_int(o, "survivors", report->survivors);
	add_usage(o, &report->usage);
}

/* The program runs in here. */
static void measure(struct run *run, const struct launch *launch, pid_t program)
{
	int64_t wait_ns = launch->start_wall_ns ? launch->start_wall_ns - clock_wall_ns() : 0;
	int64_t deadline = clock_now_ns() + wait_ns + run->spec->timeout_ns;
	int64_t switches = own_switches(), ended_ns, ended_wall_ns;
	enum wait_end end = reap_wait(program, deadline);
	struct reap_report report;
	struct err why = ERR_INIT;
	int64_t cgroup_ns;
	json_t *o = run->result;

	ended_ns = clock_now_ns();
	ended_wall_ns = clock_wall_ns();
	js_int(o, "agent_switches", own_switches() - switches);
	if (count_is_wanted(run->spec))
		count_stop(&run->count);
	js_set(o, "after", snapshot_take(run->root));
	js_count(o, "disk_free_bytes", file_free_bytes(run->room.cwd));
	js_bool(o, "timed_out", end == WAIT_DEADLINE);
	js_bool(o, "cancelled", end == WAIT_CANCELLED);
	cgroup_ns = cgroup_cpu_ns(&run->cgroup);
	if (around_check_server(&run->around, &why))
		js_text(o, "around_error", why.text);
	if (end == WAIT_EXITED)
		around_stop_server(&run->around);
	reap_all(program, &run->cgroup, &report);
	run->around.server.pid = 0; /* at the latest now */
	add_ending(run, &report);
	js_count(o, "cgroup_cpu_ns", cgroup_ns < 0 ? -1 : cgroup_ns - run->around_cpu_ns);
	if (run->launched->started_ns) {
		js_int(o, "wall_ns", ended_ns - run->launched->started_ns);
		js_int(o, "started_wall_ns", run->launched->started_wall_ns);
		js_int(o, "ended_wall_ns", ended_wall_ns);
	}
}

/* Files of a set-up or a server, where they cannot be bounded together. */
#define AROUND_FILE_BYTES (INT64_C(1) << 30)

static int begin_around(struct run *run, struct err *err)
{
	const struct launch launch = {.env = strv_argv(&run->env),
		.cwd = run->room.cwd,
		.out_fd = run->room.log.fd,
		.err_fd = run->room.log.fd,
		.cgroup = &run->cgroup,
		.max_file_bytes = run->room.tmpfs ? 0 : AROUND_FILE_BYTES,
		.oom_score = run->oom_score};
	int ret;

	if (!spec_has_around(run->spec))
		return 0;
	ret = around_begin(&run->around, run->spec, &launch, err);
	run->around_cpu_ns = cgroup_cpu_ns(&run->cgroup);
	return ret;
}

/* Nothing of the set-up or the server is left afterwards, whatever happened before. */
static void end_around(struct run *run)
{
	struct reap_report report;
	struct err why = ERR_INIT;

	if (!run->around.begun)
		return;
	if (around_end(&run->around, &why) &&
		!json_is_string(json_object_get(run->result, "around_error")))
		js_text(run->result, "around_error", why.text);
	reap_all(0, &run->cgroup, &report);
}

/* The program is there and waits, and perf is attached to it. */
static int start_counted(struct run *run, struct launch *launch, pid_t *program, struct err *err)
{
	int ret = count_init(&run->count, run->spec, run->root, err);
	struct reap_report report;

	if (ret)
		return ret;
	launch->gate_fd = run->count.gate[0];
	*program = launch_start(launch, run->launched);
	if (*program < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot fork");
	ret = count_attach(&run->count, run->place, *program, err);
	if (ret) {
		(void)kill(*program, SIGKILL);
		while (waitpid(*program, NULL, 0) < 0 && errno == EINTR)
			;
		count_release(&run->count);
		reap_all(0, &run->cgroup, &report); /* a perf that is a script has children */
	}
	return ret;
}

static int start_and_measure(struct run *run, const char *path, struct err *err)
{
	bool counted = count_is_wanted(run->spec);
	int64_t begin_ns, busy_ns;
	struct launch launch = {.program = path,
		.argv = strv_argv(&run->spec->argv),
		.env = strv_argv(&run->env),
		.cwd = run->room.cwd,
		.out_fd = run->room.out.fd,
		.err_fd = run->room.err_out.fd,
		.cgroup = &run->cgroup,
		.max_file_bytes = run->room.max_file_bytes,
		.oom_score = run->oom_score};
	pid_t program = 0;
	int ret = counted ? start_counted(run, &launch, &program, err) : 0;

	if (ret)
		return ret;
	if (run->spec->heat_within_mc)
		js_set(run->result, "heat", heat_wait(run->root, run->spec));
	begin_ns = clock_now_ns();
	busy_ns = snapshot_busy_ns(run->root);
	launch.start_wall_ns = settle(run->spec);
	add_window(run, begin_ns, busy_ns);
	js_set(run->result, "before", snapshot_take(run->root));
	run->kmsg_fd = kmsg_mark();
	if (launch.start_wall_ns && clock_wall_ns() > launch.start_wall_ns)
		launch.start_wall_ns += NS_PER_S; /* the look around took too long */
	if (counted)
		launch.start_wall_ns = count_start(&run->count, launch.start_wall_ns);
	else
		program = launch_start(&launch, run->launched);
	if (program < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot fork");
	measure(run, &launch, program);
	if (run->launched->stage)
		return launch_failed(run->launched, path, path, err);
	return 0;
}

static int keep_dmesg(struct run *run, struct err *err)
{
	char *path = place_path(run->place, "dmesg");
	struct str text = STR_INIT;
	int ret;

	js_set(run->result, "kmsg", kmsg_since(run->kmsg_fd, run->spec->kmsg_after, &text));
	js_int(run->result, "dmesg_bytes", (int64_t)text.len);
	ret = bytes_put_file(path, str_text(&text), text.len, err);
	str_release(&text);
	free(path);
	return ret;
}

static int keep_all(struct run *run, struct err *err)
{
	int ret = room_keep_outputs(&run->room, err);
	int64_t counters_bytes;

	js_int(run->result, "stdout_bytes", run->room.out.bytes);
	js_int(run->result, "stderr_bytes", run->room.err_out.bytes);
	if (run->room.log.fd >= 0)
		js_int(run->result, "around_bytes", run->room.log.bytes);
	js_bool(run->result, "output_limit", run->room.over_limit);
	js_bool(run->result, "tmpfs", run->room.tmpfs);
	js_bool(run->result, "work_tmpfs", run->room.work_tmpfs);
	js_bool(run->result, "cgroup", run->cgroup.path != NULL);
	if (!ret && count_is_wanted(run->spec)) {
		ret = count_keep(&run->count, run->place, &counters_bytes, err);
		js_int(run->result, "counters_bytes", counters_bytes);
	}
	return ret ? ret : keep_dmesg(run, err);
}

void supervise_run(const struct place *place, const struct run_spec *spec, const char *root)
{
	struct run run = {.place = place,
		.spec = spec,
		.root = root,
		.kmsg_fd = -1,
		.room = {.place = place,
			.out = {.fd = -1},
			.err_out = {.fd = -1},
			.log = {.fd = -1}},
		.launched = launch_mark_make(),
		.result = json_object()};
	struct err err = ERR_INIT, ignored = ERR_INIT;
	const char *state;
	char *program = NULL;
	int ret;

	reap_prepare();
	leave_session_cgroup();
	run.oom_score = protect_from_oom();
	ret = prepare(&run, &program, &err);
	if (ret == 0)
		ret = begin_around(&run, &err);
	if (ret == 0)
		ret = start_and_measure(&run, program, &err);
	end_around(&run);
	if (ret) {
		state = "not-started";
		(void)!room_keep_log(&run.room, &ignored); /* why it was not is in err */
	} else {
		room_drop_work(&run.room);
		ret = keep_all(&run, &err);
		state = ret ? "lost" : "ended";
	}
	js_text(run.result, "state", state);
	js_text(run.result, "error", ret ? err.text : NULL);
	js_text(run.result, "id", spec->id ? spec->id : "");
	js_text(run.result, "token", run.mark.token);
	room_release(&run.room);
	count_release(&run.count);
	cgroup_release(&run.cgroup);
	/* When even this fails (a full disk), the run is found without a result: lost. */
	(void)!result_write(place, run.result, &err);
	if (run.kmsg_fd >= 0)
		(void)close(run.kmsg_fd);
	json_decref(run.result);
	strv_release(&run.env);
	free(run.oom_score);
	free(program);
}
