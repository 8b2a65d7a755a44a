/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_FAKE_SSH_H
#define KB_TESTS_FAKE_SSH_H

#include "base/base.h"

/* Understands what sys/ssh.c says to ssh(1). FAKE_SSH_* tell it how to fail. */
static const char fake_ssh[] =
	"#!/bin/sh\n"
	"echo \"$@\" >>\"$FAKE_SSH_LOG\"\n"
	"check= master= next=\n"
	"for word; do\n"
	"	case $word in\n"
	"	-oControlPath=*) path=${word#-oControlPath=} ;;\n"
	"	-O) check=1 ;;\n"
	"	-M) master=1 ;;\n"
	"	esac\n"
	"	last=$word\n"
	"done\n"
	"if [ \"$check\" ]; then [ -e \"$path\" ]; exit; fi\n"
	"if [ \"$master\" ]; then\n"
	"	[ -z \"$FAKE_SSH_REFUSE\" ] || { echo \"$FAKE_SSH_REFUSE\" >&2; exit 255; }\n"
	"	[ -z \"$FAKE_SSH_HANG\" ] || exec sleep 1000\n"
	"	: >\"$path\"; exec sleep 1000\n"
	"fi\n"
	"[ -e \"$path\" ] || exit 255\n"
	/* as on another host: what it leaves running outlives the session */
	"exec setsid -w sh -c \"$last\"\n";

#endif
