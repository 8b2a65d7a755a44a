/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts, proof, set-feature, set, receive, digest: what needs no run. */
#include "base/base.h"

#include <errno.h>

#include "base/num.h"
#include "base/sha256.h"

#include "agent/command.h"
#include "agent/facts.h"
#include "agent/js.h"
#include "agent/knobs.h"
#include "agent/proof.h"
#include "agent/receive.h"

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

/* set-feature NAME...: prints {"features": all of them}. */
int command_set_feature(const char *root, int argc, char **argv)
{
	struct str features = STR_INIT;
	struct err err = ERR_INIT;
	json_t *o;
	int ret = 0;

	if (!argc)
		return usage("set-feature: no feature is named");
	for (int i = 0; i < argc && ret == 0; i++)
		ret = knobs_set_feature(root, argv[i], &err);
	if (ret == 0) {
		o = json_object();
		js_text(o, "features", knobs_features(root, &features) ? features.text : NULL);
		ret = print_json(o);
	} else {
		ret = command_fail(&err);
	}
	str_release(&features);
	return ret;
}

/* set KEY=VALUE...: prints [{key, before, after}] of those that were set, also when a later one
 * failed, so that the caller can put them back. */
int command_set_value(const char *root, int argc, char **argv)
{
	json_t *report = json_array();
	struct err err = ERR_INIT;
	int ret = 0, printed;

	if (!argc)
		ret = err_set(&err, ERR_USAGE, "set: no KEY=VALUE is given");
	for (int i = 0; i < argc && ret == 0; i++)
		ret = knobs_set_value(root, argv[i], report, &err);
	printed = print_json(report);
	return ret ? command_fail(&err) : printed;
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

/* digest PATH...: prints [{path, bytes, sha256}]. */
int command_digest(const char *root KB_UNUSED, int argc, char **argv)
{
	json_t *report = json_array();

	for (int i = 0; i < argc; i++)
		(void)json_array_append_new(report, receive_digest(argv[i]));
	return print_json(report);
}
