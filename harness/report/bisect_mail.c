/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "report/bisect.h"
#include "report/report_form.h"

enum { MAIL_COLUMNS = 72 };

/* A header line that holds nothing but what is printed: no line of a mail can be added from a
 * commit's text. */
static void add_header(
	const struct layout *layout, struct str *out, const char *name, const char *value)
{
	str_addf(out, "%s: ", name);
	layout_add_safe(layout, out, value);
	str_add_char(out, '\n');
}

static void write_headers(
	const struct bisect_report *report, const struct layout *layout, struct str *out)
{
	const struct bisect_record *record = report->record;
	const struct bisect_step *culprit = &record->steps[report->finding->suspects[0]];
	struct str subject = STR_INIT;

	add_header(layout, out, "To", culprit->author);
	add_header(layout, out, "Cc", "linux-kernel@vger.kernel.org, regressions@lists.linux.dev");
	str_addf(&subject, "[REGRESSION] %s", record->condition);
	if (!isnan(report->finding->good_level) && !isnan(report->finding->bad_level))
		str_addf(&subject, " %+.1f%%",
			100 * (report->finding->bad_level / report->finding->good_level - 1));
	str_addf(&subject, " since %.12s (\"%s\")", culprit->name, culprit->subject);
	add_header(layout, out, "Subject", str_text(&subject));
	str_add_char(out, '\n');
	str_release(&subject);
}

static void write_introduced(const struct bisect_report *report, struct str *out)
{
	const struct bisect_finding *finding = report->finding;
	const struct bisect_record *record = report->record;

	if (finding->word == FOUND_RANGE)
		str_addf(out, "#regzbot introduced: %s..%s\n",
			record->steps[finding->suspects[0] - 1].name,
			record->steps[finding->suspects[finding->suspect_count - 1]].name);
	else
		str_addf(
			out, "#regzbot introduced: %s\n", record->steps[finding->suspects[0]].name);
}

void bisect_report_mail(
	const struct bisect_report *report, const struct layout *layout, struct str *out)
{
	const struct layout narrow = {MAIL_COLUMNS, layout->utf8, false};
	const struct bisect_finding *finding = report->finding;

	if (!finding->suspect_count || report->record->axis != AXIS_COMMITS ||
		(finding->word != FOUND_CULPRIT && finding->word != FOUND_RANGE &&
			finding->word != FOUND_SEVERAL)) {
		str_add(out, "There is nothing to write about: no commit was found.\n");
		return;
	}
	write_headers(report, &narrow, out);
	bisect_report_text(report, false, &narrow, out);
	str_add_char(out, '\n');
	write_introduced(report, out);
}
