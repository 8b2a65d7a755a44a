/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON from a machine: any bytes give a value or a sentence; a value that is written, compact or
 * indented, reads back as the same. */
#include "base/base.h"

#include "sys/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_round_trip(const json_t *value, bool pretty)
{
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	json_t *again = NULL;

	json_write(value, pretty, &text);
	if (json_parse(text.text, text.len, SIZE_MAX, &again, &err) != 0)
		BUG("what was written is not read: %s", err.text);
	if (!json_equal(value, again))
		BUG("what was written reads as something else");
	json_decref(again);
	str_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	json_t *value = NULL;
	struct err err = ERR_INIT;
	char *text;

	if (json_parse((const char *)bytes, len, 1 << 20, &value, &err) == 0) {
		check_round_trip(value, false);
		check_round_trip(value, true);
		json_decref(value);
	} else if (!err.text[0]) {
		BUG("refused without a word");
	}
	text = strndup((const char *)bytes, len);
	json_decref(json_text(text)); /* any text becomes a string */
	free(text);
	return 0;
}
