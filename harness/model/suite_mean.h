/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_SUITE_MEAN_H
#define KB_MODEL_SUITE_MEAN_H

#include "base/base.h"

#include "model/store_view.h"

/* The effect of a variant on one metric over all conditions of a suite on one machine: the
 * geometric mean of the ratios, from boots that have every condition. Computed by the judge, never
 * stored. */
struct suite_mean {
	const struct store_machine *machine;
	const struct store_variant *variant, *against;
	const char *suite, *metric, *unit;
	bool lower_is_better;
	int64_t conditions;
	int64_t boots, against_boots;
	double effect, effect_low, effect_high; /* ln ratio; the 95 % interval NaN when unknown */
	double p;
};

#endif
