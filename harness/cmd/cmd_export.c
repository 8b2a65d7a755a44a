/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket export: writes every sample of an experiment as CSV or JSON lines. */
#include "base/base.h"

#include "cmd/cmd.h"
#include "report/export.h"

struct options {
	struct global global;
	const char *experiment;
	int format;
};

static const char *const formats[] = {[EXPORT_CSV] = "csv", [EXPORT_JSONL] = "jsonl", NULL};

static const struct opt rows[] = {
	{.name = "EXPERIMENT",
		.positional = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, experiment),
		.help = "number or name; the newest when left out"},
	{.name = "format",
		.type = OPT_CHOICE,
		.offset = offsetof(struct options, format),
		.def = "csv",
		.choices = formats,
		.arg = "FORMAT",
		.help = "CSV in long form, or one JSON object a line"},
	GLOBAL_ROWS(options),
	OPT_END,
};

static int sink(void *arg KB_UNUSED, const struct str *text)
{
	ui_write_text(text);
	return 0;
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	enum export_format format =
		cmd->global->json ? EXPORT_JSONL : (enum export_format)options->format;
	int64_t id;
	int ret = store_find(cmd->store, options->experiment, &id, err);

	if (ret)
		return ret;
	return export_write(cmd->store, id, format, cmd->arena, sink, NULL, err);
}

const struct verb verb_export = {
	.name = "export",
	.summary = "every sample as CSV or JSON lines",
	.about = "Writes every sample of an experiment to stdout, warm-ups and failed runs "
		 "marked, in the order in which they were taken. The CSV can be read by "
		 "`kbracket import`.",
	.needs = NEEDS_READ,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
