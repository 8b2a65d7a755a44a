/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "report/report_form.h"
#include "stat/describe.h"

/* When a boot began that was proved to be what was asked for; 0: none was. */
static int64_t began_ns(const struct store_boot *boot)
{
	for (size_t a = 0; a < boot->attempt_count; a++)
		if (strcmp(boot->attempts[a].outcome, "proved") == 0)
			return boot->attempts[a].started_ns;
	return 0;
}

int64_t report_boot_ns(const struct store_machine *machine)
{
	double *gaps = xcalloc(machine->boot_count + 1, sizeof(*gaps));
	int64_t last = 0, ns = 0;
	size_t count = 0;

	for (size_t b = 0; b < machine->boot_count; b++) {
		int64_t began = began_ns(&machine->boots[b]);

		if (began && last && began > last)
			gaps[count++] = (double)(began - last);
		last = began;
	}
	if (count)
		ns = (int64_t)describe_median(gaps, count);
	free(gaps);
	return ns;
}

void report_cost_of(
	const struct report *report, const struct store_machine *machine, struct report_cost *out)
{
	const struct store_view *view = &report->view;
	bool *again = xcalloc(view->variant_count + 1, sizeof(*again));

	*out = (struct report_cost){0};
	for (size_t i = 0; i < report->verdict_count; i++) {
		const struct store_verdict *verdict = &report->verdicts[i];

		if (verdict->machine_id != machine->id || !verdict->headline ||
			verdict->word != VERDICT_INCONCLUSIVE || verdict->further_boots < 1)
			continue;
		if (verdict->further_boots > out->further_boots)
			out->further_boots = verdict->further_boots;
		for (size_t v = 0; v < view->variant_count; v++)
			again[v] = again[v] || view->variants[v].id == verdict->variant_id ||
				   view->variants[v].id == verdict->against_id;
	}
	for (size_t v = 0; v < view->variant_count; v++)
		out->kernels += again[v];
	out->boot_ns = report_boot_ns(machine);
	free(again);
}

void report_costs(const struct report *report, const struct layout *layout, struct str *out)
{
	for (size_t m = 0; m < report->view.machine_count; m++) {
		const struct store_machine *machine = &report->view.machines[m];
		struct str text = STR_INIT;
		struct report_cost cost;

		report_cost_of(report, machine, &cost);
		if (!cost.further_boots)
			continue;
		str_addf(&text,
			"What more boots would decide on %s takes up to %lld of each of %lld "
			"kernels",
			machine->name, (long long)cost.further_boots, (long long)cost.kernels);
		if (cost.boot_ns) {
			str_add(&text, ": about ");
			num_add_duration(&text, cost.further_boots * cost.kernels * cost.boot_ns);
			str_add(&text, " of machine time");
		}
		str_add_char(&text, '.');
		str_add_char(out, '\n');
		layout_paragraph(layout, out, 0, 0, str_text(&text));
		str_release(&text);
	}
}
