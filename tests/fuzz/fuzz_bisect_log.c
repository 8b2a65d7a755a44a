/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bisect's log from anywhere: any bytes give a record that fits together, or a sentence; what is
 * read and written again is read as the same. */
#include "base/base.h"

#include "model/bisect_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_record(const struct bisect_record *record, struct arena *arena)
{
	struct bisect_chain chain;
	struct err err = ERR_INIT;

	if (record->step_count < 2 || record->listed >= record->step_count ||
		(size_t)record->bad >= record->step_count)
		BUG("a record without ends");
	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];

		if (event->position < 0 || (size_t)event->position >= record->step_count)
			BUG("an event of no step");
		for (size_t k = 0; k < event->value_count; k++)
			if (!(event->values[k] > 0))
				BUG("a value that has no logarithm");
		if (event->kind == EVENT_STAGE &&
			bisect_chain_read(arena, event->text, record->step_count, &chain, &err))
			BUG("a stage that is no chain");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct arena arena = ARENA_INIT;
	struct bisect_record record, again;
	struct err err = ERR_INIT;
	struct str text = STR_INIT;
	int ret = bisect_log_read(&arena, "f", (const char *)bytes, len, &record, &err);

	if (ret && !err.text[0])
		BUG("a log is refused without a word");
	if (!ret) {
		check_record(&record, &arena);
		bisect_log_write(&record, &text);
		if (text.len < 1 << 20 &&
			bisect_log_read(&arena, "again", str_text(&text), text.len, &again, &err))
			BUG("what was written cannot be read: %s", err.text);
	}
	str_release(&text);
	arena_release(&arena);
	return 0;
}
