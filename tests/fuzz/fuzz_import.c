/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CSV that a person imports: any bytes give rows or a sentence, and rows that were read can be
 * written and read again as the same. */
#include "base/base.h"

#include "base/csv.h"
#include "model/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_fields_survive(const char *bytes, size_t len)
{
	struct csv csv, again;
	struct err err = ERR_INIT;

	csv_init(&csv, bytes, len);
	while (csv_next(&csv, &err) == 1) {
		struct str line = STR_INIT;

		for (size_t i = 0; i < csv.count; i++)
			csv_add(&line, csv.fields[i]);
		str_add_char(&line, '\n');
		csv_init(&again, line.text, line.len);
		if (csv_next(&again, &err) != 1 || again.count != csv.count)
			BUG("written fields are not read again: %s", err.text);
		for (size_t i = 0; i < csv.count; i++)
			if (strcmp(csv.fields[i], again.fields[i]) != 0)
				BUG("field %zu has changed", i);
		csv_release(&again);
		str_release(&line);
	}
	csv_release(&csv);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct arena arena = ARENA_INIT;
	struct import_table table;
	struct err err = ERR_INIT;

	if (import_read(&arena, (const char *)bytes, len, &table, &err) == 0) {
		if (!table.count || !table.variants[0])
			BUG("a table without rows was taken");
		import_release(&table);
	} else if (!err.text[0]) {
		BUG("refused without a word");
	}
	arena_release(&arena);
	check_fields_survive((const char *)bytes, len);
	return 0;
}
