/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "model/kernels_file.h"
#include "model/name.h"

/* What a kernels file may say: the tables, and the rules for single words. */

static int check_package(const char *text, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.+-";
	size_t len = strspn(text, allowed);

	if (!len || text[0] == '-' || strlen(text) > 100 ||
		(text[len] && strcmp(text + len, "*") != 0))
		return err_set(
			err, ERR_USAGE, "is not a package name; a * may stand at its end only");
	return 0;
}

static int check_lore(const char *text, struct err *err)
{
	size_t id = strcspn(text, " ");
	const char *pin = text + id;

	if (!id || id > 250 || !memchr(text, '@', id))
		return err_set(err, ERR_USAGE,
			"is not lore:MESSAGE-ID, such as lore:20250101120000.1234-1-a@example.org");
	if (!*pin)
		return 0;
	if (!str_starts(pin, " sha256:") || strspn(pin + 8, "0123456789abcdef") != 64 ||
		strlen(pin + 8) != 64)
		return err_set(err, ERR_USAGE,
			"has something other than sha256: and 64 hex digits after the message id");
	return 0;
}

static int check_patch(const char *text, struct err *err)
{
	int ret = name_check_line(text, err);

	if (ret == 0 && str_starts(text, "lore:"))
		ret = check_lore(text + 5, err);
	return ret;
}

static int check_url(const char *text, struct err *err)
{
	int ret = name_check_ref(text, err);

	if (ret == 0 && !str_starts(text, "https://") && !str_starts(text, "http://127.0.0.1:") &&
		!str_starts(text, "http://localhost:"))
		return err_set(err, ERR_USAGE, "is not an https:// address");
	return ret ? err_set(err, ERR_USAGE, "is not an address") : 0;
}

/* A path has a '/'; anything else is a make target. */
static int check_config_base(const char *text, struct err *err)
{
	return strchr(text, '/') ? name_check_line(text, err) : name_check(text, err);
}

/* clang-format off */

#define PREBUILT(member) offsetof(struct prebuilt_spec, member)
static const struct opt prebuilt_rows[] = {
	{"image", OPT_PATH, PREBUILT(image), .check = name_check_line,
		.help = "path of a bzImage"},
	{"modules", OPT_PATH, PREBUILT(modules), .check = name_check_line,
		.help = "folder that holds lib/modules/RELEASE, or RELEASE itself"},
	{"package", OPT_TEXT, PREBUILT(package), .check = check_package,
		.help = "Debian kernel package, exact or with a * at its end"},
	OPT_END};

#define CONFIG(member) offsetof(struct kconfig_spec, member)
static const struct opt config_rows[] = {
	{"base", OPT_TEXT, CONFIG(base), .def = "defconfig", .check = check_config_base,
		.help = "make target, or path of a config (has a '/')"},
	{"fragments", OPT_PATHS, CONFIG(fragments), .max = 100, .check = name_check_line,
		.help = "config fragments laid over it, later ones win"},
	OPT_END};

/* Rows that a kernels file may also hold for all of its variants. */
#define VARIANT(member) offsetof(struct variant, member)
#define SHARED_ROWS \
	{"tree", OPT_PATH, VARIANT(tree), .check = name_check_line, \
		.help = "git repository"}, \
	{"config", OPT_MAP, VARIANT(config), .rows = config_rows, \
		.help = "kernel configuration"}, \
	{"arch", OPT_TEXT, VARIANT(arch), .def = "x86_64", .check = name_check, \
		.help = "architecture, as uname -m names it"}, \
	{"cmdline", OPT_TEXT, VARIANT(cmdline), .def = "", .check = name_check_line, \
		.help = "added to the machine's kernel command line"}, \
	{"lore_url", OPT_TEXT, VARIANT(lore_url), .def = "https://lore.kernel.org/all", \
		.check = check_url, .help = "mail archive of lore: patches"}

const struct opt variant_opts[] = {
	{"about", OPT_TEXT, VARIANT(about), .def = "", .check = name_check_line,
		.help = "one line for reports; not taken over by like"},
	{"like", OPT_TEXT, VARIANT(like), .check = name_check,
		.help = "variant whose keys hold here too, unless given"},
	{"against", OPT_TEXT, VARIANT(against), .check = name_check,
		.help = "its own baseline, instead of the experiment's"},
	{"control", OPT_BOOL, VARIANT(control),
		.help = "another label of the very kernel that like (or against) names"},
	{"ref", OPT_TEXT, VARIANT(ref), .check = name_check_ref,
		.help = "tag, branch or commit"},
	{"revert", OPT_LIST, VARIANT(reverts), .max = 100, .check = name_check_ref,
		.help = "commits to revert, in this order"},
	{"pick", OPT_LIST, VARIANT(picks), .max = 1000, .check = name_check_ref,
		.help = "commits to cherry-pick, in this order"},
	{"patches", OPT_LIST, VARIANT(patches), .max = 1000, .check = check_patch,
		.help = "files, folders of a series, or lore:MESSAGE-ID"},
	{"prebuilt", OPT_MAP, VARIANT(prebuilt), .rows = prebuilt_rows,
		.help = "a kernel that exists already, instead of a ref"},
	SHARED_ROWS,
	{"align_functions", OPT_BOOL, VARIANT(align_functions),
		.help = "build with every function at 64 bytes"},
	{"pad_scheduler", OPT_INT, VARIANT(pad_scheduler), .min = 0, .max = 65536,
		.help = "bytes of padding before the scheduler's text"},
	{"features", OPT_LIST, VARIANT(features), .max = 100, .check = name_check_feature,
		.help = "scheduler features to set: NAME or NO_NAME"},
	{"sysctls", OPT_PAIRS, VARIANT(sysctls), .max = 100, .check = name_check_line,
		.check_key = name_check_sysctl, .help = "sysctls to set"},
	{"scheduler", OPT_LIST, VARIANT(scheduler), .max = 100, .check = name_check_line,
		.help = "argument list of a sched_ext scheduler"},
	OPT_END};

const struct opt kernels_opts[] = {
	SHARED_ROWS,
	{"variants", OPT_CUSTOM, offsetof(struct kernels_file, variants), .required = true,
		.rows = variant_opts, .read = kernels_file_keep_variants,
		.help = "name and recipe of each variant"},
	OPT_END};
