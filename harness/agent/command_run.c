/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run, collect, cancel, forget: a run's folder from the outside. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#include "agent/bytes.h"
#include "agent/command.h"
#include "agent/place.h"
#include "agent/reply.h"
#include "agent/spec.h"
#include "agent/result.h"
#include "agent/supervise.h"

/* The supervisor has nothing to do with the connection that brought it. */
static void detach(void)
{
	int fd = open("/dev/null", O_RDWR);

	(void)setsid();
	if (chdir("/") != 0 || fd < 0 || dup2(fd, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(1); /* found as a run that was not started */
	if (fd > 2)
		(void)close(fd);
}

/* Forks twice, so that the supervisor is nobody's child here. The lock goes with it. */
static int start_supervisor(
	struct place *place, const struct run_spec *spec, const char *root, struct err *err)
{
	pid_t pid = fork();

	if (pid < 0)
		return err_errno(err, ERR_INFRA, errno, "cannot fork");
	if (pid == 0) {
		detach();
		pid = fork();
		if (pid == 0)
			supervise_run(place, spec, root);
		_exit(pid < 0);
	}
	place_unlock(place);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/* The spec that is stored in the folder; the first one given stays. */
static int read_spec(const struct place *place, struct str *text, struct err *err)
{
	char *path = place_path(place, "spec.json");
	int ret = file_read(path, SPEC_MAX_BYTES, text, err);

	free(path);
	return ret;
}

static int keep_spec(const struct place *place, const struct str *text, struct err *err)
{
	char *path = place_path(place, "spec.json");
	struct str old = STR_INIT;
	int ret = read_spec(place, &old, err);

	if (ret == ERR_NOT_FOUND)
		ret = bytes_put_file(path, str_text(text), text->len, err);
	else if (ret == 0 && (old.len != text->len || memcmp(old.text, text->text, old.len) != 0))
		ret = err_set(err, ERR_USAGE, "%s is the folder of another run", place->dir);
	str_release(&old);
	free(path);
	return ret;
}

static int read_stdin(struct str *text, struct err *err)
{
	char buffer[65536];
	ssize_t got;

	while ((got = read(0, buffer, sizeof(buffer))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, ERR_INFRA, errno, "cannot read the spec from stdin");
		str_add_bytes(text, buffer, (size_t)got);
		if (text->len > SPEC_MAX_BYTES)
			return err_set(err, ERR_USAGE, "the run's spec is larger than %d bytes",
				SPEC_MAX_BYTES);
	}
	return 0;
}

/* With the lock in hand: starts the run if it was never started, finishes it if it was lost. */
static int begin(
	struct place *place, const struct run_spec *spec, const char *root, struct err *err)
{
	switch (place_state(place)) {
	case PLACE_NEW:
		return start_supervisor(place, spec, root, err);
	case PLACE_STARTED:
		return result_lost(place, err);
	case PLACE_DONE:
		break;
	}
	return 0;
}

/* Until the run is over. With a spec it is started if it never was; without, that is its end. */
static int bring_to_end(
	struct place *place, const struct run_spec *spec, const char *root, struct err *err)
{
	int ret = 0;

	for (int tries = 0; ret == 0 && place_state(place) != PLACE_DONE; tries++) {
		ret = place_try_lock(place, err);
		if (ret == 1 && (tries > 1 || !spec) && place_state(place) == PLACE_NEW)
			ret = result_not_started(
				place, "the agent died before it started the program", err);
		else if (ret == 1)
			ret = begin(place, spec, root, err);
		place_unlock(place);
		if (ret == 0)
			ret = place_wait(place, err);
	}
	return ret ? ret : result_check_kept(place, err);
}

static int answer(const struct place *place)
{
	struct err err = ERR_INIT;

	return reply_write(place, STDOUT_FILENO, &err) ? command_fail(&err) : COMMAND_OK;
}

static int forget_all(char **dirs, int count, struct err *err)
{
	int ret = 0;

	for (int i = 0; i < count && ret == 0; i++)
		ret = place_forget(dirs[i], err);
	return ret;
}

static int run_in(const char *dir, bool spec_on_stdin, const char *root)
{
	struct run_spec spec = {.kmsg_after = -1};
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	struct place place = {.lock_fd = -1};
	int ret = spec_on_stdin ? read_stdin(&text, &err) : 0;

	if (ret == 0 && spec_on_stdin)
		ret = spec_parse(str_text(&text), text.len, &spec, &err);
	if (ret == 0)
		ret = place_open(&place, dir, spec_on_stdin, &err);
	if (ret == 0 && spec_on_stdin)
		ret = keep_spec(&place, &text, &err);
	if (ret == 0 && !spec_on_stdin) {
		ret = read_spec(&place, &text, &err);
		if (ret == 0)
			ret = spec_parse(str_text(&text), text.len, &spec, &err);
	}
	if (ret == 0)
		ret = bring_to_end(&place, &spec, root, &err);
	ret = ret ? command_fail(&err) : answer(&place);
	place_release(&place);
	spec_release(&spec);
	str_release(&text);
	return ret;
}

/* run [--spec-on-stdin] DIR [--forget OLD...] */
int command_run(const char *root, int argc, char **argv)
{
	bool spec_on_stdin = argc > 0 && strcmp(argv[0], "--spec-on-stdin") == 0;
	struct err err = ERR_INIT;

	argc -= spec_on_stdin;
	argv += spec_on_stdin;
	if (argc < 1 || argv[0][0] != '/' || argc == 2 ||
		(argc > 2 && strcmp(argv[1], "--forget") != 0)) {
		(void)err_set(&err, ERR_USAGE, "run: wrong arguments");
		return command_fail(&err);
	}
	if (argc > 2 && forget_all(argv + 2, argc - 2, &err))
		return command_fail(&err);
	return run_in(argv[0], spec_on_stdin, root);
}

/* Opens the one folder that the arguments name. */
static int open_only(struct place *place, int argc, char **argv, struct err *err)
{
	place->dir = NULL;
	place->lock_fd = -1;
	if (argc != 1)
		return err_set(err, ERR_USAGE, "exactly one folder must be named");
	return place_open(place, argv[0], false, err);
}

/* collect [--no-wait] DIR */
int command_collect(const char *root, int argc, char **argv)
{
	bool no_wait = argc > 0 && strcmp(argv[0], "--no-wait") == 0;
	struct place place;
	struct err err = ERR_INIT;
	int ret = open_only(&place, argc - no_wait, argv + no_wait, &err);

	if (ret == 0 && no_wait && place_state(&place) != PLACE_DONE) {
		ret = place_try_lock(&place, &err);
		place_unlock(&place);
		if (ret == 0)
			ret = err_set(&err, ERR_TIMEOUT, "the run in %s is not over", place.dir);
		else if (ret == 1)
			ret = 0;
	}
	if (ret == 0)
		ret = bring_to_end(&place, NULL, root, &err);
	ret = ret ? command_fail(&err) : answer(&place);
	place_release(&place);
	return ret;
}

/* The supervisor lives for as long as the lock is held, so its number is its own. */
static int ask_to_stop(struct place *place, struct err *err)
{
	struct place_mark mark;
	int ret = place_try_lock(place, err);

	place_unlock(place);
	if (ret)
		return ret < 0 ? ret : 0;
	if (!place_mark_read(place, &mark) || mark.pid < 2)
		return err_set(err, ERR_TIMEOUT, "the run in %s is being prepared", place->dir);
	if (kill((pid_t)mark.pid, SIGTERM) != 0 && errno != ESRCH)
		return err_errno(err, ERR_INFRA, errno, "cannot signal the run's supervisor");
	return 0;
}

/* cancel DIR */
int command_cancel(const char *root, int argc, char **argv)
{
	struct place place;
	struct err err = ERR_INIT;
	int ret = open_only(&place, argc, argv, &err);

	if (ret == 0 && place_state(&place) != PLACE_DONE)
		ret = ask_to_stop(&place, &err);
	if (ret == 0)
		ret = bring_to_end(&place, NULL, root, &err);
	ret = ret ? command_fail(&err) : answer(&place);
	place_release(&place);
	return ret;
}

/* forget DIR... */
int command_forget(const char *root KB_UNUSED, int argc, char **argv)
{
	struct err err = ERR_INIT;

	if (argc < 1)
		(void)err_set(&err, ERR_USAGE, "forget: no folder is named");
	return argc < 1 || forget_all(argv, argc, &err) ? command_fail(&err) : COMMAND_OK;
}
