/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stat/power.h"

/* Equal shares of what an estimated variance may be. */
enum { POWER_SLICES = 20 };

void power_error(const struct power *power, int m, double *se, double *df)
{
	double a = power->var_a / m, b = power->var_b / m;
	double f = m - 1, all = 2.0 * m - 2;

	if (2 * m >= BRACKET_SLOPE_BOOTS) {
		f -= 0.5; /* the slope's degree of freedom, half from either variant */
		all -= 1;
	}
	*se = sqrt(a + b);
	*df = all;
	if (power->nu0 > 0) {
		double welch = (a + b) * (a + b) / ((a * a + b * b) / (power->nu0 + f));

		*df = fmin(welch, power->nu0 + all);
	}
}

int power_boots_to_settle(const struct bracket *effect, double margin, double level)
{
	struct power power = {effect->var_a, effect->var_b, effect->nu0, 0};
	double away = fabs(effect->d);
	int have = effect->boots_a > effect->boots_b ? effect->boots_a : effect->boots_b;

	if (!isfinite(power.var_a) || !isfinite(power.var_b) || !isfinite(away))
		return 0;
	for (int m = have + 2 - have % 2; m <= POWER_MAX_BOOTS; m += 2) {
		double se, df;

		power_error(&power, m, &se, &df);
		if (se == 0 || qt(1 - level / 2, df, 1, 0) * se < away ||
			qt(0.975, df, 1, 0) * se < margin - away)
			return m;
	}
	return 0;
}

/* The power when the variances are what they are said to be. */
static double power_known(const struct power *power, int m, double level, double d)
{
	double se, df, limit;

	power_error(power, m, &se, &df);
	if (df <= 0)
		return 0;
	if (se == 0)
		return d != 0;
	limit = qt(1 - level / 2, df, 1, 0);
	return pnt(limit, df, fabs(d) / se, 0, 0) + pnt(-limit, df, fabs(d) / se, 1, 0);
}

double power_at(const struct power *power, int m, double level, double d)
{
	double sum = 0;

	if (!(power->df > 0))
		return power_known(power, m, level, d);
	for (int i = 0; i < POWER_SLICES; i++) {
		double share = (i + 0.5) / POWER_SLICES;
		double factor = power->df / qchisq(share, power->df, 1, 0);
		const struct power maybe = {
			power->var_a * factor, power->var_b * factor, power->nu0, 0};

		sum += power_known(&maybe, m, level, d);
	}
	return sum / POWER_SLICES;
}

int power_boots_to_detect(const struct power *power, double level, double d, double wanted)
{
	for (int m = 2; m <= POWER_MAX_BOOTS; m += 2) {
		if (power_at(power, m, level, d) >= wanted)
			return m;
	}
	return 0;
}
