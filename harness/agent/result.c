/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

#include "agent/cgroup.h"
#include "agent/js.h"
#include "agent/reap.h"
#include "agent/result.h"

int result_write(const struct place *place, const json_t *result, struct err *err)
{
	char *path = place_path(place, "result.json");
	struct str text = STR_INIT;
	int ret;

	js_write(result, &text);
	ret = file_write_atomic(path, text.text, text.len, 0600, err);
	str_release(&text);
	free(path);
	return ret;
}

static json_t *short_result(const char *state, const char *why)
{
	json_t *o = json_object();

	js_text(o, "state", state);
	js_text(o, "error", why);
	return o;
}

int result_not_started(const struct place *place, const char *why, struct err *err)
{
	json_t *o = short_result("not-started", why);
	int ret = result_write(place, o, err);

	json_decref(o);
	return ret;
}

int result_lost(const struct place *place, struct err *err)
{
	struct place_mark mark, now;
	struct cgroup cgroup;
	int64_t killed = 0;
	char *marker;
	json_t *o;
	int ret;

	place_mark_make(&now);
	if (place_mark_read(place, &mark) && strcmp(mark.boot_id, now.boot_id) == 0) {
		cgroup_find(&cgroup, mark.token);
		killed = cgroup_count(&cgroup);
		for (int i = 0; i < 1000 && !cgroup_empty(&cgroup); i++) {
			cgroup_kill(&cgroup);
			clock_sleep_ns(5 * NS_PER_MS);
		}
		marker = xasprintf("KBRACKET_RUN=%s", mark.token);
		killed += reap_strangers(marker);
		free(marker);
		cgroup_release(&cgroup);
		o = short_result("lost", "the agent was killed during the run");
	} else {
		o = short_result("lost", "the machine was restarted during the run");
	}
	js_int(o, "killed", killed);
	ret = result_write(place, o, err);
	json_decref(o);
	return ret;
}

/* Members of the result and the files whose sizes they are. */
static const struct {
	const char *member, *file;
} kept_files[] = {{"stdout_bytes", "stdout"}, {"stderr_bytes", "stderr"}, {"dmesg_bytes", "dmesg"},
	{"around_bytes", "around"}, {"counters_bytes", "counters"}};

static bool all_kept(const struct place *place, const json_t *result)
{
	bool kept = true;

	for (size_t i = 0; i < ARRAY_SIZE(kept_files); i++) {
		const json_t *bytes = json_object_get(result, kept_files[i].member);
		char *path = place_path(place, kept_files[i].file);

		kept = kept && (!bytes || json_integer_value(bytes) == file_size(path));
		free(path);
	}
	return kept;
}

int result_check_kept(const struct place *place, struct err *err)
{
	char *path = place_path(place, "result.json");
	json_t *result = json_load_file(path, 0, NULL), *o;
	const char *state = json_string_value(json_object_get(result, "state"));
	int ret = 0;

	/* one that is lost already says why */
	if (!state || (strcmp(state, "lost") != 0 && !all_kept(place, result))) {
		o = short_result("lost", "the machine was restarted before the outputs were safe");
		ret = result_write(place, o, err);
		json_decref(o);
	}
	json_decref(result);
	free(path);
	return ret;
}
