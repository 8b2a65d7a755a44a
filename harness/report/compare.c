/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>
#include <stdarg.h>

#include "report/compare.h"
#include "report/report_notes.h"
#include "sys/json.h"

enum { FACTS_MAX_BYTES = 1 << 20 };

/* Where a verdict stands in its report. */
struct spot {
	const struct report_block *block;
	const struct report_column *column;
	const struct store_variant *variant;
};

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static const struct store_verdict *find_partner(
	const struct report *report, const struct spot *place, struct spot *found)
{
	for (size_t b = 0; b < report->block_count; b++) {
		const struct report_block *block = &report->blocks[b];

		if (!same(block->machine->name, place->block->machine->name))
			continue;
		for (size_t c = 0; c < block->count; c++) {
			const struct report_column *column = &block->columns[c];

			if (!same(column->condition->name, place->column->condition->name) ||
				!same(column->metric->name, place->column->metric->name))
				continue;
			for (size_t v = 0; v < report->view.variant_count; v++) {
				const struct store_variant *variant = &report->view.variants[v];

				if (!column->cells[v] || !variant->against ||
					!same(variant->name, place->variant->name) ||
					!same(variant->against->name,
						place->variant->against->name))
					continue;
				*found = (struct spot){block, column, variant};
				return column->cells[v];
			}
		}
	}
	return NULL;
}

/* The first thing in which two cells differ that makes their effects different things. */
static const char *obstacle(const struct spot *a, const struct spot *b)
{
	const struct store_condition *x = a->column->condition, *y = b->column->condition;

	if (!same(a->column->metric->unit, b->column->metric->unit) ||
		a->column->metric->lower_is_better != b->column->metric->lower_is_better)
		return "unit or direction differs";
	if (x->workers != y->workers || x->cpus != y->cpus)
		return "number of workers or CPUs differs";
	if (!same(x->argv, y->argv) || !same(x->env, y->env))
		return "the program was called differently";
	if (*x->program_sha256 && *y->program_sha256 && !same(x->program_sha256, y->program_sha256))
		return "the program is another binary";
	if (*x->server_sha256 && *y->server_sha256 && !same(x->server_sha256, y->server_sha256))
		return "the server is another binary";
	return "";
}

static void note(struct compare *compare, struct arena *arena, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void note(struct compare *compare, struct arena *arena, const char *fmt, ...)
{
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	compare->notes = report_grown(arena, compare->notes, compare->note_count,
		&compare->note_capacity, sizeof(*compare->notes));
	compare->notes[compare->note_count++] =
		(struct report_note){NOTE_WARNING, arena_strdup(arena, str_text(&text))};
	str_release(&text);
}

/* What of a machine's facts does not depend on the kernel that ran when they were taken. */
static const char *const hardware[] = {"cpu", "cpus_list", "sockets", "cores", "llc_domains", "smt",
	"governor", "turbo", "memory_bytes"};

static json_t *facts_of(const struct store_machine *machine)
{
	struct err err = ERR_INIT;
	json_t *facts = NULL;

	if (!*machine->facts ||
		json_parse(machine->facts, strlen(machine->facts), FACTS_MAX_BYTES, &facts, &err))
		return NULL;
	return facts;
}

static void note_machine(struct compare *compare, struct arena *arena,
	const struct store_machine *a, const struct store_machine *b)
{
	json_t *x = facts_of(a), *y = facts_of(b);

	for (size_t i = 0; x && y && i < ARRAY_SIZE(hardware); i++)
		if (!json_equal(json_object_get(x, hardware[i]), json_object_get(y, hardware[i])))
			note(compare, arena, "Machine %s was not the same in both: %s differs.",
				a->name, hardware[i]);
	json_decref(x);
	json_decref(y);
}

static void note_machines(struct compare *compare, struct arena *arena)
{
	const struct store_view *x = &compare->a->view, *y = &compare->b->view;

	for (size_t i = 0; i < x->machine_count; i++)
		for (size_t j = 0; j < y->machine_count; j++)
			if (same(x->machines[i].name, y->machines[j].name))
				note_machine(compare, arena, &x->machines[i], &y->machines[j]);
}

static void note_kernels(struct compare *compare, struct arena *arena)
{
	const struct store_view *x = &compare->a->view, *y = &compare->b->view;

	for (size_t i = 0; i < x->variant_count; i++)
		for (size_t j = 0; j < y->variant_count; j++) {
			const struct store_variant *a = &x->variants[i], *b = &y->variants[j];

			if (same(a->name, b->name) && a->build && b->build &&
				!same(a->build->key, b->build->key))
				note(compare, arena,
					"%s is another kernel in each: build %.12s and %.12s.",
					a->name, a->build->key, b->build->key);
		}
}

static void add_row(struct compare *compare, struct arena *arena, const struct spot *place,
	const struct spot *other, const struct store_verdict *a, const struct store_verdict *b)
{
	compare->rows = report_grown(
		arena, compare->rows, compare->count, &compare->capacity, sizeof(*compare->rows));
	compare->rows[compare->count++] = (struct compare_row){
		.machine = place->block->machine->name,
		.condition = place->column->condition->name,
		.metric = place->column->metric->name,
		.unit = place->column->metric->unit,
		.variant = place->variant->name,
		.against = place->variant->against->name,
		.a = a,
		.b = b,
		.obstacle = obstacle(place, other),
	};
}

static void add_column(struct compare *compare, struct arena *arena,
	const struct report_block *block, const struct report_column *column)
{
	for (size_t v = 0; v < compare->a->view.variant_count; v++) {
		struct spot place = {block, column, &compare->a->view.variants[v]}, other;
		const struct store_verdict *partner;

		if (!column->cells[v] || !place.variant->against)
			continue;
		partner = find_partner(compare->b, &place, &other);
		if (partner)
			add_row(compare, arena, &place, &other, column->cells[v], partner);
		else
			compare->only_a++;
	}
}

void compare_make(
	const struct report *a, const struct report *b, struct arena *arena, struct compare *out)
{
	*out = (struct compare){.a = a, .b = b};
	for (size_t i = 0; i < a->block_count; i++)
		for (size_t c = 0; c < a->blocks[i].count; c++)
			add_column(out, arena, &a->blocks[i], &a->blocks[i].columns[c]);
	out->only_b = b->verdict_count - out->count;
	note_machines(out, arena);
	note_kernels(out, arena);
}

enum compare_word compare_word_of(const struct compare_row *row)
{
	const struct store_verdict *a = row->a, *b = row->b;

	if (*row->obstacle || isnan(a->effect_low) || isnan(a->effect_high) ||
		isnan(b->effect_low) || isnan(b->effect_high))
		return COMPARE_UNKNOWN;
	return a->effect_low > b->effect_high || b->effect_low > a->effect_high ? COMPARE_APART
										: COMPARE_OVERLAP;
}
