/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/num.h"
#include "model/oracle_reply.h"

enum { NUMBER_MAX = 63 };

static const char blanks[] = " \t\r";

/* As much of the answer as a message can bear. */
static int refuse(const char *answer, const char *wanted, struct err *err)
{
	struct str shown = STR_INIT;
	size_t len = strlen(answer);

	str_add_safe(&shown, answer, len < NUMBER_MAX ? len : NUMBER_MAX);
	err_set(err, ERR_INFRA, "it answers '%s%s' where %s is wanted", str_text(&shown),
		len > NUMBER_MAX ? "..." : "", wanted);
	str_release(&shown);
	return ERR_INFRA;
}

int oracle_read_boot(const char *answer, bool *skip, struct err *err)
{
	size_t len;

	answer += strspn(answer, blanks);
	len = strcspn(answer, blanks);
	if (answer[len + strspn(answer + len, blanks)])
		return refuse(answer, "ok or skip", err);
	if (len == 2 && !strncmp(answer, "ok", len))
		*skip = false;
	else if (len == 4 && !strncmp(answer, "skip", len))
		*skip = true;
	else
		return refuse(answer, "ok or skip", err);
	return 0;
}

static int read_value(const char *word, size_t len, double *value, struct err *err)
{
	char number[NUMBER_MAX + 1];
	struct err why = ERR_INIT;

	if (len > NUMBER_MAX)
		return refuse(word, "a number", err);
	memcpy(number, word, len);
	number[len] = '\0';
	if (num_double(number, value, &why) || !(*value > 0))
		return refuse(number, "a number above zero", err);
	return 0;
}

int oracle_read_values(const char *answer, size_t count, double *values, struct err *err)
{
	const char *at = answer + strspn(answer, blanks);
	size_t seen = 0;

	while (*at) {
		size_t len = strcspn(at, blanks);

		if (seen < count && read_value(at, len, &values[seen], err))
			return ERR_INFRA;
		seen++;
		at += len;
		at += strspn(at, blanks);
	}
	if (seen != count)
		return err_set(
			err, ERR_INFRA, "it answers %zu values where %zu are wanted", seen, count);
	return 0;
}
