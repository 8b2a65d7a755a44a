/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_TEMPLATE_H
#define KB_MODEL_TEMPLATE_H

#include "base/base.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/pair.h"

/*
 * Templates: text with {expressions}. {workers}, {cpus}, {saturation}, {seconds}, and the
 * condition's parameters; whole-number arithmetic with + - * / % max(a, b) min(a, b) and
 * parentheses; "{{" is a brace, and so is "}}".
 *
 * Alone in its braces, {seconds} and {saturation} keep their fraction ("0.5", "31.25") and a
 * parameter is any text. In arithmetic, seconds are rounded up, saturation is rounded half up, and
 * a parameter must be a whole number. / rounds towards zero.
 */
struct template_values {
	int64_t workers, cpus;
	double saturation_pct;
	double seconds;
	const struct pairs *params; /* may be NULL */
};

/* The arena's. ERR_USAGE for a mistake in the template, overflow, division by zero, or a result
 * of more than 64 KiB. */
KB_MUST_CHECK int template_expand(struct arena *arena, const char *text,
	const struct template_values *values, const char **out, struct err *err);

/* Checks the form and that every name in it is known; known are the four above and the parameters
 * (whose values do not matter). */
KB_MUST_CHECK int template_check(const char *text, const struct pairs *params, struct err *err);
/* True when the template uses the name. */
bool template_uses(const char *text, const char *name);

#endif
