/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/strv.h"
#include "report/report_notes.h"
#include "sys/json.h"

enum { PROOF_MAX_BYTES = 8 << 20 };

/* From one proof; what was told already is not told again. */
static void note_proof(struct report *report, const struct store_machine *machine,
	const char *proof, struct strv *told)
{
	json_t *stored = NULL, *item;
	size_t i;

	if (json_parse(proof, strlen(proof), PROOF_MAX_BYTES, &stored, NULL))
		return;
	json_array_foreach(json_object_get(json_object_get(stored, "held"), "held"), i, item)
	{
		const char *error = json_get_text(item, "error", NULL);
		const char *key = json_get_text(item, "key", "");
		struct str text = STR_INIT;

		str_addf(&text, "%s was measured without the setting ", machine->name);
		str_add_safe(&text, key, strnlen(key, 100));
		str_add(&text, ": ");
		if (error)
			str_add_safe(&text, error, strnlen(error, 300));
		if (error && !strv_has(told, str_text(&text))) {
			strv_add(told, str_text(&text));
			report_note(report, NOTE_WARNING, str_text(&text));
		}
		str_release(&text);
	}
	json_decref(stored);
}

void report_note_unset(struct report *report, const struct store_machine *machine)
{
	struct strv told = STRV_INIT;

	for (size_t b = 0; b < machine->boot_count; b++)
		for (size_t a = 0; a < machine->boots[b].attempt_count; a++) {
			const struct store_attempt *attempt = &machine->boots[b].attempts[a];

			if (strcmp(attempt->outcome, "proved") == 0)
				note_proof(report, machine, attempt->proof, &told);
		}
	strv_release(&told);
}
