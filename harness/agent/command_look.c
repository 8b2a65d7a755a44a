/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts, proof, survey, hold, held, receive, digest: what needs no run. */
#include "base/base.h"

#include <errno.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/sha256.h"
#include "base/strv.h"

#include "agent/command.h"
#include "agent/facts.h"
#include "agent/held.h"
#include "agent/hold.h"
#include "agent/js.h"
#include "agent/proof.h"
#include "agent/receive.h"
#include "agent/survey.h"

/* Takes the reference. */
static int print_json(json_t *value)
{
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	int ret = COMMAND_OK;

	js_write(value, &text);
	json_decref(value);
	if (fwrite(text.text, 1, text.len, stdout) != text.len || fflush(stdout) != 0) {
		(void)err_errno(&err, ERR_INFRA, errno, "cannot write the answer");
		ret = command_fail(&err);
	}
	str_release(&text);
	return ret;
}

static int usage(const char *text)
{
	struct err err = ERR_INIT;

	(void)err_set(&err, ERR_USAGE, "%s", text);
	return command_fail(&err);
}

int command_facts(const char *root, int argc, char **argv KB_UNUSED)
{
	return argc ? usage("facts takes no arguments") : print_json(facts_read(root));
}

int command_proof(const char *root, int argc, char **argv KB_UNUSED)
{
	return argc ? usage("proof takes no arguments") : print_json(proof_read(root));
}

/* survey FOLDER NS [PROGRAM...]: prints the report of survey.h. */
int command_survey(const char *root, int argc, char **argv)
{
	struct err err = ERR_INIT;
	int64_t window_ns;

	if (argc < 2)
		return usage("survey needs FOLDER and NS");
	if (num_int(argv[1], 0, 600 * NS_PER_S, &window_ns, &err))
		return usage(err.text);
	return print_json(survey(root, argv[0], window_ns, (const char *const *)argv + 2));
}

/* hold FILE [KEY=VALUE...] [--scheduler ARGV...]: prints the report of hold.h. */
int command_hold(const char *root, int argc, char **argv)
{
	struct strv items = STRV_INIT;
	const char *const *scheduler = NULL;
	json_t *report = NULL;
	struct err err = ERR_INIT;
	int ret, at = 1;

	if (!argc)
		return usage("hold: no FILE is given");
	for (; at < argc && strcmp(argv[at], "--scheduler") != 0; at++)
		strv_add(&items, argv[at]);
	if (at < argc && !argv[at + 1])
		ret = err_set(&err, ERR_USAGE, "hold: no scheduler is named");
	else {
		scheduler = at < argc ? (const char *const *)argv + at + 1 : NULL;
		ret = hold(root, argv[0], strv_argv(&items), scheduler, &report, &err);
	}
	ret = ret ? command_fail(&err) : print_json(json_incref(report));
	json_decref(report);
	strv_release(&items);
	return ret;
}

/* held FILE: prints {boot_id, entries, scheduler}. */
int command_held(const char *root, int argc, char **argv)
{
	struct held held = {.path = NULL};
	struct err err = ERR_INIT;
	int ret;

	if (argc != 1)
		return usage("held needs FILE");
	ret = held_read(root, argv[0], &held, &err);
	ret = ret ? command_fail(&err) : print_json(held_json(&held));
	held_release(&held);
	return ret;
}

/* Permission bits as chmod(1) takes them: octal digits, at most 777. */
static bool parse_mode(const char *text, unsigned int *mode)
{
	size_t len = strlen(text);

	if (!len || len > 4 || strspn(text, "01234567") != len)
		return false;
	*mode = (unsigned int)strtoul(text, NULL, 8);
	return *mode <= 0777;
}

/* receive PATH SIZE SHA256 MODE */
int command_receive(const char *root KB_UNUSED, int argc, char **argv)
{
	struct err err = ERR_INIT;
	unsigned int mode;
	int64_t size;

	if (argc != 4 || argv[0][0] != '/' || strlen(argv[2]) != SHA256_HEX_LEN ||
		!parse_mode(argv[3], &mode))
		return usage(
			"receive needs PATH SIZE SHA256 MODE: an absolute path, 64 hex digits, "
			"octal permissions");
	if (num_int(argv[1], 0, INT64_MAX, &size, &err) ||
		receive_file(0, argv[0], size, argv[2], mode, &err))
		return command_fail(&err);
	return COMMAND_OK;
}

/* digest PATH...: prints [{path, bytes, sha256, built}]. */
int command_digest(const char *root KB_UNUSED, int argc, char **argv)
{
	json_t *report = json_array();

	for (int i = 0; i < argc; i++)
		(void)json_array_append_new(report, receive_digest(argv[i]));
	return print_json(report);
}
