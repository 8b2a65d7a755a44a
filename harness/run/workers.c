/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stop.h"
#include "run/fault.h"
#include "run/walk.h"
#include "run/worker.h"
#include "run/workers.h"

struct crew_member {
	size_t machine;
	pid_t pid;
	int fd; /* -1: it has ended */
	bool told;
	enum err_code code; /* once told: how it ended */
	bool unusable;
	char text[WORKER_TEXT_MAX];
	int64_t left_ns; /* < 0: it has not said yet */
	bool measured;
};

struct crew {
	struct engine *engine;
	struct crew_member *members;
	size_t count, working;
	bool stopping;
	struct err fatal; /* what stops all; code 0: nothing */
};

static const char *name_of(const struct crew *crew, const struct crew_member *member)
{
	return crew->engine->plans[member->machine].machine->name;
}

static void set_end(struct crew_member *member, enum err_code code, bool unusable, const char *text)
{
	member->told = true;
	member->code = code;
	member->unusable = unusable;
	(void)snprintf(member->text, sizeof(member->text), "%s", text);
}

/* In the child: what belongs to the others is none of its business. */
static void close_others(const struct crew *crew)
{
	for (size_t i = 0; i < crew->count; i++)
		if (crew->members[i].fd >= 0)
			(void)close(crew->members[i].fd);
}

static void start(struct crew *crew, struct crew_member *member)
{
	pid_t parent = getpid();
	sigset_t all, old;
	int pair[2];

	member->fd = -1;
	member->left_ns = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		set_end(member, ERR_INFRA, true, "no socket for its worker process");
		return;
	}
	/* A signal between the fork and the child's own handlers would be told to the parent. */
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &old);
	member->pid = fork();
	if (member->pid == 0) {
		close_others(crew);
		(void)close(pair[0]);
		worker_main(crew->engine, member->machine, pair[1], parent, &old);
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	(void)close(pair[1]);
	if (member->pid < 0) {
		(void)close(pair[0]);
		set_end(member, ERR_INFRA, true, "its worker process could not be started");
		return;
	}
	member->fd = pair[0];
	crew->working++;
}

/* An orderly end; a third signal to us, which ends us at once, ends them too. */
static void stop_all(struct crew *crew)
{
	crew->stopping = true;
	for (size_t i = 0; i < crew->count; i++)
		if (crew->members[i].fd >= 0)
			(void)kill(crew->members[i].pid, SIGTERM);
}

/* The whole takes as long as the machine that takes longest. */
static void tell_progress(struct crew *crew, struct crew_member *member, struct progress *progress)
{
	const struct engine *engine = crew->engine;

	member->left_ns = progress->left_ns;
	member->measured = progress->measured;
	for (size_t i = 0; i < crew->count; i++) {
		const struct crew_member *other = &crew->members[i];

		if (other->fd < 0 || other->left_ns <= progress->left_ns)
			continue;
		progress->left_ns = other->left_ns;
		progress->measured = other->measured;
	}
	progress->elapsed_ns = clock_now_ns() - engine->started_ns;
	progress->at_work = (int)crew->working;
	if (engine->options->progress)
		engine->options->progress(engine->options->arg, progress);
}

static void tell_line(const struct crew *crew, const struct crew_member *member,
	const struct worker_message *message)
{
	const char *name = name_of(crew, member);

	if (strstr(message->text, name))
		log_line(message->level, "%s", message->text);
	else
		log_line(message->level, "%s: %s", name, message->text);
}

/* Its socket is closed: it has ended. */
static void bury(struct crew *crew, struct crew_member *member)
{
	char text[128];
	int status = 0;
	pid_t reaped;

	(void)close(member->fd);
	member->fd = -1;
	crew->working--;
	do
		reaped = waitpid(member->pid, &status, 0);
	while (reaped < 0 && errno == EINTR);
	if (member->told)
		return;
	if (WIFSIGNALED(status))
		(void)snprintf(text, sizeof(text), "its worker process was ended by signal %d",
			WTERMSIG(status));
	else
		(void)snprintf(text, sizeof(text), "its worker process ended with status %d",
			WEXITSTATUS(status));
	set_end(member, ERR_INFRA, true, text);
}

/* What is about all machines ends the work on all. */
static void take_end(struct crew *crew, struct crew_member *member)
{
	if (member->code == ERR_INTERRUPTED && !crew->stopping && !stop_requested())
		set_end(member, ERR_INFRA, true, "its worker process was asked to stop");
	if (!member->code || member->code == ERR_INTERRUPTED)
		return;
	if (member->unusable)
		walk_park(crew->engine, member->machine, member->text);
	else if (!crew->fatal.code)
		(void)err_set(&crew->fatal, member->code, "%s", member->text);
	if (crew->fatal.code && !crew->stopping)
		stop_all(crew);
}

static void receive(struct crew *crew, struct crew_member *member)
{
	struct worker_message message;

	switch (worker_receive(member->fd, name_of(crew, member), &message)) {
	case WORKER_NOTHING:
		return;
	case WORKER_GONE:
		bury(crew, member);
		take_end(crew, member);
		return;
	case WORKER_PROGRESS:
		tell_progress(crew, member, &message.progress);
		return;
	case WORKER_LINE:
		tell_line(crew, member, &message);
		return;
	case WORKER_END:
		set_end(member, message.code, message.unusable, message.text);
		return;
	}
}

static void listen_to(struct crew *crew)
{
	struct pollfd *fds = xcalloc(crew->count + 1, sizeof(*fds));

	while (crew->working) {
		/* once stopping, its descriptor stays readable */
		fds[crew->count] =
			(struct pollfd){.fd = crew->stopping ? -1 : stop_fd(), .events = POLLIN};
		for (size_t i = 0; i < crew->count; i++)
			fds[i] = (struct pollfd){.fd = crew->members[i].fd, .events = POLLIN};
		if (poll(fds, crew->count + 1, -1) < 0 && errno != EINTR)
			BUG("poll of %zu workers: %s", crew->count, strerror(errno));
		if (stop_requested() && !crew->stopping)
			stop_all(crew);
		for (size_t i = 0; i < crew->count; i++)
			if (crew->members[i].fd >= 0 && fds[i].revents)
				receive(crew, &crew->members[i]);
	}
	free(fds);
}

/* "2 of 3 machines are parked: a: no answer; b: ..." */
static int tell_parked(const struct crew *crew, struct err *err)
{
	const struct crew_member *only = NULL;
	struct str text = STR_INIT;
	size_t parked = 0;
	int ret = 0;

	for (size_t i = 0; i < crew->count; i++) {
		const struct crew_member *member = &crew->members[i];

		if (!member->code || member->code == ERR_INTERRUPTED)
			continue;
		only = parked++ ? NULL : member;
		str_addf(&text, "; %s: %s", name_of(crew, member), member->text);
	}
	if (parked)
		ret = err_set(err, only ? only->code : ERR_INFRA,
			"%zu of %zu machines %s parked: %s", parked,
			crew->engine->view.machine_count, parked == 1 ? "is" : "are",
			str_text(&text) + 2);
	str_release(&text);
	return ret;
}

static int sum_up(const struct crew *crew, struct err *err)
{
	int ret = stop_check(err);

	if (crew->fatal.code)
		return err_set(err, crew->fatal.code, "%s", crew->fatal.text);
	return ret ? ret : tell_parked(crew, err);
}

int workers_walk(struct engine *engine, struct err *err)
{
	struct crew crew = {.engine = engine,
		.members = xcalloc(engine->view.machine_count + 1, sizeof(*crew.members))};
	struct err lost = ERR_INIT;
	int ret;

	store_disconnect(engine->store);
	for (size_t m = 0; m < engine->view.machine_count; m++) {
		if (!walk_anything_left(&engine->view.machines[m]) && !engine->options->grow)
			continue;
		crew.members[crew.count].machine = m;
		start(&crew, &crew.members[crew.count]);
		crew.count++;
	}
	if (store_reconnect(engine->store, &lost)) {
		crew.fatal = lost;
		stop_all(&crew);
	}
	fault_point("workers");
	for (size_t i = 0; i < crew.count; i++)
		if (crew.members[i].told)
			take_end(&crew, &crew.members[i]);
	listen_to(&crew);
	ret = sum_up(&crew, err);
	free(crew.members);
	return ret;
}
