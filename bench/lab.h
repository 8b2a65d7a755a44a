/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BENCH_LAB_H
#define KB_BENCH_LAB_H

#include "base/base.h"

#include "base/file.h"
#include "base/str.h"
#include "model/store_result.h"
#include "model/store_view.h"
#include "must.h"

/* A database with an experiment of any size in it, made through the store as a real one is. */

struct lab_size {
	int variants, boots; /* of each variant; even */
	int conditions, runs, metrics;
	int samples; /* of each metric in a run */
};

struct lab {
	struct lab_size size;
	struct arena arena;
	struct store *store;
	int64_t experiment_id;
	struct store_view view;
};

static inline char *lab_experiment_text(const struct lab_size *size)
{
	struct str s = STR_INIT;

	str_add(&s, "experiment: bench\nbaseline: v0\n"
		    "machines: [{machine: guest, connect: {qemu: {cpus: 8, llcs: 4}}}]\n"
		    "kernels:\n  variants:\n");
	for (int i = 0; i < size->variants; i++)
		str_addf(&s, "    v%d: {prebuilt: {package: linux}, sysctls: {a.b: '%d'}}\n", i, i);
	str_add(&s, "variants: [");
	for (int i = 1; i < size->variants; i++)
		str_addf(&s, "%sv%d", i > 1 ? ", " : "", i);
	str_addf(&s,
		"]\ndesign: {boots: %d, runs: %d, warmup: 0}\nsuites:\n"
		"  - suite: made-up\n    program: p\n    duration: 1s\n    conditions:\n",
		size->boots, size->runs);
	for (int i = 0; i < size->conditions; i++)
		str_addf(&s, "      c%d: {argv: [p, '%d']}\n", i, i);
	str_add(&s, "    metrics:\n");
	for (int i = 0; i < size->metrics; i++)
		str_addf(&s, "      m%d: {unit: ops/s, better: higher, regex: '(.)', which: all}\n",
			i);
	return str_take(&s);
}

static inline void lab_create(struct lab *lab)
{
	char *text = lab_experiment_text(&lab->size);
	struct diag diag = DIAG_INIT;
	struct experiment experiment;
	struct store_ref *refs;
	struct plan plan;

	if (experiment_read_text(&lab->arena, "bench", text, strlen(text), &experiment, &diag)) {
		struct str why = STR_INIT;

		diag_write(&diag, &why);
		fprintf(stderr, "%s", str_text(&why));
		exit(3);
	}
	diag_release(&diag);
	refs = arena_alloc(&lab->arena, (size_t)lab->size.variants * sizeof(*refs));
	for (int i = 0; i < lab->size.variants; i++)
		refs[i] = (struct store_ref){"", ""};
	MUST(plan_make(&lab->arena, &experiment, experiment.machines, 8, &plan, &err));
	MUST(store_create(lab->store,
		&(struct store_new){KIND_EXPERIMENT, &experiment, text, &plan, refs, "bench"},
		&lab->experiment_id, &err));
	free(text);
	MUST(store_load(lab->store, lab->experiment_id, &lab->arena, &lab->view, &err));
}

/* Opens (creates) the database and plans the experiment in it. */
static inline void lab_open(struct lab *lab, const char *path, const struct lab_size *size)
{
	*lab = (struct lab){.size = *size};
	MUST(store_open(path, STORE_WRITE, &lab->store, &err));
	lab_create(lab);
}

static inline void lab_close(struct lab *lab)
{
	store_close(lab->store);
	arena_release(&lab->arena);
}

/* Marks all variants as built, each a kernel of its own. */
static inline void lab_build(struct lab *lab)
{
	for (size_t i = 0; i < lab->view.variant_count; i++) {
		const char *key = arena_printf(&lab->arena, "%064zu", i);
		struct store_build build = {.key = key,
			.commit = "",
			.tree = "",
			.release = "6.12",
			.proc_version = "",
			.build_id = key,
			.config_sha256 = "",
			.compiler = "gcc",
			.version = "bench"};

		MUST(store_variant_started(lab->store, lab->view.variants[i].id, &err));
		MUST(store_variant_built(
			lab->store, lab->view.variants[i].id, &build, NULL, 0, &err));
	}
}

static inline int64_t lab_boot(struct lab *lab, const struct store_boot *boot)
{
	struct store_attempt_end end = {
		.kernel_boot_id = "uuid", .proof = "{\"ok\":true}", .facts = "{\"cpu\":\"x\"}"};
	int64_t attempt;

	MUST(store_attempt_begin(lab->store, boot->id, "kexec", &attempt, &err));
	MUST(store_attempt_finish(lab->store, attempt, &end, &err));
	return attempt;
}

/* A value around a level of its own for each metric and variant, by a small generator. */
static inline double lab_value(int metric, int position, uint64_t *state)
{
	double noise = (double)(plan_random(state) >> 11) / 9007199254740992.0 - 0.5;

	return 1000 * (metric + 1) * (1 + 0.01 * position) * (1 + 0.02 * noise);
}

/* The samples of a run; as many as metrics * samples. */
static inline void lab_samples(const struct lab *lab, const struct store_run *run, int position,
	uint64_t *state, struct store_sample *samples)
{
	const struct store_metric *metrics =
		lab->view.machines[0].conditions[run->condition_position].metrics;
	size_t n = 0;

	for (int m = 0; m < lab->size.metrics; m++)
		for (int i = 0; i < lab->size.samples; i++)
			samples[n++] = (struct store_sample){
				metrics[m].id, i + 1, lab_value(m, position, state), 0};
}

#endif
