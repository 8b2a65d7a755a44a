/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/str.h"
#include "base/strv.h"
#include "run/prove.h"

/* Taint bits of a kernel that must not be measured: a machine check, an oops. */
enum { TAINT_MACHINE_CHECK = 1 << 4, TAINT_DIE = 1 << 7 };

struct proving {
	const struct prove_expect *expect;
	const json_t *seen;
	struct arena *arena;
	struct prove_answer *out;
};

/* The first thing found wrong stays. */
static void wrong(struct proving *proving, const char *reason, const char *what,
	const char *expected, const char *seen)
{
	struct str text = STR_INIT;

	if (proving->out->reason)
		return;
	str_addf(&text, "%s is '", what);
	str_add_safe(&text, seen, strnlen(seen, 300));
	str_addf(&text, "', expected '%s'", expected);
	proving->out->reason = reason;
	proving->out->detail = arena_strdup(proving->arena, str_text(&text));
	str_release(&text);
}

static void check_text(struct proving *proving, const char *reason, const char *key,
	const char *what, const char *expected)
{
	const char *seen = json_get_text(proving->seen, key, "");

	if (strcmp(seen, expected))
		wrong(proving, reason, what, expected, seen);
}

static void check_kernel(struct proving *proving)
{
	const struct prove_expect *expect = proving->expect;

	proving->out->weak = !expect->build_id[0];
	if (expect->release[0])
		check_text(proving, "wrong-kernel", "release", "the release", expect->release);
	if (expect->build_id[0])
		check_text(proving, "wrong-kernel", "build_id", "the build-id", expect->build_id);
	else if (expect->proc_version[0])
		check_text(
			proving, "wrong-kernel", "version", "/proc/version", expect->proc_version);
}

/* True when text, a list of words, has the word of that length. */
static bool has_word(const char *text, const char *word, size_t len)
{
	while (*text) {
		size_t n = strcspn(text, " ");

		if (n == len && !memcmp(text, word, len))
			return true;
		text += n + strspn(text + n, " ");
	}
	return false;
}

static void check_cmdline(struct proving *proving)
{
	const char *seen = json_get_text(proving->seen, "cmdline", "");
	const char *at = proving->expect->cmdline + strspn(proving->expect->cmdline, " ");

	while (*at) {
		size_t len = strcspn(at, " ");

		if (!has_word(seen, at, len))
			wrong(proving, "wrong-kernel", "the command line",
				arena_strndup(proving->arena, at, len), seen);
		at += len + strspn(at + len, " ");
	}
}

static void check_boot_id(struct proving *proving)
{
	const char *seen = json_get_text(proving->seen, "boot_id", "");

	(void)snprintf(proving->out->boot_id, sizeof(proving->out->boot_id), "%.*s", 63, seen);
	if (!seen[0])
		wrong(proving, "wrong-kernel", "the boot_id", "an id", seen);
	else if (proving->expect->old_boot_id && !strcmp(proving->expect->old_boot_id, seen))
		wrong(proving, "same-boot", "the boot_id", "another one than before", seen);
}

static void check_cpus(struct proving *proving)
{
	int64_t seen = json_get_int(proving->seen, "cpus_online", -1);

	if (proving->expect->cpus && seen != proving->expect->cpus)
		wrong(proving, "cpus", "the number of online CPUs",
			arena_printf(proving->arena, "%lld", (long long)proving->expect->cpus),
			arena_printf(proving->arena, "%lld", (long long)seen));
}

static void check_features(struct proving *proving)
{
	const char *seen = json_get_text(proving->seen, "features", "");

	for (size_t i = 0; i < argv_count(proving->expect->features); i++) {
		const char *feature = proving->expect->features[i];

		if (!has_word(seen, feature, strlen(feature)))
			wrong(proving, "features", "the list of scheduler features", feature, seen);
	}
}

static void check_scheduler(struct proving *proving)
{
	const json_t *seen = json_object_get(proving->seen, "sched_ext");
	const char *state = json_get_text(seen, "state", "disabled");
	const char *ops = json_get_text(seen, "ops", "");

	if (proving->expect->scheduler && (strcmp(state, "enabled") || !ops[0]))
		wrong(proving, "scheduler", "the state of sched_ext", "enabled", state);
	else if (!proving->expect->scheduler && strcmp(state, "disabled"))
		wrong(proving, "scheduler", "the state of sched_ext", "disabled", state);
}

static void check_taint(struct proving *proving)
{
	int64_t taint = json_get_int(proving->seen, "taint", 0);

	if (taint & (TAINT_MACHINE_CHECK | TAINT_DIE))
		wrong(proving, "tainted", "the kernel's taint", "no oops and no machine check",
			arena_printf(proving->arena, "%lld", (long long)taint));
}

static json_t *expected_json(const struct prove_expect *expect)
{
	json_t *o = json_object();
	json_t *features = json_array();

	for (size_t i = 0; i < argv_count(expect->features); i++)
		json_array_append_new(features, json_text(expect->features[i]));
	json_object_set_new(o, "build_id", json_text(expect->build_id));
	json_object_set_new(o, "release", json_text(expect->release));
	json_object_set_new(o, "version", json_text(expect->proc_version));
	json_object_set_new(o, "cmdline", json_text(expect->cmdline));
	json_object_set_new(o, "other_than_boot_id", json_text(expect->old_boot_id));
	json_object_set_new(o, "cpus_online", json_integer(expect->cpus));
	json_object_set_new(o, "features", features);
	json_object_set_new(o, "scheduler", json_boolean(expect->scheduler));
	return o;
}

static const char *proof_json(
	const struct prove_expect *expect, const json_t *seen, json_t *held, struct arena *arena)
{
	json_t *o = json_object();
	struct str text = STR_INIT;
	const char *kept;

	json_object_set_new(o, "expected", expected_json(expect));
	json_object_set_new(o, "seen", json_deep_copy(seen));
	json_object_set_new(o, "features_before", json_text(expect->features_before));
	if (held)
		json_object_set(o, "held", held);
	json_write(o, false, &text);
	json_decref(o);
	kept = arena_strdup(arena, str_text(&text));
	str_release(&text);
	return kept;
}

void prove_check(const struct prove_expect *expect, const json_t *seen, json_t *held,
	struct arena *arena, struct prove_answer *out)
{
	struct proving proving = {expect, seen, arena, out};

	*out = (struct prove_answer){.detail = ""};
	if (expect->booted) {
		check_kernel(&proving);
		check_cmdline(&proving);
	} else {
		out->weak = true;
	}
	check_boot_id(&proving);
	check_cpus(&proving);
	check_features(&proving);
	check_scheduler(&proving);
	check_taint(&proving);
	out->json = proof_json(expect, seen, held, arena);
}
