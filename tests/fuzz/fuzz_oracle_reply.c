/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a bisect's oracle answers: any line is what was asked for, or is refused with a sentence
 * that holds no control characters; and any values that are taken can be decided on. */
#include "base/base.h"

#include <math.h>

#include "base/mem.h"
#include "judge/bisect.h"
#include "model/oracle_reply.h"

enum { COMMITS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_refusal(const struct err *err)
{
	if (!err->text[0])
		BUG("refused without a word");
	for (const char *c = err->text; *c; c++)
		if ((unsigned char)*c < ' ')
			BUG("a control character in a message");
}

/* A bisect that is told those values wherever it asks. */
static void decide(const double *values, size_t count)
{
	struct bisect *b = bisect_new(&(struct bisect_options){.commits = COMMITS,
		.confidence = 0.95,
		.max_boots = 6,
		.runs = (int)count,
		.cost_boot = 1});
	double posterior[COMMITS + 1], sum;
	struct bisect_result result;
	int commit;

	while (bisect_next(b, &commit) == BISECT_BOOT)
		bisect_fed(b, commit, values, count);
	bisect_get(b, &result, posterior);
	sum = result.none;
	for (int i = 1; i <= COMMITS; i++)
		sum += posterior[i];
	if (!(fabs(sum - 1) < 1e-6))
		BUG("probabilities add up to %g", sum);
	bisect_free(b);
}

/* The first byte says how many values are asked for. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	size_t count = len ? 1 + bytes[0] % 8 : 1;
	char *line = len ? xstrndup((const char *)bytes + 1, len - 1) : xstrdup("");
	double values[8];
	struct err err = ERR_INIT;
	bool skip;

	if (oracle_read_boot(line, &skip, &err))
		check_refusal(&err);
	err = (struct err)ERR_INIT;
	if (oracle_read_values(line, count, values, &err))
		check_refusal(&err);
	else
		decide(values, count);
	free(line);
	return 0;
}
