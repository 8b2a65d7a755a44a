/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <ctype.h>
#include <math.h>

#include "base/num.h"
#include "model/template.h"

enum { DEPTH_MAX = 32, RESULT_MAX = 65536, NAME_MAX_LEN = 64 };

/*
 * Grammar, read by recursive descent:
 *   sum     = product { (+|-) product }
 *   product = unary { (*|/|%) unary }
 *   unary   = - unary | number | name | max ( sum , sum ) | min ( sum , sum ) | ( sum )
 */
struct parser {
	const char *at;
	const struct template_values *values; /* NULL: only the form and the names are checked */
	const struct pairs *params;
	const char *sought; /* a name to look for; NULL: none */
	bool found;
	int depth;
	struct err *err;
};

static int parse_sum(struct parser *p, int64_t *out);

static void skip_blanks(struct parser *p)
{
	while (*p->at == ' ')
		p->at++;
}

static bool take(struct parser *p, char c)
{
	skip_blanks(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static int overflow(const struct parser *p)
{
	return err_set(p->err, ERR_USAGE, "the result is too large");
}

static const char *find_param(const struct pairs *params, const char *name)
{
	for (size_t i = 0; params && i < params->count; i++)
		if (strcmp(params->items[i].key, name) == 0)
			return params->items[i].value;
	return NULL;
}

/* Reads a name (letters, digits, _) at the cursor into name; false when there is none. */
static bool take_name(struct parser *p, char name[NAME_MAX_LEN + 1])
{
	size_t len = 0;

	skip_blanks(p);
	if (!isalpha((unsigned char)*p->at) && *p->at != '_')
		return false;
	while (isalnum((unsigned char)p->at[len]) || p->at[len] == '_')
		len++;
	if (len > NAME_MAX_LEN)
		return false;
	memcpy(name, p->at, len);
	name[len] = '\0';
	p->at += len;
	return true;
}

static bool is_builtin(const char *name)
{
	static const char *const names[] = {"workers", "cpus", "saturation", "seconds"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static int unknown_name(const struct parser *p, const char *name)
{
	return err_set(p->err, ERR_USAGE,
		"'%s' is neither workers, cpus, saturation, seconds nor a parameter", name);
}

/* The whole number that a name stands for; 1 when only the form is checked. */
static int look_up(struct parser *p, const char *name, int64_t *out)
{
	const char *param = find_param(p->params, name);
	const struct template_values *v = p->values;

	if (p->sought && strcmp(p->sought, name) == 0)
		p->found = true;
	if (!param && !is_builtin(name) && !p->sought)
		return unknown_name(p, name);
	*out = 1;
	if (!v)
		return 0;
	if (param)
		return num_int(param, INT64_MIN, INT64_MAX, out, p->err)
			       ? err_wrap(p->err, "parameter %s", name)
			       : 0;
	if (strcmp(name, "workers") == 0)
		*out = v->workers;
	else if (strcmp(name, "cpus") == 0)
		*out = v->cpus;
	else if (strcmp(name, "seconds") == 0)
		*out = (int64_t)ceil(v->seconds);
	else
		*out = (int64_t)floor(v->saturation_pct + 0.5);
	return 0;
}

static int parse_number(struct parser *p, int64_t *out)
{
	int64_t value = 0;

	while (isdigit((unsigned char)*p->at)) {
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, *p->at - '0', &value))
			return overflow(p);
		p->at++;
	}
	*out = value;
	return 0;
}

/* max(a, b) and min(a, b), with the cursor behind the name. */
static int parse_call(struct parser *p, bool largest, int64_t *out)
{
	int64_t a, b;
	int ret;

	if (!take(p, '('))
		return err_set(p->err, ERR_USAGE, "'(' is missing after max or min");
	ret = parse_sum(p, &a);
	if (ret)
		return ret;
	if (!take(p, ','))
		return err_set(p->err, ERR_USAGE, "max and min want two values: max(a, b)");
	ret = parse_sum(p, &b);
	if (ret)
		return ret;
	if (!take(p, ')'))
		return err_set(p->err, ERR_USAGE, "')' is missing after max or min");
	*out = (a > b) == largest ? a : b;
	return 0;
}

static int parse_name(struct parser *p, int64_t *out)
{
	char name[NAME_MAX_LEN + 1];

	if (!take_name(p, name))
		return err_set(
			p->err, ERR_USAGE, "a number or a name is missing at '%.20s'", p->at);
	if (strcmp(name, "max") == 0 || strcmp(name, "min") == 0)
		return parse_call(p, name[1] == 'a', out);
	return look_up(p, name, out);
}

static int parse_negative(struct parser *p, int64_t *out);

static int parse_unary(struct parser *p, int64_t *out)
{
	int ret;

	if (p->depth >= DEPTH_MAX)
		return err_set(p->err, ERR_USAGE, "it is nested more than %d deep", DEPTH_MAX);
	p->depth++;
	skip_blanks(p);
	if (take(p, '(')) {
		ret = parse_sum(p, out);
		if (ret == 0 && !take(p, ')'))
			ret = err_set(p->err, ERR_USAGE, "')' is missing");
	} else if (take(p, '-')) {
		ret = parse_negative(p, out);
	} else if (isdigit((unsigned char)*p->at)) {
		ret = parse_number(p, out);
	} else {
		ret = parse_name(p, out);
	}
	p->depth--;
	return ret;
}

static int parse_negative(struct parser *p, int64_t *out)
{
	int64_t value;
	int ret = parse_unary(p, &value);

	if (ret == 0 && __builtin_sub_overflow((int64_t)0, value, out))
		return overflow(p);
	return ret;
}

static int apply(const struct parser *p, char op, int64_t a, int64_t b, int64_t *out)
{
	bool too_large;

	if ((op == '/' || op == '%') && b == 0) {
		*out = 0;
		return p->values ? err_set(p->err, ERR_USAGE, "division by zero") : 0;
	}
	if ((op == '/' || op == '%') && b == -1)
		too_large = __builtin_mul_overflow(op == '/' ? a : 0, (int64_t)-1, out);
	else if (op == '/' || op == '%')
		*out = op == '/' ? a / b : a % b, too_large = false;
	else if (op == '*')
		too_large = __builtin_mul_overflow(a, b, out);
	else if (op == '+')
		too_large = __builtin_add_overflow(a, b, out);
	else
		too_large = __builtin_sub_overflow(a, b, out);
	return too_large ? overflow(p) : 0;
}

typedef int parse_fn(struct parser *p, int64_t *out);

/* Operands of the next higher rank, joined from left to right by the operators. */
static int parse_chain(struct parser *p, const char *operators, parse_fn *operand, int64_t *out)
{
	int64_t left, right;
	int ret = operand(p, &left);

	while (ret == 0) {
		char op;

		skip_blanks(p);
		op = *p->at;
		if (!op || !strchr(operators, op))
			break;
		p->at++;
		ret = operand(p, &right);
		if (ret == 0)
			ret = apply(p, op, left, right, &left);
	}
	if (ret == 0)
		*out = left;
	return ret;
}

static int parse_product(struct parser *p, int64_t *out)
{
	return parse_chain(p, "*/%", parse_unary, out);
}

static int parse_sum(struct parser *p, int64_t *out)
{
	return parse_chain(p, "+-", parse_product, out);
}

/* What a name alone in braces gives: text with a fraction, or a parameter as it is. Returns true
 * when the braces held just such a name. */
static bool add_alone(struct parser *p, struct str *out)
{
	const char *start = p->at, *param;
	char name[NAME_MAX_LEN + 1];

	if (!take_name(p, name) || !take(p, '}')) {
		p->at = start;
		return false;
	}
	param = find_param(p->params, name);
	if (param)
		str_add(out, param);
	else if (strcmp(name, "seconds") == 0)
		num_add_double(out, p->values->seconds);
	else if (strcmp(name, "saturation") == 0)
		num_add_double(out, p->values->saturation_pct);
	else
		p->at = start;
	return p->at != start;
}

/* With the cursor behind the '{'. */
static int parse_braces(struct parser *p, struct str *out)
{
	int64_t value;
	int ret;

	if (p->values && add_alone(p, out))
		return 0;
	ret = parse_sum(p, &value);
	if (ret)
		return ret;
	if (!take(p, '}'))
		return err_set(p->err, ERR_USAGE,
			*p->at ? "'}' is missing before '%.20s'" : "'}' is missing%s", p->at);
	str_addf(out, "%lld", (long long)value);
	return 0;
}

static int parse_text(struct parser *p, struct str *out)
{
	while (*p->at) {
		char c = *p->at++;
		int ret = 0;

		if ((c == '{' || c == '}') && *p->at == c)
			str_add_char(out, *p->at++);
		else if (c == '{')
			ret = parse_braces(p, out);
		else
			str_add_char(out, c);
		if (ret)
			return ret;
		if (out->len > RESULT_MAX)
			return err_set(p->err, ERR_USAGE, "the result is longer than %d bytes",
				RESULT_MAX);
	}
	return 0;
}

int template_expand(struct arena *arena, const char *text, const struct template_values *values,
	const char **out, struct err *err)
{
	struct parser p = {.at = text, .values = values, .params = values->params, .err = err};
	struct str result = STR_INIT;
	int ret = parse_text(&p, &result);

	if (ret == 0)
		*out = arena_strdup(arena, str_text(&result));
	else
		ret = err_wrap(err, "template '%.60s'", text);
	str_release(&result);
	return ret;
}

int template_check(const char *text, const struct pairs *params, struct err *err)
{
	struct parser p = {.at = text, .params = params, .err = err};
	struct str ignored = STR_INIT;
	int ret = parse_text(&p, &ignored);

	str_release(&ignored);
	return ret;
}

bool template_uses(const char *text, const char *name)
{
	struct err err;
	struct parser p = {.at = text, .sought = name, .err = &err};
	struct str ignored = STR_INIT;

	/* what is wrong with the template is told by template_check */
	(void)!parse_text(&p, &ignored);
	str_release(&ignored);
	return p.found;
}
