/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/num.h"
#include "report/report_form.h"
#include "sys/json_put.h"

/* What looking after every block has saved, and which blocks were repeated. */

/* Of one machine; boots are of all kernels together. */
struct look_tally {
	int taken;	  /* looks */
	int64_t boots;	  /* that were made for looks */
	int64_t most;	  /* that there might have been */
	int64_t repeated; /* of blocks that stand in for others */
};

static bool is_repeat(const struct store_machine *machine, int block)
{
	for (size_t i = 0; i < machine->extension_count; i++)
		if (machine->extensions[i].block == block && machine->extensions[i].repeats)
			return true;
	return false;
}

static struct look_tally tally_of(const struct report *report, const struct store_machine *machine)
{
	struct look_tally tally = {0};

	for (size_t i = 0; i < report->verdict_count; i++)
		if (report->verdicts[i].machine_id == machine->id &&
			report->verdicts[i].look > tally.taken)
			tally.taken = report->verdicts[i].look;
	for (size_t b = 0; b < machine->boot_count; b++) {
		const struct store_boot *boot = &machine->boots[b];
		bool ended = boot->state == STATE_DONE || boot->state == STATE_FAILED;

		if (is_repeat(machine, boot->block))
			tally.repeated += ended;
		else
			tally.boots += ended;
		tally.most += boot->block == 1;
	}
	tally.most *= report->view.head.looks;
	return tally;
}

static void write_machine(const struct report *report, const struct layout *layout,
	const struct store_machine *machine, struct str *out)
{
	struct look_tally tally = tally_of(report, machine);
	int64_t saved = tally.most - tally.boots, boot_ns = report_boot_ns(machine);
	struct str text = STR_INIT;

	str_addf(&text, "%d of at most %d looks on %s: %lld of %lld boots", tally.taken,
		report->view.head.looks, machine->name, (long long)tally.boots,
		(long long)tally.most);
	if (report->view.head.state != STATE_DONE)
		str_add(&text, " so far");
	else if (saved > 0) {
		str_addf(&text, ", %lld saved", (long long)saved);
		if (boot_ns) {
			str_add(&text, ", about ");
			num_add_duration(&text, saved * boot_ns);
			str_add(&text, " of machine time");
		}
	}
	if (tally.repeated)
		str_addf(&text, "; %lld more for disturbed blocks", (long long)tally.repeated);
	str_add_char(&text, '.');
	str_add_char(out, '\n');
	layout_paragraph(layout, out, 0, 0, str_text(&text));
	str_release(&text);
}

void report_looks(const struct report *report, const struct layout *layout, struct str *out)
{
	for (size_t m = 0; report->view.head.looks && m < report->view.machine_count; m++)
		write_machine(report, layout, &report->view.machines[m], out);
}

void report_looks_json(
	const struct report *report, const struct store_machine *machine, json_t *out)
{
	struct look_tally tally = tally_of(report, machine);
	int64_t saved = tally.most - tally.boots;

	if (!report->view.head.looks)
		return;
	json_put_int(out, "looks", tally.taken);
	json_put_int(out, "look_boots", tally.boots);
	json_put_int(out, "most_boots", tally.most);
	json_put_int(out, "saved_boots", saved);
	json_put_int(out, "saved_ns", saved * report_boot_ns(machine));
	json_put_int(out, "repeated_boots", tally.repeated);
}
