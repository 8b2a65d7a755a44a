/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/stop.h"

static volatile sig_atomic_t stop_signals;
static int stop_pipe[2] = {-1, -1};

static void on_signal(int signo)
{
	stop_signals = stop_signals + 1;
	if (stop_signals >= 3)
		_exit(128 + signo);
	(void)!write(stop_pipe[1], "", 1); /* a full pipe already says it */
}

void stop_catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};

	for (size_t i = 0; i < ARRAY_SIZE(stop_pipe); i++)
		if (stop_pipe[i] >= 0)
			(void)close(stop_pipe[i]); /* those of the process that forked this one */
	if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
		BUG("no pipe for signals");
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		(void)sigaction(signals[i], &action, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of the write */
}

bool stop_requested(void)
{
	return stop_signals > 0;
}

int stop_fd(void)
{
	return stop_pipe[0];
}

int stop_check(struct err *err)
{
	if (!stop_requested())
		return 0;
	return err_set(err, ERR_INTERRUPTED, "interrupted by a signal");
}
