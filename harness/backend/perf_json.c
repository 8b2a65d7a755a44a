/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/str.h"
#include "backend/perf_line.h"
#include "sys/json.h"

/* Longer lines are none of perf's. */
enum { PERF_JSON_BYTES = 1 << 16 };

static struct stream text_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return (struct stream){json_is_string(value) ? json_string_value(value) : "",
		json_is_string(value) ? json_string_length(value) : 0};
}

static int read_object(const json_t *object, struct perf_count *out, struct err *err)
{
	struct stream value = text_of(object, "counter-value");
	struct perf_count count = {.absent = perf_absent(value)};

	count.pct = json_get_double(object, "pcnt-running", -1);
	if (count.pct < 0 || count.pct > 100)
		return err_set(err, ERR_INVALID,
			"perf's JSON does not say for how much of the time it was counted");
	if (!count.absent && !perf_number(value, '.', count.number))
		return perf_no_count(value, err);
	perf_set_unit(&count, text_of(object, "unit"));
	*out = count;
	return 0;
}

int perf_json_count(
	const char *line, size_t len, const char *event, struct perf_count *out, struct err *err)
{
	static const char key[] = "\"counter-value\"";
	json_t *object;
	int ret = 0;

	if (!len || *line != '{' || len > PERF_JSON_BYTES ||
		!memmem(line, len, key, sizeof(key) - 1))
		return 0;
	if (json_parse(line, len, PERF_JSON_BYTES, &object, NULL))
		return err_set(err, ERR_INVALID,
			"perf's line is no JSON, as with decimal commas; call it with LC_ALL=C");
	if (perf_is_event(text_of(object, "event"), event)) {
		ret = read_object(object, out, err);
		ret = ret ? ret : 1;
	}
	json_decref(object);
	return ret;
}
