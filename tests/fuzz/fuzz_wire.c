/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's reply: any bytes give parts inside the stream or a sentence, and what was read can be
 * written again as the same bytes. */
#include "base/base.h"

#include "base/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct wire_reply reply;
	struct str again = STR_INIT;
	struct err err = ERR_INIT;

	if (wire_parse((const char *)bytes, len, &reply, &err)) {
		if (!err.text[0])
			BUG("refused without a word");
		return 0;
	}
	wire_add_start(&again);
	for (size_t i = 0; i < reply.count; i++) {
		wire_add_part(&again, reply.parts[i].name, reply.parts[i].len);
		str_add_bytes(&again, reply.parts[i].bytes, reply.parts[i].len);
		str_add_char(&again, '\n');
	}
	wire_add_end(&again, reply.count);
	if (again.len != len || memcmp(again.text, bytes, len) != 0)
		BUG("a reply that was taken has another form");
	str_release(&again);
	return 0;
}
