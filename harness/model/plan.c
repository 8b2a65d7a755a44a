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

/* A B A C A: each variant between two parts of the baseline. */
static void order_toggle(struct draft *d, uint64_t *state KB_UNUSED)
{
	for (size_t i = 0; i < d->boots_in_block; i++)
		d->order[i] = i % 2 ? i / 2 + 1 : 0;
}

static void order_explicit(struct draft *d, uint64_t *state KB_UNUSED)
{
	for (size_t i = 0; i < d->boots_in_block; i++)
		d->order[i] =
			(size_t)experiment_variant_index(d->e, d->e->design.explicit_order[i]);
}

static void order_nothing(struct draft *d KB_UNUSED, uint64_t *state KB_UNUSED)
{
}

/* Fills d->order for one block; may draw from the block's stream. */
static void (*const orders[])(struct draft *d, uint64_t *state) = {
	[ORDER_BRACKETED] = order_bracket,
	[ORDER_SHUFFLED] = order_shuffled,
	[ORDER_TOGGLE] = order_toggle,
	[ORDER_EXPLICIT] = order_explicit,
	[ORDER_ADAPTIVE] = order_nothing,
};

static void count_boots(struct draft *d)
{
	const struct design *design = &d->e->design;

	d->boots_in_block = d->e->variant_count;
	d->block_count = (size_t)design->boots;
	if (design->order == ORDER_BRACKETED) {
		d->boots_in_block *= 2;
		d->block_count /= 2;
	} else if (design->order == ORDER_TOGGLE) {
		d->boots_in_block = 2 * d->boots_in_block - 1;
	} else if (design->order == ORDER_EXPLICIT) {
		d->boots_in_block = argv_count(design->explicit_order);
		d->block_count = 1;
	} else if (design->order == ORDER_ADAPTIVE) {
		d->boots_in_block = d->block_count = 0;
	}
	/* The others are appended after the look at the first one. */
	if (design->until != UNTIL_BOOTS)
		d->block_count = 1;
}

/* What is the same for all blocks. */
static void draft_orders(struct draft *d)
{
	order_half(d);
	count_boots(d);
	d->order = arena_alloc(d->arena, (d->boots_in_block + 1) * sizeof(*d->order));
}

/* The first half of a block's stream: the order of its boots, in d->order. */
static void draw_order(struct draft *d, int block, uint64_t *state)
{
	*state = block_state(d->e->design.seed, (size_t)block - 1);
	orders[d->e->design.order](d, state);
}

/* What is run in each boot of a block. */
struct load {
	const bool *conditions; /* by index; NULL: all */
	int64_t runs, warmup, counted;
};

static bool is_loaded(const struct load *load, size_t condition)
{
	return !load->conditions || load->conditions[condition];
}

static size_t add_suite_runs(
	const struct draft *d, const struct load *load, size_t suite, struct plan_run *runs)
{
	size_t first = d->suite_first[suite], end = d->suite_first[suite + 1], count = 0;

	while (first < end && !is_loaded(load, first))
		first++;
	for (int i = 1; first < end && i <= load->warmup; i++)
		runs[count++] = (struct plan_run){first, i, RUN_WARMUP};
	for (int round = 1; round <= load->runs; round++)
		for (size_t c = first; c < end; c++)
			if (is_loaded(load, c))
				runs[count++] = (struct plan_run){c, round, RUN_MEASURED};
	return count;
}

static size_t add_counted_runs(
	const struct draft *d, const struct load *load, size_t suite, struct plan_run *runs)
{
	size_t count = 0;

	for (size_t c = d->suite_first[suite]; c < d->suite_first[suite + 1]; c++)
		for (int i = 1; is_loaded(load, c) && i <= load->counted; i++)
			runs[count++] = (struct plan_run){c, i, RUN_COUNTED};
	return count;
}

static size_t runs_in_boot(const struct draft *d, const struct load *load)
{
	return d->e->suite_count * (size_t)load->warmup +
	       d->plan->condition_count * (size_t)(load->runs + load->counted);
}

/* The runs of a block, which its boots share. The suites' order is the second half of the block's
 * stream. */
static struct plan_run *make_runs(
	const struct draft *d, const struct load *load, uint64_t *state, size_t *count)
{
	struct plan_run *runs = arena_alloc(d->arena, (runs_in_boot(d, load) + 1) * sizeof(*runs));
	size_t *suites = arena_alloc(d->arena, d->e->suite_count * sizeof(*suites));

	for (size_t i = 0; i < d->e->suite_count; i++)
		suites[i] = i;
	shuffle(state, suites, d->e->suite_count);
	*count = 0;
	for (size_t i = 0; i < d->e->suite_count; i++)
		*count += add_suite_runs(d, load, suites[i], runs + *count);
	for (size_t i = 0; i < d->e->suite_count; i++)
		*count += add_counted_runs(d, load, suites[i], runs + *count);
	return runs;
}

static void add_block(struct draft *d, int block, const size_t *variants, size_t boots,
	const struct load *load, uint64_t *state)
{
	size_t count;
	struct plan_run *runs = make_runs(d, load, state, &count);

	for (size_t i = 0; i < boots; i++, d->plan->boot_count++)
		d->plan->boots[d->plan->boot_count] =
			(struct plan_boot){.ordinal = (int)d->plan->boot_count + 1,
				.block = block,
				.variant = variants[i],
				.runs = runs,
				.run_count = count};
}

static int refuse_size(size_t boots, size_t runs, struct err *err)
{
	return err_set(err, ERR_USAGE,
		"the plan has %zu boots of %zu runs, more than %.0f runs in all; "
		"ask for fewer boots, runs or conditions",
		boots, runs, runs_max);
}

int plan_make(struct arena *arena, const struct experiment *experiment,
	const struct machine_spec *machine, int64_t cpus, struct plan *out, struct err *err)
{
	struct plan plan = {.experiment = experiment, .machine = machine, .cpus = cpus};
	struct draft d = {.arena = arena, .e = experiment, .plan = &plan};
	const struct load load = {NULL, experiment->design.runs, experiment->design.warmup,
		experiment_counted_runs(experiment)};
	size_t boots;
	int ret = expand_suites(&d, err);

	if (ret)
		return ret;
	draft_orders(&d);
	boots = d.boots_in_block * d.block_count;
	if ((double)boots * (double)runs_in_boot(&d, &load) > runs_max)
		return refuse_size(boots, runs_in_boot(&d, &load), err);
	plan.boots = arena_alloc(arena, (boots + 1) * sizeof(*plan.boots));
	for (size_t block = 1; block <= d.block_count; block++) {
		uint64_t state;

		draw_order(&d, (int)block, &state);
		add_block(&d, (int)block, d.order, d.boots_in_block, &load, &state);
	}
	*out = plan;
	return 0;
}

int plan_next_block(const struct plan *plan)
{
	int last = 0;

	for (size_t i = 0; i < plan->boot_count; i++)
		if (plan->boots[i].block > last)
			last = plan->boots[i].block;
	return last + 1;
}

/* A draft of a plan that is there already. */
static void draft_again(struct arena *arena, struct plan *plan, struct draft *d)
{
	const struct experiment *e = plan->experiment;
	size_t at = 0;

	*d = (struct draft){.arena = arena, .e = e, .plan = plan};
	d->suite_first = arena_alloc(arena, (e->suite_count + 1) * sizeof(*d->suite_first));
	for (size_t i = 0; i <= e->suite_count; i++) {
		d->suite_first[i] = at;
		while (i < e->suite_count && at < plan->condition_count &&
			plan->conditions[at].suite == &e->suites[i])
			at++;
	}
	draft_orders(d);
}

size_t plan_block_order(struct arena *arena, const struct plan *plan, int block, const bool *wanted,
	const size_t **variants)
{
	struct plan same = *plan;
	struct draft d;
	uint64_t state;
	size_t count = 0;

	draft_again(arena, &same, &d);
	draw_order(&d, block, &state);
	for (size_t i = 0; i < d.boots_in_block; i++)
		if (!wanted || wanted[d.order[i]])
			d.order[count++] = d.order[i];
	*variants = d.order;
	return count;
}

static int check_extension(
	const struct plan *plan, const struct plan_extension *extension, struct err *err)
{
	bool fits = extension->block > 0 && extension->boot_count > 0 &&
		    extension->condition_count > 0 && extension->runs > 0 && extension->warmup >= 0;

	for (size_t i = 0; fits && i < extension->boot_count; i++)
		fits = extension->variants[i] < plan->experiment->variant_count;
	for (size_t i = 0; fits && i < extension->condition_count; i++)
		fits = extension->conditions[i] < plan->condition_count &&
		       (i == 0 || extension->conditions[i] > extension->conditions[i - 1]);
	if (!fits)
		return err_set(err, ERR_USAGE,
			"what is to be appended to the plan (%s) does not fit its variants and "
			"conditions",
			extension->reason);
	return 0;
}

int plan_extend(struct arena *arena, struct plan *plan, const struct plan_extension *extension,
	struct err *err)
{
	struct load load = {NULL, extension->runs, extension->warmup,
		experiment_counted_runs(plan->experiment)};
	struct plan longer = *plan;
	size_t boots = plan->boot_count + extension->boot_count;
	bool *loaded = arena_alloc(arena, (plan->condition_count + 1) * sizeof(*loaded));
	struct draft d;
	uint64_t state;
	int ret = check_extension(plan, extension, err);

	if (ret)
		return ret;
	draft_again(arena, &longer, &d);
	if ((double)boots * (double)runs_in_boot(&d, &load) > runs_max)
		return refuse_size(boots, runs_in_boot(&d, &load), err);
	for (size_t i = 0; i < extension->condition_count; i++)
		loaded[extension->conditions[i]] = true;
	load.conditions = loaded;
	longer.boots = arena_alloc(arena, boots * sizeof(*longer.boots));
	if (plan->boot_count)
		memcpy(longer.boots, plan->boots, plan->boot_count * sizeof(*longer.boots));
	draw_order(&d, extension->block, &state);
	add_block(&d, extension->block, extension->variants, extension->boot_count, &load, &state);
	*plan = longer;
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
