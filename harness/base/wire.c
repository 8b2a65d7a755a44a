/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/num.h"
#include "base/wire.h"

#define START "kbracket-reply 1\n"
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789._-"

/* What is left of the stream. */
struct cursor {
	const char *at;
	size_t left;
};

/* Takes one line of at most 63 characters, without its newline. */
static bool take_line(struct cursor *c, char line[64])
{
	size_t max = c->left < 64 ? c->left : 64;
	const char *end = memchr(c->at, '\n', max);
	size_t len = end ? (size_t)(end - c->at) : 0;

	if (!end || memchr(c->at, '\0', len))
		return false;
	memcpy(line, c->at, len);
	line[len] = '\0';
	c->at += len + 1;
	c->left -= len + 1;
	return true;
}

/* Strict: what would be written is what was read. */
static bool parse_count(const char *text, int64_t *out)
{
	char again[32];
	struct err err;

	if (num_int(text, 0, INT64_MAX, out, &err))
		return false;
	(void)snprintf(again, sizeof(again), "%lld", (long long)*out);
	return strcmp(again, text) == 0;
}

/* "part NAME LENGTH", its bytes and the newline after them. */
static int take_part(struct cursor *c, char *line, struct wire_reply *reply, struct err *err)
{
	struct wire_part *part = &reply->parts[reply->count];
	char *name = line + strlen("part ");
	size_t name_len = strspn(name, NAME_CHARS);
	int64_t len;

	if (reply->count == WIRE_MAX_PARTS)
		return err_set(
			err, ERR_INFRA, "the agent's reply has more than %d parts", WIRE_MAX_PARTS);
	if (!name_len || name_len > WIRE_MAX_NAME || name[name_len] != ' ' ||
		!parse_count(name + name_len + 1, &len))
		return err_set(err, ERR_INFRA, "the agent's reply has a malformed part line");
	name[name_len] = '\0';
	if (wire_find(reply, name))
		return err_set(err, ERR_INFRA, "the agent's reply has the part '%s' twice", name);
	if ((uint64_t)len >= c->left || c->at[len] != '\n')
		return err_set(err, ERR_INFRA, "the agent's reply is cut or damaged in '%s'", name);
	memcpy(part->name, name, name_len + 1);
	part->bytes = c->at;
	part->len = (size_t)len;
	c->at += len + 1;
	c->left -= (size_t)len + 1;
	reply->count++;
	return 0;
}

static int not_a_reply(const char *bytes, size_t len, struct err *err)
{
	struct str seen = STR_INIT;
	int ret;

	str_add_safe(&seen, bytes, len < 80 ? len : 80);
	ret = err_set(err, ERR_INFRA,
		"no reply of kbracket-agent%s%s%s (does a shell start-up file print something?)",
		len ? ", but '" : ": nothing came", str_text(&seen), len ? "'" : "");
	str_release(&seen);
	return ret;
}

int wire_parse(const char *bytes, size_t len, struct wire_reply *out, struct err *err)
{
	struct wire_reply reply = {.count = 0};
	struct cursor c = {bytes, len};
	char line[64];
	int64_t count;
	int ret;

	if (len < strlen(START) || memcmp(bytes, START, strlen(START)) != 0)
		return not_a_reply(bytes, len, err);
	c.at += strlen(START);
	c.left -= strlen(START);
	while (take_line(&c, line)) {
		if (str_starts(line, "part ")) {
			ret = take_part(&c, line, &reply, err);
			if (ret)
				return ret;
			continue;
		}
		if (!str_starts(line, "end ") || !parse_count(line + 4, &count) ||
			(uint64_t)count != reply.count || c.left)
			return err_set(err, ERR_INFRA, "the agent's reply has a malformed end");
		*out = reply;
		return 0;
	}
	return err_set(err, ERR_INFRA, "the agent's reply was cut after %zu bytes", len);
}

const struct wire_part *wire_find(const struct wire_reply *reply, const char *name)
{
	for (size_t i = 0; i < reply->count; i++)
		if (strcmp(reply->parts[i].name, name) == 0)
			return &reply->parts[i];
	return NULL;
}

void wire_add_start(struct str *s)
{
	str_add(s, START);
}

void wire_add_part(struct str *s, const char *name, size_t len)
{
	str_addf(s, "part %s %zu\n", name, len);
}

void wire_add_end(struct str *s, size_t count)
{
	str_addf(s, "end %zu\n", count);
}
