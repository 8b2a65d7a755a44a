/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/utf8.h"
#include "model/opt.h"

/* JSON -> block-style YAML. */

/* Words that YAML readers may take for something else than text. */
static bool is_special_word(const char *text)
{
	static const char *const words[] = {"null", "Null", "NULL", "~", "true", "True", "TRUE",
		"false", "False", "FALSE", "yes", "no", "on", "off", "Yes", "No", "On", "Off", "y",
		"n", "Y", "N", "YES", "NO", "ON", "OFF"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i], text) == 0)
			return true;
	return false;
}

/* True when the text means itself without quotes in every place that we write it to. */
static bool is_plain(const char *text)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789._/+%-";

	return *text && !strchr("-.%", text[0]) && strlen(text) < 200 &&
	       strspn(text, safe) == strlen(text) && !is_special_word(text);
}

/* Code points that a YAML reader refuses or takes for a line break when they stand bare. */
static bool needs_escape(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 ||
	       code == 0xfeff || code == 0xfffe || code == 0xffff;
}

static void add_quoted(const char *text, struct str *out)
{
	size_t len = strlen(text);

	str_add_char(out, '"');
	for (size_t at = 0, used; at < len; at += used) {
		uint32_t code;

		used = utf8_decode(text + at, len - at, &code);
		if (!used)
			BUG("text in JSON is not UTF-8");
		if (code == '"' || code == '\\')
			str_addf(out, "\\%c", (char)code);
		else if (code == '\n')
			str_add(out, "\\n");
		else if (needs_escape(code))
			str_addf(out, "\\u%04x", code);
		else
			str_add_bytes(out, text + at, used);
	}
	str_add_char(out, '"');
}

static void add_scalar(const json_t *value, struct str *out)
{
	if (!json_is_string(value))
		json_write(value, false, out);
	else if (is_plain(json_string_value(value)))
		str_add(out, json_string_value(value));
	else
		add_quoted(json_string_value(value), out);
}

static bool is_scalar(const json_t *value)
{
	return !json_is_object(value) && !json_is_array(value);
}

static bool all_scalars(const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!is_scalar(json_array_get(list, i)))
			return false;
	return true;
}

static void write_flow(const json_t *list, struct str *out)
{
	str_add_char(out, '[');
	for (size_t i = 0; i < json_array_size(list); i++) {
		str_add(out, i ? ", " : "");
		add_scalar(json_array_get(list, i), out);
	}
	str_add(out, "]\n");
}

static void write_block(const json_t *value, int indent, struct str *out);

/* What stands behind "key:" or "-". */
static void write_value(const json_t *value, int indent, struct str *out)
{
	if (json_is_object(value) && json_object_size(value)) {
		str_add_char(out, '\n');
		write_block(value, indent, out);
	} else if (json_is_object(value)) {
		str_add(out, " {}\n");
	} else if (json_is_array(value) && !all_scalars(value)) {
		str_add_char(out, '\n');
		write_block(value, indent, out);
	} else if (json_is_array(value)) {
		str_add_char(out, ' ');
		write_flow(value, out);
	} else {
		str_add_char(out, ' ');
		add_scalar(value, out);
		str_add_char(out, '\n');
	}
}

static void write_block(const json_t *value, int indent, struct str *out)
{
	const char *key;
	json_t *member;

	for (size_t i = 0; i < json_array_size(value); i++) {
		str_addf(out, "%*s-", indent, "");
		write_value(json_array_get(value, i), indent + 2, out);
	}
	if (!json_is_object(value))
		return;
	json_object_foreach((json_t *)value, key, member)
	{
		json_t *name = json_text(key);

		str_addf(out, "%*s", indent, "");
		add_scalar(name, out);
		str_add_char(out, ':');
		write_value(member, indent + 2, out);
		json_decref(name);
	}
}

void opt_write_yaml(const json_t *value, struct str *out)
{
	if (is_scalar(value)) {
		add_scalar(value, out);
		str_add_char(out, '\n');
	} else {
		write_block(value, 0, out);
	}
}
