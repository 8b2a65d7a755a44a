/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/diag.h"
#include "base/strv.h"
#include "model/bisect.h"
#include "model/name.h"

static int check_confidence(const char *text, struct err *err)
{
	return strcmp(text, "95") && strcmp(text, "99")
		       ? err_set(err, ERR_USAGE, "is neither 95 nor 99")
		       : 0;
}

static int check_features(const char *text, struct err *err)
{
	char *copy = xstrdup(text), *left = copy, *word;
	int ret = 0;

	while (!ret && (word = strsep(&left, ",")))
		ret = name_check_feature(word, err);
	free(copy);
	return ret;
}

/* clang-format off */
#define AT(member) offsetof(struct bisect_spec, member)
const struct opt bisect_opts[] = {
	{"good", OPT_TEXT, AT(good), .check = name_check_ref, .arg = "REF",
		.help = "commit whose numbers are right"},
	{"bad", OPT_TEXT, AT(bad), .check = name_check_ref, .arg = "REF",
		.help = "later commit whose numbers are not"},
	{"machine", OPT_TEXT, AT(machine), .check = name_check_line, .arg = "NAME",
		.help = "machine to measure on: configs/machines/NAME.yaml of the lab, or a path"},
	{"condition", OPT_TEXT, AT(condition), .check = name_check_line, .arg = "SUITE/CONDITION",
		.help = "what is measured; the suite's first condition when only SUITE is given"},
	{"saturation", OPT_PCT, AT(saturation_pct), .def = "100%", .min = 0.01, .max = 10000,
		.arg = "PCT", .help = "workers in per cent of the machine's CPUs"},
	{"metric", OPT_TEXT, AT(metric), .check = name_check_line, .arg = "NAME",
		.help = "which of the suite's metrics decides; its first when left out"},
	{"kernels", OPT_PATH, AT(kernels), .check = name_check_line, .arg = "FILE",
		.help = "kernels file that says repository, configuration and command line"},
	{"variant", OPT_TEXT, AT(variant), .check = name_check, .arg = "NAME",
		.help = "its variant whose recipe every step gets, patches and reverts included; "
			"the file's first, without those, when left out"},
	{"path", OPT_LIST, AT(paths), .max = 100, .check = name_check_line, .arg = "PATH",
		.help = "list only commits that change something below it; may be repeated"},
	{"not-subject", OPT_TEXT, AT(not_subject), .check = name_check_line, .arg = "REGEX",
		.help = "leave out commits whose subject matches"},
	{"merges", OPT_BOOL, AT(merges), .help = "list merges too"},
	{"first-parent", OPT_BOOL, AT(first_parent),
		.help = "follow first parents only; a merge stands for its branch"},
	{"patches", OPT_PATH, AT(patches), .check = name_check_line, .arg = "FILE",
		.help = "instead of commits: the patches of a folder, or a file that lists them, "
			"applied one after the other to --good"},
	{"configs", OPT_PATHS, AT(configs), .max = 2, .check = name_check_line, .arg = "FILE",
		.help = "instead of commits: given twice, two configurations; the symbols in which "
			"they differ are changed one after the other on --good"},
	{"features", OPT_TEXT, AT(features), .check = check_features, .arg = "A,B,...",
		.help = "instead of commits: scheduler features set one after the other"},
	{"confidence", OPT_INT, AT(confidence_pct), .def = "95", .min = 95, .max = 99,
		.check = check_confidence, .arg = "PCT",
		.help = "probability at which a culprit is named: 95 or 99"},
	{"max-boots", OPT_INT, AT(max_boots), .def = "150", .min = 1, .max = 100000, .arg = "N",
		.help = "boots after which it ends with what is known then"},
	{"max-hours", OPT_DOUBLE, AT(max_hours), .max = 10000, .arg = "H",
		.help = "hours after which it ends with what is known then; 0 is no bound"},
	{"runs", OPT_INT, AT(runs), .def = "3", .min = 1, .max = 100, .arg = "N",
		.help = "measured runs in a boot"},
	{"warmup", OPT_INT, AT(warmup), .def = "1", .max = 100, .arg = "N",
		.help = "runs before them that are not used"},
	{"duration", OPT_DURATION, AT(duration_ns), .max = 86400e9, .arg = "TIME",
		.help = "of a run, instead of the suite's own"},
	{"proof-boots", OPT_INT, AT(proof_boots), .def = "6", .max = 100, .arg = "N",
		.help = "boots of each kernel when the culprit is compared with its parent; "
			"even; 0 leaves the proof out"},
	{"check", OPT_TEXT, AT(check), .check = name_check_line, .arg = "COMMAND",
		.help = "words of a command run for every built kernel, with KBRACKET_COMMIT, "
			"KBRACKET_IMAGE and KBRACKET_CONFIG in its environment; when it fails the "
			"step is skipped"},
	OPT_END};
/* clang-format on */

static const char *const axis_names[] = {[AXIS_COMMITS] = "commits",
	[AXIS_PATCHES] = "patches",
	[AXIS_CONFIGS] = "configs",
	[AXIS_FEATURES] = "features"};

const char *bisect_axis_name(enum bisect_axis axis)
{
	return axis_names[axis];
}

static int check_commits(const struct bisect_spec *spec, struct err *err)
{
	if (spec->good && spec->bad)
		return 0;
	return err_set(err, ERR_USAGE,
		"--%s is missing: a bisect needs a commit whose numbers are right and a later one "
		"whose numbers are not",
		spec->good ? "bad" : "good");
}

int bisect_spec_check(const struct bisect_spec *spec, enum bisect_axis *axis, struct err *err)
{
	bool asked[] = {[AXIS_COMMITS] = false,
		[AXIS_PATCHES] = spec->patches,
		[AXIS_CONFIGS] = argv_count(spec->configs) > 0,
		[AXIS_FEATURES] = spec->features};
	int found = AXIS_COMMITS;

	for (int i = AXIS_PATCHES; i <= AXIS_FEATURES; i++) {
		if (asked[i] && found != AXIS_COMMITS)
			return err_set(err, ERR_USAGE,
				"--patches, --configs and --features exclude each other");
		if (asked[i])
			found = i;
	}
	if (found != AXIS_COMMITS && spec->bad)
		return err_set(err, ERR_USAGE, "--bad is not for %s: all of them make the bad end",
			axis_names[found]);
	if (found == AXIS_CONFIGS && argv_count(spec->configs) != 2)
		return err_set(err, ERR_USAGE,
			"--configs is to be given twice: the good configuration, then the bad one");
	if (spec->proof_boots % 2)
		return err_set(err, ERR_USAGE,
			"--proof-boots %lld is odd; a bracket holds each "
			"kernel twice",
			(long long)spec->proof_boots);
	*axis = (enum bisect_axis)found;
	return found == AXIS_COMMITS ? check_commits(spec, err) : 0;
}

char *bisect_spec_dump(const struct bisect_spec *spec)
{
	json_t *json = opt_json(bisect_opts, spec);
	struct str text = STR_INIT;

	opt_write_yaml(json, &text);
	json_decref(json);
	return str_take(&text);
}

int bisect_spec_read(
	struct arena *arena, const char *text, struct bisect_spec *out, struct err *err)
{
	struct diag diag = DIAG_INIT;
	const struct opt_ctx ctx = {arena, NULL, &diag};
	const struct ynode *node;
	struct str said = STR_INIT;
	int ret = yaml_read_text(arena, "bisect", text, strlen(text), &node, &diag);

	*out = (struct bisect_spec){0};
	if (!ret)
		ret = opt_read_map(&ctx, bisect_opts, node, out, "a bisect");
	if (ret) {
		diag_write(&diag, &said);
		ret = err_set(err, ERR_INVALID, "what the bisect was asked cannot be read: %s",
			str_text(&said));
	}
	str_release(&said);
	diag_release(&diag);
	return ret;
}
