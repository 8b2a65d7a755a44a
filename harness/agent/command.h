/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_AGENT_COMMAND_H
#define KB_AGENT_COMMAND_H

#include "base/base.h"

/*
 * kbracket-agent's subcommands. All print their answer on stdout and complaints on stderr. Exit
 * status:
 *
 *	0	answered
 *	1	could not be done; stderr says why in one line
 *	2	wrong arguments or spec; nothing was done
 *	3	what was named does not exist (a run's folder)
 *	4	collect --no-wait, forget: the run is not over
 */
enum command_exit { COMMAND_OK, COMMAND_FAILED, COMMAND_USAGE, COMMAND_NOT_FOUND, COMMAND_BUSY };

struct command {
	const char *name, *arguments, *about;
	/* argv holds what comes after the name. */
	int (*run)(const char *root, int argc, char **argv);
};

int command_run(const char *root, int argc, char **argv);
int command_collect(const char *root, int argc, char **argv);
int command_cancel(const char *root, int argc, char **argv);
int command_forget(const char *root, int argc, char **argv);
int command_facts(const char *root, int argc, char **argv);
int command_proof(const char *root, int argc, char **argv);
int command_survey(const char *root, int argc, char **argv);
int command_hold(const char *root, int argc, char **argv);
int command_held(const char *root, int argc, char **argv);
int command_receive(const char *root, int argc, char **argv);
int command_digest(const char *root, int argc, char **argv);

/* Prints the error on stderr; returns the exit status that its code stands for. */
struct err;
int command_fail(const struct err *err);

#endif
