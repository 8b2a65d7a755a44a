/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_JUDGE_OTHERS_H
#define KB_JUDGE_OTHERS_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/store_rows.h"
#include "model/store_view.h"
#include "stat/peers.h"

/* What another program's rule says about the values behind one verdict of ours. */
struct others_row {
	const struct store_machine *machine;
	const struct store_condition *condition;
	const struct store_metric *metric;
	const struct store_variant *variant, *against;
	const struct store_verdict *ours;
	struct peer_answer theirs;
};

struct others {
	enum peer peer;
	struct others_row *rows;
	size_t count;
	/* Rows that one calls different and the other does not; invalid ones, and those the rule
	 * has no answer to, do not count. */
	size_t only_theirs, only_ours;
};

/* Asks the rule about every verdict given, from the same runs that count for us. verdicts are the
 * view's; both must outlive the result, which lives in the arena. */
KB_MUST_CHECK int others_ask(struct store *store, const struct store_view *view, enum peer peer,
	const struct store_verdict *verdicts, size_t count, struct arena *arena, struct others *out,
	struct err *err);

#endif
