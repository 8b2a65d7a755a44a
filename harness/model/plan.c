/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/strv.h"
#include "model/plan.h"

/* More than any machine could do in years, and what memory bears. */
static const double runs_max = 5e6;
enum { CONDITIONS_MAX = 10000 };

/* The parts of a plan in the making. */
struct draft {
	struct arena *arena;
	const struct experiment *e;
	struct plan *plan;
	size_t *suite_first; /* for each suite the index of its first condition; one more at end */
	size_t *half;	     /* variants in the order of half a bracket */
	size_t *order;	     /* room for the variants of a block in their order */
	size_t boots_in_block, block_count;
};

uint64_t plan_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Each block draws from a stream of its own, so that blocks added later change nothing. */
static uint64_t block_state(int64_t seed, size_t block)
{
	uint64_t state = (uint64_t)seed;

	state = plan_random(&state) ^ block;
	return plan_random(&state);
}

/* Even over 0..count-1: draws from the incomplete last stretch are thrown away. */
static size_t draw(uint64_t *state, size_t count)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % count, value;

	do
		value = plan_random(state);
	while (value >= limit);
	return (size_t)(value % count);
}

/* Fisher-Yates. */
static void shuffle(uint64_t *state, size_t *items, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = draw(state, i), kept = items[i - 1];

		items[i - 1] = items[k];
		items[k] = kept;
	}
}

static int check_size(const struct experiment *e, struct err *err)
{
	size_t count = 0;

	for (size_t i = 0; i < e->suite_count; i++)
		count += e->suites[i].condition_count * e->saturation_count;
	if (count > CONDITIONS_MAX)
		return err_set(err, ERR_USAGE,
			"the suites have up to %zu conditions at these saturations; at most %d "
			"can be planned",
			count, CONDITIONS_MAX);
	return 0;
}

static int expand_suites(struct draft *d, struct err *err)
{
	const struct experiment *e = d->e;
	struct plan *plan = d->plan;

	if (check_size(e, err))
		return ERR_USAGE;
	d->suite_first = arena_alloc(d->arena, (e->suite_count + 1) * sizeof(*d->suite_first));
	for (size_t i = 0; i < e->suite_count; i++) {
		struct condition *some, *all;
		size_t count;
		int ret = suite_expand(d->arena, &e->suites[i], plan->cpus, e->saturations_pct,
			e->saturation_count, &some, &count, err);

		if (ret)
			return ret;
		d->suite_first[i] = plan->condition_count;
		all = arena_alloc(d->arena, (plan->condition_count + count + 1) * sizeof(*all));
		if (plan->condition_count)
			memcpy(all, plan->conditions, plan->condition_count * sizeof(*all));
		memcpy(all + plan->condition_count, some, count * sizeof(*all));
		plan->conditions = all;
		plan->condition_count += count;
	}
	d->suite_first[e->suite_count] = plan->condition_count;
	return 0;
}

static bool is_baseline(const struct experiment *e, size_t variant)
{
	for (size_t i = 0; i < e->variant_count; i++)
		if (i != variant && experiment_baseline_of(e, i) == variant)
			return true;
	return variant == 0;
}

/* Baselines outermost, so that they enclose what is compared with them; else as listed. */
static void order_half(struct draft *d)
{
	size_t count = 0;

	d->half = arena_alloc(d->arena, d->e->variant_count * sizeof(*d->half));
	for (int baselines = 1; baselines >= 0; baselines--)
		for (size_t i = 0; i < d->e->variant_count; i++)
			if (is_baseline(d->e, i) == (baselines == 1))
				d->half[count++] = i;
}

static void order_bracket(struct draft *d, uint64_t *state KB_UNUSED)
{
	size_t n = d->e->variant_count;

	for (size_t i = 0; i < n; i++)
		d->order[i] = d->order[2 * n - 1 - i] = d->half[i];
}

static void order_shuffled(struct draft *d, uint64_t *state)
{
	memcpy(d->order, d->half, d->e->variant_count * sizeof(*d->order));
	shuffle(state, d->order, d->e->variant_count);
}

static void order_explicit(struct draft *d, uint64_t *state KB_UNUSED)
{
	for (size_t i = 0; i < d->boots_in_block; i++)
		d->order[i] =
			(size_t)experiment_variant_index(d->e, d->e->design.explicit_order[i]);
}

/* Fills d->order for one block; may draw from the block's stream. */
static void (*const orders[])(struct draft *d, uint64_t *state) = {
	[ORDER_BRACKETED] = order_bracket,
	[ORDER_SHUFFLED] = order_shuffled,
	[ORDER_EXPLICIT] = order_explicit,
};

static void count_boots(struct draft *d)
{
	const struct design *design = &d->e->design;

	d->boots_in_block = d->e->variant_count;
	d->block_count = (size_t)design->boots;
	if (design->order == ORDER_BRACKETED) {
		d->boots_in_block *= 2;
		d->block_count /= 2;
	} else if (design->order == ORDER_EXPLICIT) {
		d->boots_in_block = argv_count(design->explicit_order);
		d->block_count = 1;
	}
	d->plan->boot_count = d->boots_in_block * d->block_count;
}

static size_t add_suite_runs(const struct draft *d, size_t suite, struct plan_run *runs)
{
	const struct design *design = &d->e->design;
	size_t first = d->suite_first[suite], end = d->suite_first[suite + 1], count = 0;

	for (int i = 1; i <= design->warmup; i++)
		runs[count++] = (struct plan_run){first, i, true};
	for (int round = 1; round <= design->runs; round++)
		for (size_t c = first; c < end; c++)
			runs[count++] = (struct plan_run){c, round, false};
	return count;
}

static size_t runs_in_boot(const struct draft *d)
{
	return d->e->suite_count * (size_t)d->e->design.warmup +
	       d->plan->condition_count * (size_t)d->e->design.runs;
}

/* One block; its boots share their runs. */
static void add_block(struct draft *d, size_t block)
{
	uint64_t state = block_state(d->e->design.seed, block);
	struct plan_run *runs = arena_alloc(d->arena, runs_in_boot(d) * sizeof(*runs));
	size_t *suites = arena_alloc(d->arena, d->e->suite_count * sizeof(*suites));
	size_t count = 0, at = block * d->boots_in_block;

	orders[d->e->design.order](d, &state);
	for (size_t i = 0; i < d->e->suite_count; i++)
		suites[i] = i;
	shuffle(&state, suites, d->e->suite_count);
	for (size_t i = 0; i < d->e->suite_count; i++)
		count += add_suite_runs(d, suites[i], runs + count);
	for (size_t i = 0; i < d->boots_in_block; i++, at++)
		d->plan->boots[at] = (struct plan_boot){.ordinal = (int)at + 1,
			.block = (int)block + 1,
			.variant = d->order[i],
			.runs = runs,
			.run_count = count};
}

int plan_make(struct arena *arena, const struct experiment *experiment,
	const struct machine_spec *machine, int64_t cpus, struct plan *out, struct err *err)
{
	struct plan plan = {.experiment = experiment, .machine = machine, .cpus = cpus};
	struct draft d = {.arena = arena, .e = experiment, .plan = &plan};
	int ret = expand_suites(&d, err);

	if (ret)
		return ret;
	order_half(&d);
	count_boots(&d);
	if ((double)plan.boot_count * (double)runs_in_boot(&d) > runs_max)
		return err_set(err, ERR_USAGE,
			"the plan has %zu boots of %zu runs, more than %.0f runs in all; "
			"ask for fewer boots, runs or conditions",
			plan.boot_count, runs_in_boot(&d), runs_max);
	d.order = arena_alloc(arena, d.boots_in_block * sizeof(*d.order));
	plan.boots = arena_alloc(arena, plan.boot_count * sizeof(*plan.boots));
	for (size_t block = 0; block < d.block_count; block++)
		add_block(&d, block);
	*out = plan;
	return 0;
}

int64_t plan_boot_expect_ns(const struct plan *plan, const struct plan_boot *boot)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < boot->run_count; i++)
		sum_ns += plan->conditions[boot->runs[i].condition].spec->expect_ns;
	return sum_ns;
}

int64_t plan_expect_ns(const struct plan *plan, size_t from_boot, int64_t boot_ns)
{
	int64_t sum_ns = 0;

	for (size_t i = from_boot; i < plan->boot_count; i++)
		sum_ns += boot_ns + plan_boot_expect_ns(plan, &plan->boots[i]);
	return sum_ns;
}
