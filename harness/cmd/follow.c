/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/log.h"
#include "base/str.h"
#include "cmd/follow.h"
#include "cmd/ui.h"

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static void add_boot(struct str *out, const struct progress *p)
{
	str_addf(out, "boot %d/%d %s", p->boot, p->boots, or_empty(p->variant));
	if (p->machine)
		str_addf(out, " on %s", p->machine);
}

static void add_run(struct str *out, const struct progress *p)
{
	str_addf(out, "run %d/%d %s", p->run, p->runs, or_empty(p->condition));
	if (p->run_kind != RUN_MEASURED)
		str_addf(out, " (%s)", run_kind_name(p->run_kind));
}

static void show(const struct progress *p, const struct str *what)
{
	struct str whole = STR_INIT;
	struct ui_progress progress = {
		.spent_ns = p->elapsed_ns,
		.left_ns = p->left_ns,
		.guess = !p->measured,
	};

	if (p->at_work > 1)
		str_addf(&whole, "%d machines; ", p->at_work);
	str_add(&whole, str_text(what));
	progress.what = str_text(&whole);
	ui_progress(&progress);
	str_release(&whole);
}

static void tell_build(const struct progress *p)
{
	struct str what = STR_INIT;

	str_addf(&what, "building %s", or_empty(p->variant));
	if (p->text)
		str_addf(&what, ": %s", p->text);
	show(p, &what);
	str_release(&what);
}

static void tell_built(const struct progress *p)
{
	log_line(LOG_INFO, "%s is built: %s", or_empty(p->variant), or_empty(p->text));
}

static void tell_build_failed(const struct progress *p)
{
	log_line(LOG_WARN, "%s could not be built: %s", or_empty(p->variant), or_empty(p->text));
}

static void tell_machine(const struct progress *p)
{
	struct str what = STR_INIT;

	if (p->text) {
		log_line(LOG_INFO, "machine %s: %s", or_empty(p->machine), p->text);
		return;
	}
	str_addf(&what, "starting machine %s", or_empty(p->machine));
	show(p, &what);
	str_release(&what);
}

static void tell_boot(const struct progress *p)
{
	struct str what = STR_INIT;

	add_boot(&what, p);
	show(p, &what);
	str_release(&what);
}

static void tell_proved(const struct progress *p)
{
	struct str what = STR_INIT;

	add_boot(&what, p);
	if (*or_empty(p->text))
		log_line(LOG_INFO, "%s: %s", str_text(&what), p->text);
	str_release(&what);
}

static void tell_boot_failed(const struct progress *p)
{
	struct str what = STR_INIT;

	add_boot(&what, p);
	log_line(LOG_WARN, "%s: %s", str_text(&what), or_empty(p->text));
	str_release(&what);
}

static void tell_recover(const struct progress *p)
{
	log_line(LOG_INFO, "bringing machine %s back", or_empty(p->machine));
}

static void tell_run(const struct progress *p)
{
	struct str what = STR_INIT;

	add_boot(&what, p);
	str_add(&what, ", ");
	add_run(&what, p);
	show(p, &what);
	str_release(&what);
}

static void tell_run_end(const struct progress *p)
{
	struct str what = STR_INIT;

	add_boot(&what, p);
	str_add(&what, ", ");
	add_run(&what, p);
	if (p->text)
		log_line(LOG_WARN, "%s: %s", str_text(&what), p->text);
	str_release(&what);
}

static void tell_end(const struct progress *p KB_UNUSED)
{
	log_line(LOG_PROGRESS, "%s", "");
}

static void (*const tellers[])(const struct progress *p) = {
	[PROGRESS_BUILD] = tell_build,
	[PROGRESS_BUILD_LINE] = tell_build,
	[PROGRESS_BUILT] = tell_built,
	[PROGRESS_BUILD_FAILED] = tell_build_failed,
	[PROGRESS_MACHINE] = tell_machine,
	[PROGRESS_BOOT] = tell_boot,
	[PROGRESS_PROVED] = tell_proved,
	[PROGRESS_BOOT_FAILED] = tell_boot_failed,
	[PROGRESS_RECOVER] = tell_recover,
	[PROGRESS_RUN] = tell_run,
	[PROGRESS_RUN_END] = tell_run_end,
	[PROGRESS_BOOT_END] = tell_boot,
	[PROGRESS_END] = tell_end,
};

void follow_progress(void *arg KB_UNUSED, const struct progress *progress)
{
	tellers[progress->kind](progress);
}
