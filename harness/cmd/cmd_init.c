/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket init: makes a lab, the folder that holds experiments, kernels and results. */
#include "base/base.h"

#include "cmd/answer.h"
#include "model/lab.h"
#include "sys/json_put.h"

struct options {
	struct global global;
	const char *folder;
};

static const struct opt rows[] = {
	{.name = "FOLDER",
		.positional = true,
		.required = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, folder),
		.help = "a new or an empty folder"},
	GLOBAL_ROWS(options),
	OPT_END,
};

static json_t *made_json(const char *folder, const struct strv *made)
{
	json_t *out = json_object(), *list = json_array();

	json_put_text(out, "lab", folder);
	for (size_t i = 0; i < made->count; i++)
		json_push(list, json_text(made->items[i]));
	json_put(out, "made", list);
	return out;
}

static void write_text(const char *folder, const struct strv *made)
{
	struct str out = STR_INIT, name = STR_INIT;

	str_add_safe(&name, folder, strlen(folder));
	for (size_t i = 0; i < made->count; i++)
		str_addf(&out, "%s/%s\n", str_text(&name), made->items[i]);
	str_addf(&out,
		"\nNext: look at the files in %s/configs, then\n"
		"  kbracket doctor\n  kbracket plan %s/configs/NAME.yaml\n",
		str_text(&name), str_text(&name));
	ui_write_text(&out);
	str_release(&name);
	str_release(&out);
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct strv made = STRV_INIT;
	int ret = lab_make(options->folder, &made, err);

	if (!ret && cmd->global->json)
		answer_json(made_json(options->folder, &made));
	else if (!ret)
		write_text(options->folder, &made);
	strv_release(&made);
	return ret;
}

const struct verb verb_init = {
	.name = "init",
	.summary = "a lab: a folder for experiments, kernels and results",
	.about = "Makes a lab in a new or empty folder, with a first experiment, its kernels "
		 "and a guest machine to change.",
	.needs = NEEDS_NOTHING,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
