/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of any program, read with every suite that comes with kbracket. */
#include "base/base.h"

#include <math.h>

#include "base/diag.h"
#include "base/file.h"
#include "base/strv.h"
#include "backend/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static struct arena arena;
static struct suite suites[100];
static struct condition *conditions[ARRAY_SIZE(suites)]; /* of 2 CPUs */
static size_t suite_count;

static void load(void)
{
	struct strv names = STRV_INIT;
	struct err err = ERR_INIT;

	if (file_list("suites", &names, &err))
		BUG("%s", err.text);
	for (size_t i = 0; i < names.count && suite_count < ARRAY_SIZE(suites); i++) {
		char *path = xasprintf("suites/%s", names.items[i]);
		struct diag diag = DIAG_INIT;
		const double all = 100;
		size_t count;

		if (str_ends(path, ".yaml")) {
			if (suite_read(&arena, path, &suites[suite_count], &diag) ||
				suite_expand(&arena, &suites[suite_count], 2, &all, 1,
					&conditions[suite_count], &count, &err))
				BUG("%s: %s", path, err.text);
			suite_count++;
		}
		diag_release(&diag);
		free(path);
	}
	strv_release(&names);
}

static void check(const struct suite *suite, const struct reading *reading)
{
	for (size_t i = 0; i < reading->count; i++) {
		const struct reading_value *value = &reading->values[i];
		bool zero_ok = suite->metrics[value->metric].zero_ok;

		if (!isfinite(value->value) || value->value < 0 ||
			(!zero_ok && value->value <= 0) || value->observations < 0)
			BUG("%s: %g is no measurement", suite->name, value->value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const struct program_output output = {(const char *)bytes, len, (const char *)bytes, len};

	if (!suite_count)
		load();
	for (size_t i = 0; i < suite_count; i++) {
		struct reading reading = READING_INIT;
		struct err err = ERR_INIT;
		int ret = reader_read(conditions[i], &output, &reading, &err);

		if (ret && (ret != ERR_INVALID || !err.text[0] || reading.values))
			BUG("%s: a refusal without a reason, or with values", suites[i].name);
		check(&suites[i], &reading);
		reading_release(&reading);
	}
	return 0;
}
