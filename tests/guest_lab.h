/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_GUEST_LAB_H
#define KB_TESTS_GUEST_LAB_H

#include "base/base.h"

#include "sys/proc.h"
#include "fake_experiment.h"
#include "test_kernel.h"

/*
 * The experiment of fake_experiment.h on real QEMU guests with Debian's kernel. Only the builder is
 * made up: it hands out that one kernel, and for a variant named "wrong" says it had another
 * build-id.
 */
static struct arena guest_arena;
static struct build guest_kernel;

static inline int guest_build(const struct build_env *env KB_UNUSED, const struct variant *variant,
	struct arena *arena KB_UNUSED, struct build *out, struct err *err KB_UNUSED)
{
	*out = guest_kernel;
	if (!strcmp(variant->name, "wrong")) {
		out->key = "0000000000000000000000000000000000000000000000000000000000000001";
		out->build_id = "00000000000000000000";
	}
	return 0;
}

static inline const struct builder *guest_builder_for(const struct variant *variant KB_UNUSED)
{
	static const struct builder builder = {.name = "guest", .build = guest_build};

	return &builder;
}

/* Skips the program where there is no QEMU or no kernel. */
static inline void guest_need(void)
{
	char *qemu = proc_find_program("qemu-system-x86_64");

	if (!qemu)
		skip_program("there is no qemu-system-x86_64 here");
	free(qemu);
	find_test_kernel(&guest_arena, &guest_kernel);
}

/* On the host nothing of this happens: the word is on a guest's command line only. */
#define GUEST_PROGRAM                                       \
	"#!/bin/sh\n"                                       \
	"if grep -q kbracket.late=1 /proc/cmdline; then\n"  \
	"	sleep 1; echo c >/proc/sysrq-trigger; sleep 60\n" \
	"fi\n"                                              \
	"echo rate: $((100 + $1)); echo rate: $((200 + $1)); echo time: $1\n"

static inline void guest_program(const struct lab *lab)
{
	char *path = xasprintf("%s/fixed.sh", lab->folder);

	fake_write(lab->folder, "fixed.sh", GUEST_PROGRAM, strlen(GUEST_PROGRAM));
	(void)chmod(path, 0755);
	free(path);
}

/* That many guests. kernels: further variants as YAML; names: those to compare with A; order: of
 * boots. */
static inline struct lab *guest_lab(int machines, const char *kernels, const char *names,
	const char *order, const char *timeout)
{
	static struct backend_ops ops;
	struct lab *lab = lab_folder();
	struct str text = STR_INIT;

	ops = backend_ops_real;
	ops.builder_for = guest_builder_for;
	lab->options.ops = &ops;
	guest_program(lab);
	str_add(&text, "experiment: guests\nmachines:\n");
	for (int i = 1; i <= machines; i++)
		str_addf(&text,
			"  - {machine: g%d, connect: {qemu: {cpus: 4, memory: 512M}}, "
			"boot_timeout: "
			"%s,\n     cmdline: quiet nokaslr mitigations=off,\n     programs: {fixed: "
			"%s/fixed.sh}}\n",
			i, timeout, lab->folder);
	str_addf(&text,
		"baseline: A\n"
		"kernels: {variants: {A: {prebuilt: {package: linux}}, %s}}\n"
		"variants: [%s]\n"
		"saturation: [100%%, 50%%]\n"
		"suites:\n"
		"  - suite: fixed\n"
		"    program: fixed\n"
		"    conditions: {by: {argv: [fixed, \"{workers}\"]}}\n"
		"    expect: 1s\n"
		"    timeout: 60s\n"
		"    metrics:\n"
		"      rate: {unit: ops/s, better: higher, regex: '^rate: ([0-9]+)$', which: all}\n"
		"      time: {unit: s, better: lower, regex: '^time: ([0-9]+)$'}\n"
		"design: {order: [%s], runs: 2, warmup: 1}\n",
		kernels, names, order);
	lab_plan(lab, str_text(&text));
	str_release(&text);
	lab_create(lab);
	return lab;
}

#endif
