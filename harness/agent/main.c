/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kbracket-agent: the one program of kbracket on the machines that are measured. See README for the
 * protocol.
 */
#include "base/base.h"

#include <signal.h>

#include "base/err.h"

#include "agent/command.h"
#include "agent/js.h"
#include "version.h"

static const struct command commands[] = {
	{"run", "[--spec-on-stdin] DIR [--forget OLD...]",
		"run DIR/spec.json to its end, print the reply; never twice", command_run},
	{"collect", "[--no-wait] DIR", "wait for a run, print its reply", command_collect},
	{"cancel", "DIR", "end a run, print its reply", command_cancel},
	{"forget", "DIR...", "remove the folders of runs that are over", command_forget},
	{"facts", "", "what this machine is, as JSON", command_facts},
	{"proof", "", "which kernel runs, as JSON", command_proof},
	{"survey", "FOLDER NS [PROGRAM...]",
		"what the machine does while nothing is measured, for so long, as JSON",
		command_survey},
	{"hold", "FILE [KEY=VALUE...] [--scheduler ARGV...]",
		"change exactly these settings, read back; originals are kept in FILE",
		command_hold},
	{"held", "FILE", "what hold has changed, as JSON", command_held},
	{"receive", "PATH SIZE SHA256 MODE", "store stdin as a file, checked, atomically",
		command_receive},
	{"digest", "PATH...", "size, SHA-256 and compiler of files, as JSON", command_digest},
};

int command_fail(const struct err *err)
{
	fprintf(stderr, "kbracket-agent: %s\n", err->text);
	switch (err->code) {
	case ERR_USAGE:
		return COMMAND_USAGE;
	case ERR_NOT_FOUND:
		return COMMAND_NOT_FOUND;
	case ERR_TIMEOUT:
		return COMMAND_BUSY;
	case ERR_NONE:
	case ERR_INFRA:
	case ERR_INVALID:
	case ERR_INTERRUPTED:
		break;
	}
	return COMMAND_FAILED;
}

static int help(FILE *to)
{
	fprintf(to, "usage: kbracket-agent [--root DIR] COMMAND ...\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(to, "  %s %s\n\t%s\n", commands[i].name, commands[i].arguments,
			commands[i].about);
	fprintf(to, "\n--root DIR reads /proc and /sys below DIR: for tests.\n");
	return fflush(to) == 0 ? COMMAND_OK : COMMAND_FAILED;
}

int main(int argc, char **argv)
{
	const char *root = "";

	js_init();
	(void)signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of the write */
	if (argc > 2 && strcmp(argv[1], "--root") == 0) {
		root = argv[2];
		argc -= 2;
		argv += 2;
	}
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return help(stdout);
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return printf("kbracket-agent %s\n", KB_VERSION) < 0 || fflush(stdout) != 0;
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, argv[1]) == 0)
			return commands[i].run(root, argc - 2, argv + 2);
	(void)help(stderr); /* the exit status says it all */
	return COMMAND_USAGE;
}
