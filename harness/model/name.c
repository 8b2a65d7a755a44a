/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <strings.h>

#include "base/str.h"
#include "base/utf8.h"
#include "model/name.h"

enum { NAME_MAX_BYTES = 64, REF_MAX_BYTES = 200, LINE_MAX_BYTES = 2000 };

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char digits[] = "0123456789";

/* True when text is not empty and every byte of it is in one of the two sets. */
static bool made_of(const char *text, const char *set, const char *more)
{
	for (const char *at = text; *at; at++)
		if (!strchr(set, *at) && !strchr(digits, *at) && !strchr(more, *at))
			return false;
	return *text != '\0';
}

int name_check(const char *text, struct err *err)
{
	if (strlen(text) > NAME_MAX_BYTES)
		return err_set(err, ERR_USAGE, "is longer than %d characters", NAME_MAX_BYTES);
	if (!made_of(text, letters, "._+-") || strchr(".+-", text[0]))
		return err_set(err, ERR_USAGE,
			"is not a name: letters, digits and . _ + - only, "
			"a letter, digit or _ first");
	return 0;
}

int name_check_ref(const char *text, struct err *err)
{
	size_t len = strlen(text);

	if (!len || len > REF_MAX_BYTES || text[0] == '-')
		return err_set(err, ERR_USAGE, "is not a git revision");
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f)
			return err_set(err, ERR_USAGE,
				"is not a git revision: it holds a blank or a control character");
	return 0;
}

int name_check_feature(const char *text, struct err *err)
{
	if (!made_of(text, upper, "_") || strlen(text) > NAME_MAX_BYTES || text[0] == '_' ||
		strcmp(text, "NO_") == 0)
		return err_set(err, ERR_USAGE,
			"is not a scheduler feature such as NI_RANDOM or NO_NI_RANDOM");
	return 0;
}

int name_check_sysctl(const char *text, struct err *err)
{
	if (!made_of(text, letters, "._-") || strlen(text) > 2 * NAME_MAX_BYTES ||
		!strchr(text, '.') || text[0] == '.' || str_ends(text, ".") || strstr(text, ".."))
		return err_set(err, ERR_USAGE,
			"is not a sysctl with dots, such as kernel.sched_schedstats");
	return 0;
}

int name_check_env(const char *text, struct err *err)
{
	if (!made_of(text, letters, "_") || strlen(text) > NAME_MAX_BYTES ||
		strchr(digits, text[0]))
		return err_set(err, ERR_USAGE, "is not the name of an environment variable");
	return 0;
}

int name_check_line(const char *text, struct err *err)
{
	if (strlen(text) > LINE_MAX_BYTES)
		return err_set(err, ERR_USAGE, "is longer than %d bytes", LINE_MAX_BYTES);
	for (size_t at = 0, len = strlen(text), used; at < len; at += used) {
		uint32_t code;

		used = utf8_decode(text + at, len - at, &code);
		if (!used)
			return err_set(err, ERR_USAGE, "is not UTF-8");
		if (!utf8_is_plain(code))
			return err_set(err, ERR_USAGE,
				"holds a control character, a line break or a mark of direction");
	}
	return 0;
}

void nearest_init(struct nearest *nearest, const char *wanted)
{
	*nearest = (struct nearest){.wanted = wanted};
}

/* How far a typing mistake may go: about a third of the word. */
static size_t tolerance(size_t len)
{
	if (len < 2)
		return 0;
	return len < 5 ? 1 : (len + 1) / 3;
}

void nearest_try(struct nearest *nearest, const char *candidate)
{
	size_t len = strlen(nearest->wanted), distance = 0;

	if (!len || len > NAME_MAX_BYTES || strlen(candidate) > NAME_MAX_BYTES)
		return;
	if (strncasecmp(nearest->wanted, candidate, len) != 0)
		distance = str_distance(nearest->wanted, candidate);
	if (distance > tolerance(len) || (nearest->found && distance >= nearest->distance))
		return;
	nearest->found = candidate;
	nearest->distance = distance;
}

const char *nearest_hint(struct nearest *nearest)
{
	nearest->hint[0] = '\0';
	if (nearest->found)
		(void)snprintf(nearest->hint, sizeof(nearest->hint), "; did you mean '%s'?",
			nearest->found);
	return nearest->hint;
}
