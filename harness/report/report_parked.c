/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/mem.h"
#include "base/str.h"
#include "model/machine.h"
#include "report/report_notes.h"

static void note_parked(struct report *report)
{
	for (size_t m = 0; m < report->view.machine_count; m++)
		if (report->parked[m])
			report_note(report, NOTE_WARNING,
				arena_printf(report->arena, "%s is parked with its plan: %s.",
					report->view.machines[m].name, report->parked[m]));
}

/* Guests and the host itself are one computer's: what runs on one is taken from the others. */
static bool is_on_this_host(const struct store_machine *machine)
{
	return strcmp(machine->kind, machine_kind_name(MACHINE_QEMU)) == 0 ||
	       strcmp(machine->kind, machine_kind_name(MACHINE_LOCAL)) == 0;
}

static void note_shared_host(struct report *report)
{
	struct str text = STR_INIT;
	size_t count = 0;

	str_add(&text, "On one host and measured at the same time: ");
	for (size_t m = 0; m < report->view.machine_count; m++)
		if (is_on_this_host(&report->view.machines[m]))
			str_addf(&text, "%s%s", count++ ? ", " : "", report->view.machines[m].name);
	str_add(&text, ". They take each other's CPUs, so that runs scatter more than on machines "
		       "of their own.");
	if (count > 1)
		report_note(report, NOTE_WARNING, str_text(&text));
	str_release(&text);
}

void report_note_machines(struct report *report)
{
	note_parked(report);
	note_shared_host(report);
}
