/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_GUEST_CMDLINE_H
#define KB_BACKEND_GUEST_CMDLINE_H

#include "base/base.h"

#include "model/machine.h"

/*
 * What every guest kernel needs on its command line, around the caller's; freed by the caller.
 * Under emulation the TSC must be told to be good (else the clock is the HPET, an exit each read),
 * self-tests and a talking console take seconds, and a kernel at a random address took 20 s more to
 * unpack in one boot of six. The TSC's speed, which is this host's, is given, too: measured by a
 * kernel while the host is busy, it came out wrong by a factor, and every time in that boot with
 * it. The caller's words come later and win, except that a panic ends the guest at once.
 */
char *guest_cmdline(enum qemu_accel accel, const char *cmdline);

#endif
