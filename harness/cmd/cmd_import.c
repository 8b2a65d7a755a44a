/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket import: takes measurements from a CSV file into the database as an experiment. */
#include "base/base.h"

#include "base/file.h"
#include "base/log.h"
#include "cmd/answer.h"
#include "model/import.h"
#include "model/name.h"
#include "sys/json_put.h"
#include "version.h"

enum { MAX_FILE_BYTES = 512 << 20 };

struct options {
	struct global global;
	const char *file, *baseline, *name;
	double margin_pct, alpha_pct;
};

static const struct opt rows[] = {
	{.name = "FILE",
		.positional = true,
		.required = true,
		.type = OPT_TEXT,
		.offset = offsetof(struct options, file),
		.help = "CSV in long form; see kbracket(1)"},
	{.name = "baseline",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, baseline),
		.arg = "VARIANT",
		.help = "the variant that the others are compared with; needed unless a column "
			"against says it"},
	{.name = "name",
		.type = OPT_TEXT,
		.offset = offsetof(struct options, name),
		.check = name_check,
		.arg = "NAME",
		.help = "of the experiment; otherwise its column experiment, or the file's name"},
	{.name = "margin",
		.type = OPT_PCT,
		.offset = offsetof(struct options, margin_pct),
		.def = "1%",
		.max = 100,
		.help = "of equivalence"},
	{.name = "alpha",
		.type = OPT_PCT,
		.offset = offsetof(struct options, alpha_pct),
		.def = "5%",
		.max = 50,
		.help = "false discovery rate"},
	GLOBAL_ROWS(options),
	OPT_END,
};

/* The file's name without folder and ending, when that is a name at all. */
static const char *name_of_file(struct arena *arena, const char *file)
{
	const char *last = path_name(file), *dot = strrchr(last, '.');
	struct err err = ERR_INIT;
	char *name = arena_strndup(arena, last, dot ? (size_t)(dot - last) : strlen(last));

	return name_check(name, &err) ? "import" : name;
}

/* What was asked for, or what the table says; NULL when it does not. */
static const char *choose_baseline(
	const struct options *options, const struct import_table *table, struct err *err)
{
	if (options->baseline)
		return options->baseline;
	if (table->has_against)
		return *table->baseline ? table->baseline : table->variants[0];
	err_set(err, ERR_USAGE,
		"%s has no column against: name the variant that the others are compared with "
		"(--baseline VARIANT)",
		options->file);
	return NULL;
}

/* The baseline first, the others in the order in which they appear. */
static int order_variants(const char **variants, const char *baseline, struct err *err)
{
	struct nearest nearest;
	size_t at = 0;

	nearest_init(&nearest, baseline);
	while (variants[at] && strcmp(variants[at], baseline) != 0)
		nearest_try(&nearest, variants[at++]);
	if (!variants[at])
		return err_set(err, ERR_USAGE, "there is no variant '%s' in it%s", baseline,
			nearest_hint(&nearest));
	for (; at > 0; at--)
		variants[at] = variants[at - 1];
	variants[0] = baseline;
	return 0;
}

static int read_file(
	struct cmd *cmd, const struct options *options, struct import_table *table, struct err *err)
{
	struct str text = STR_INIT;
	int ret = file_read(options->file, MAX_FILE_BYTES, &text, err);

	if (!ret) {
		ret = import_read(cmd->arena, str_text(&text), text.len, table, err);
		if (ret)
			err_wrap(err, "%s", options->file);
	}
	str_release(&text);
	return ret;
}

static void tell(struct cmd *cmd, const struct import_table *table, int64_t id)
{
	struct str out = STR_INIT;

	if (cmd->global->json) {
		json_t *object = json_object();

		json_put_int(object, "experiment", id);
		json_put_int(object, "rows", (int64_t)table->count);
		json_put_int(object, "left_out", (int64_t)table->failed);
		answer_json(object);
		return;
	}
	if (table->failed)
		log_line(LOG_WARN, "%zu rows of failed or interrupted runs were left out",
			table->failed);
	str_addf(&out, "experiment %lld: %zu rows imported\n", (long long)id, table->count);
	ui_write_text(&out);
	str_release(&out);
}

static int run(struct cmd *cmd, const void *arg, struct err *err)
{
	const struct options *options = arg;
	struct import_table table = {0};
	struct store_import import;
	const char *baseline = NULL;
	int64_t id;
	int ret = read_file(cmd, options, &table, err);

	if (!ret)
		baseline = choose_baseline(options, &table, err);
	ret = ret ? ret : baseline ? order_variants(table.variants, baseline, err) : ERR_USAGE;
	if (!ret) {
		import = (struct store_import){
			.name = options->name ? options->name
				: *table.name ? table.name
					      : name_of_file(cmd->arena, options->file),
			.about = arena_printf(
				cmd->arena, "imported from %s", path_name(options->file)),
			.variants = table.variants,
			.has_against = table.has_against && !options->baseline,
			.margin_pct = options->margin_pct,
			.alpha_pct = options->alpha_pct,
			.version = KB_VERSION,
			.rows = table.rows,
			.count = table.count,
		};
		ret = store_import(cmd->store, &import, &id, err);
	}
	if (!ret)
		tell(cmd, &table, id);
	import_release(&table);
	return ret;
}

const struct verb verb_import = {
	.name = "import",
	.summary = "measurements from a CSV file",
	.about = "Takes published or foreign measurements into the database as an experiment "
		 "of their own. A file may hold runs, or boot means where runs were not "
		 "published: then there is an estimate and a drift, but no CV and no "
		 "verdict.",
	.needs = NEEDS_WRITE,
	.rows = rows,
	.bytes = sizeof(struct options),
	.run = run,
};
