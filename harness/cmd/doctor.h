/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_CMD_DOCTOR_H
#define KB_CMD_DOCTOR_H

#include "base/base.h"

#include "backend/machine.h"
#include "report/health_list.h"
#include "sys/json.h"

/* Programs of this host: what is missing and what it would be for. */
void doctor_programs(struct health *findings);
/* What a guest needs of this host; qemu: the emulator that its file names. */
void doctor_guest(struct health *findings, const char *qemu);

/* Looks at a machine that was started: its rest, its kernel's options, its timers. facts: the
 * agent's. What cannot be asked for is left out; ERR_INFRA when the machine does not answer,
 * ERR_INTERRUPTED. */
KB_MUST_CHECK int doctor_look(struct health *findings, struct machine *machine,
	const struct machine_spec *spec, const json_t *facts, struct err *err);

/* Runs kbracket's own workloads on it for some 30 seconds, A B B A with A and B the same, and tells
 * how much the numbers scatter. Errors as above. */
KB_MUST_CHECK int doctor_measure(
	struct health *findings, struct machine *machine, int64_t cpus, struct err *err);

#endif
