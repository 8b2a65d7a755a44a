/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/signals.h"

enum { KERNEL_SIGSET_BYTES = 8 };

void signals_reset(void)
{
	/* The kernel's struct sigaction differs between architectures; all zeros is SIG_DFL in each. */
	static const long zeros[8];
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++) /* SIGKILL and SIGSTOP refuse */
		(void)syscall(SYS_rt_sigaction, sig, zeros, NULL, KERNEL_SIGSET_BYTES);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}
