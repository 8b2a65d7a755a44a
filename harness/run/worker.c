/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/stop.h"
#include "run/fault.h"
#include "run/walk.h"
#include "run/worker.h"

/* A packet that is not taken is not worth waiting for where a newer one says the same. */
static void say(int fd, const struct worker_message *message, bool must_arrive)
{
	ssize_t sent;

	do
		sent = send(fd, message, sizeof(*message),
			MSG_NOSIGNAL | (must_arrive ? 0 : MSG_DONTWAIT));
	while (sent < 0 && errno == EINTR);
}

static void set_text(char *to, size_t size, bool *has, const char *text)
{
	*has = text != NULL;
	(void)snprintf(to, size, "%s", text ? text : "");
}

/* Those that a person reads as a line of their own; the others only redraw one. */
static bool is_line(const struct progress *progress)
{
	switch (progress->kind) {
	case PROGRESS_PROVED:
	case PROGRESS_BOOT_FAILED:
	case PROGRESS_RECOVER:
	case PROGRESS_RUN_END:
	case PROGRESS_BUILT:
	case PROGRESS_BUILD_FAILED:
		return true;
	case PROGRESS_MACHINE:
		return progress->text != NULL;
	case PROGRESS_BUILD:
	case PROGRESS_BUILD_LINE:
	case PROGRESS_BOOT:
	case PROGRESS_RUN:
	case PROGRESS_BOOT_END:
	case PROGRESS_END:
		return false;
	}
	BUG("no such progress: %d", (int)progress->kind);
}

static void say_progress(void *arg, const struct progress *progress)
{
	struct worker_message message = {.word = WORKER_PROGRESS, .progress = *progress};

	set_text(message.variant, sizeof(message.variant), &message.has_variant, progress->variant);
	set_text(message.condition, sizeof(message.condition), &message.has_condition,
		progress->condition);
	set_text(message.text, sizeof(message.text), &message.has_text, progress->text);
	say(*(const int *)arg, &message, is_line(progress));
}

static void say_line(void *arg, enum log_level level, const char *line)
{
	struct worker_message message = {.word = WORKER_LINE, .level = level};

	if (level == LOG_PROGRESS) /* of what is drawn by the other side */
		return;
	set_text(message.text, sizeof(message.text), &message.has_text, line);
	say(*(const int *)arg, &message, true);
}

static void say_end(int fd, int ret, bool unusable, const struct err *err)
{
	struct worker_message message = {
		.word = WORKER_END, .code = (enum err_code)ret, .unusable = unusable};

	set_text(message.text, sizeof(message.text), &message.has_text, err->text);
	say(fd, &message, true);
}

enum worker_word worker_receive(int fd, const char *machine, struct worker_message *out)
{
	ssize_t got = recv(fd, out, sizeof(*out), 0);

	if (got < 0 && errno == EINTR)
		return WORKER_NOTHING;
	if (got <= 0)
		return WORKER_GONE;
	if (got != sizeof(*out))
		return WORKER_NOTHING;
	out->progress.machine = machine;
	out->progress.variant = out->has_variant ? out->variant : NULL;
	out->progress.condition = out->has_condition ? out->condition : NULL;
	out->progress.text = out->has_text ? out->text : NULL;
	return out->word;
}

/* Signals of the terminal are the parent's: it asks us to end. */
static void become_worker(const char *machine, pid_t parent, const sigset_t *mask)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "kb:%s", machine);
	(void)prctl(PR_SET_NAME, name);
	(void)setpgid(0, 0);
	stop_catch_signals();
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	/* A parent that died before this call has already handed us to another one. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(1);
}

void worker_main(struct engine *engine, size_t machine, int fd, pid_t parent, const sigset_t *mask)
{
	struct engine_options options = *engine->options;
	const char *name = engine->plans[machine].machine->name;
	struct err err = ERR_INIT;
	bool unusable = false;
	int ret;

	become_worker(name, parent, mask);
	fault_worker(parent, name);
	log_set_sink(say_line, &fd);
	options.progress = say_progress;
	options.arg = &fd;
	engine->options = &options;
	fault_point("worker");
	ret = store_reconnect(engine->store, &err);
	if (!ret)
		ret = walk_machine(engine, machine, &unusable, &err);
	fault_point("worker-done");
	say_end(fd, ret, unusable, &err);
	/* what the parent has not yet written is its own to write */
	_exit(0);
}
