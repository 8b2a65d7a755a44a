/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_STORE_COUNTER_H
#define KB_MODEL_STORE_COUNTER_H

#include "base/base.h"

#include "model/store_rows.h"

/* What was counted in runs that were made for it. */

struct store_counter {
	const char *name;
	const char *unit;   /* of value */
	double total;	    /* in the whole run; NaN: not counted */
	double value;	    /* per operation, or per run where that is not known; NaN: none */
	double counted_pct; /* of the time; less than 100: an estimate */
	const char *reason; /* why there is no number; "" */
	int reading;	    /* filled in by the store */
};

/* All readings of one run, each in the order in which it was given. */
KB_MUST_CHECK int store_load_counters(struct store *store, int64_t run_id, struct arena *arena,
	struct store_counter **out, size_t *count, struct err *err);

/* A count with everything that says where it is from. */
struct store_counter_row {
	const char *machine, *variant;
	int boot, block;
	const char *suite, *condition;
	double saturation_pct;
	int64_t workers, cpus;
	int run;	   /* ordinal among the counted ones of the boot and condition */
	const char *flags; /* reasons, joined by a space; "" */
	struct store_marks marks;
	struct store_counter counter;
};
typedef int store_counter_fn(void *arg, const struct store_counter_row *row);
/* Every count of the reading that counts, in order of machine, boot, position. Text is borrowed
 * during the call; anything but 0 ends the walk and is returned. */
KB_MUST_CHECK int store_each_counter(struct store *store, int64_t experiment_id,
	store_counter_fn *fn, void *arg, struct err *err);

/* A counter of a condition and variant over all boots; runs that policy leaves out do not count. */
struct store_counter_mean {
	int64_t machine_id, condition_id, variant_id;
	const char *name, *unit;
	double value;	    /* mean of the boots' means; NaN: in none of them was it counted */
	int boots;	    /* that it is the mean of */
	double counted_pct; /* the lowest */
	const char *reason; /* of a boot without a number; "" */
};
/* In order of machine, condition, counter and variant. */
KB_MUST_CHECK int store_load_counter_means(struct store *store, int64_t experiment_id,
	struct arena *arena, struct store_counter_mean **out, size_t *count, struct err *err);

#endif
