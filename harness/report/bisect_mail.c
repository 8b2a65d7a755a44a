/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "base/num.h"
#include "base/mem.h"
#include "report/bisect.h"
#include "report/report_form.h"

enum { MAIL_COLUMNS = 72, ADDRESSES_MAX = 20 };

/* A header line that holds nothing but what is printed: no line of a mail can be added from a
 * commit's text. */
static void add_header(
	const struct layout *layout, struct str *out, const char *name, const char *value)
{
	str_addf(out, "%s: ", name);
	layout_add_safe(layout, out, value);
	str_add_char(out, '\n');
}

/* "Name <address>", with a name that is quoted where it has to be (RFC 5322). */
static void add_address(const struct layout *layout, struct str *out, const char *author)
{
	const char *address = strrchr(author, '<');
	size_t len = address ? (size_t)(address - author) : 0;
	struct str safe = STR_INIT;
	char *name;

	while (len && author[len - 1] == ' ')
		len--;
	name = xstrndup(author, len);
	layout_add_safe(layout, &safe, name);
	if (!len || !strpbrk(str_text(&safe), "()<>[]:;@\\,.\"")) {
		layout_add_safe(layout, out, author);
	} else {
		str_add_char(out, '"');
		for (const char *c = str_text(&safe); *c; c++) {
			if (*c == '"' || *c == '\\')
				str_add_char(out, '\\');
			str_add_char(out, *c);
		}
		str_add(out, "\" ");
		layout_add_safe(layout, out, address);
	}
	str_release(&safe);
	free(name);
}

static bool is_new(const struct bisect_report *report, size_t suspect)
{
	const struct bisect_step *steps = report->record->steps;
	const int *suspects = report->finding->suspects;

	for (size_t i = 0; i < suspect; i++)
		if (!strcmp(steps[suspects[i]].author, steps[suspects[suspect]].author))
			return false;
	return true;
}

/* Authors of all that may be to blame, each once. */
static void add_authors(
	const struct bisect_report *report, const struct layout *layout, struct str *out)
{
	const struct bisect_finding *finding = report->finding;
	size_t written = 0;

	str_add(out, "To: ");
	for (size_t i = 0; i < finding->suspect_count && written < ADDRESSES_MAX; i++) {
		const char *author = report->record->steps[finding->suspects[i]].author;

		if (!author[0] || !is_new(report, i))
			continue;
		str_add(out, written++ ? ",\n\t" : "");
		add_address(layout, out, author);
	}
	str_add_char(out, '\n');
}

static void write_headers(
	const struct bisect_report *report, const struct layout *layout, struct str *out)
{
	const struct bisect_record *record = report->record;
	const struct bisect_step *culprit = &record->steps[report->finding->suspects[0]];
	struct str subject = STR_INIT;

	add_authors(report, layout, out);
	add_header(layout, out, "Cc", "linux-kernel@vger.kernel.org, regressions@lists.linux.dev");
	str_addf(&subject, "[REGRESSION] %s",
		record->condition[0] ? record->condition : record->metric);
	if (!isnan(report->finding->good_level) && !isnan(report->finding->bad_level))
		str_addf(&subject, " %s%%",
			num_say_pct(
				100 * (report->finding->bad_level / report->finding->good_level -
					      1),
				1, true)
				.text);
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
	const struct layout headers = {MAIL_COLUMNS, true, false}; /* whatever the terminal is */
	const struct bisect_finding *finding = report->finding;

	if (!finding->suspect_count || report->record->axis != AXIS_COMMITS ||
		(finding->word != FOUND_CULPRIT && finding->word != FOUND_RANGE &&
			finding->word != FOUND_SEVERAL)) {
		str_add(out, "There is nothing to write about: no commit was found.\n");
		return;
	}
	write_headers(report, &headers, out);
	bisect_report_text(report, false, &narrow, out);
	str_add_char(out, '\n');
	write_introduced(report, out);
}
