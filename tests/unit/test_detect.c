/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `plan --detect` promises, held against the judge's own code: machines are simulated, their
 * earlier boots are counted as a history, the boots that are asked for are simulated as an
 * experiment with a change of that size, and its verdicts are counted.
 */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "judge/noise.h"
#include "stat/accum.h"
#include "stat/power.h"
#include "stat/verdict.h"

enum { RUNS = 9, TRIALS = 800, BOOTS_MAX = 2 * POWER_MAX_BOOTS };

#define POWER 0.8
/* What chance may take from a share of TRIALS. */
#define CHANCE (3 * sqrt(POWER * (1 - POWER) / TRIALS))

/* Standard deviations of ln y, between boots and between runs of one. */
struct machine {
	double tau, sw;
};

static struct bracket_boot simulate(const struct machine *machine, int ordinal, double change)
{
	bool changed = ordinal % 4 == 1 || ordinal % 4 == 2; /* A B B A */
	double level = machine->tau * norm_rand() + (changed ? change : 0);
	struct accum runs = {0};

	for (int r = 0; r < RUNS; r++)
		accum_add(&runs, level + machine->sw * norm_rand());
	return (struct bracket_boot){.arm = changed,
		.block = ordinal / 4,
		.t = ordinal,
		.runs = RUNS,
		.mean_ln = accum_mean(&runs),
		.var_ln = accum_variance(&runs)};
}

/* Whether an experiment of that many boots of either kernel finds the change. */
static bool is_found(const struct machine *machine, int boots_each, double change, double level)
{
	static struct bracket_boot boots[BOOTS_MAX];
	const struct verdict_rule rule = {false, 0.01, level};
	struct bracket effect;
	struct verdict verdict;

	for (int i = 0; i < 2 * boots_each; i++)
		boots[i] = simulate(machine, i, change);
	bracket_effect(boots, 2 * (size_t)boots_each, 0, 1, NULL, &effect);
	verdict_decide(&effect, effect.p, VERDICT_WHY_NONE, &rule, &verdict);
	return verdict.word == VERDICT_REGRESSED;
}

/* What is known of a machine after some boots of one kernel. */
static struct noise learn(const struct machine *machine, int boots)
{
	struct history_boot earlier[64];
	struct noise noise = {.condition = "c", .metric = "m"};

	assert_in_range(boots, 1, ARRAY_SIZE(earlier));
	for (int i = 0; i < boots; i++) {
		struct bracket_boot boot = simulate(machine, i, 0);

		earlier[i] = (struct history_boot){0, boot.runs, boot.mean_ln, boot.var_ln};
	}
	history_from_boots(earlier, (size_t)boots, &noise.history);
	return noise;
}

static const struct machine machines[] = {{0.002, 0.01}, {0.005, 0.01}, {0.01, 0.01}, {0.03, 0.01}};
static const double changes[] = {0.01, 0.02, 0.05};

static void known_noise_gives_the_power(void **state KB_UNUSED)
{
	set_seed(4, 1);
	for (size_t k = 0; k < ARRAY_SIZE(machines); k++)
		for (size_t c = 0; c < ARRAY_SIZE(changes); c++) {
			const struct machine *machine = &machines[k];
			double variance = pow(machine->tau, 2) + pow(machine->sw, 2) / RUNS;
			const struct power power = {variance, variance, 0, 0};
			double d = log1p(changes[c]);
			int m = power_boots_to_detect(&power, 0.05, d, POWER), found = 0;

			assert_true(m > 0);
			for (int i = 0; i < TRIALS; i++)
				found += is_found(machine, m, d, 0.05);
			if (fabs(found / (double)TRIALS - power_at(&power, m, 0.05, d)) > CHANCE)
				fail_msg("tau %g, %g: %d boots find %d of %d, not %g", machine->tau,
					changes[c], m, found, TRIALS, power_at(&power, m, 0.05, d));
		}
}

/* Machines of which few boots are known are planned for, too: each trial has its own history. */
static void estimated_noise_gives_it_on_average(void **state KB_UNUSED)
{
	static const int known[] = {6, 40};
	static const double levels[] = {0.05, 0.05 / 16};

	set_seed(4, 2);
	for (size_t k = 1; k < ARRAY_SIZE(machines) - 1; k++)
		for (size_t h = 0; h < ARRAY_SIZE(known); h++)
			for (size_t l = 0; l < ARRAY_SIZE(levels); l++) {
				int found = 0;

				for (int i = 0; i < TRIALS; i++) {
					struct noise noise = learn(&machines[k], known[h]);
					int m = noise_boots_to_detect(
						&noise, RUNS, levels[l], log1p(0.01), POWER);

					/* none is advised: that is no promise */
					found += !m ||
						 is_found(&machines[k], m, log1p(0.01), levels[l]);
				}
				if (found < (POWER - CHANCE) * TRIALS)
					fail_msg("tau %g, %d boots known, level %g: %d of %d found",
						machines[k].tau, known[h], levels[l], found,
						TRIALS);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_noise_gives_the_power),
		cmocka_unit_test(estimated_noise_gives_it_on_average),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
