/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "agent/js.h"
#include "agent/kmsg.h"

enum {
	KMSG_RECORD_BYTES = 8192, /* CONSOLE_EXT_LOG_MAX of the kernel */
	KMSG_TEXT_BYTES = 256 << 10,
	KMSG_WARNING_LINES = 20,
	KMSG_WARNING_LEVEL = 4,
};

static const char device[] = "/dev/kmsg";

bool kmsg_parse(const char *record, struct kmsg_record *out)
{
	const char *semicolon = strchr(record, ';');
	unsigned int facility_level;
	int64_t seq, usec;

	if (!semicolon ||
		sscanf(record, "%u,%" SCNd64 ",%" SCNd64 ",", &facility_level, &seq, &usec) != 3)
		return false;
	out->level = (int)(facility_level & 7);
	out->seq = seq;
	out->usec = usec;
	out->text = semicolon + 1;
	out->text_len = strcspn(out->text, "\n");
	return true;
}

int kmsg_mark(void)
{
	int fd = open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && lseek(fd, 0, SEEK_END) < 0) {
		(void)close(fd); /* only read from */
		fd = -1;
	}
	return fd;
}

enum kmsg_step { KMSG_RECORD, KMSG_SKIP, KMSG_END };

/* Reads one record into buffer; EPIPE says that records were overwritten before we read them. */
static enum kmsg_step next_record(int fd, char *buffer, struct kmsg_record *record, bool *lost)
{
	ssize_t got = fd < 0 ? 0 : read(fd, buffer, KMSG_RECORD_BYTES - 1);

	if (got < 0 && errno == EPIPE) {
		*lost = true;
		return KMSG_SKIP;
	}
	if (got < 0 && errno == EINTR)
		return KMSG_SKIP;
	if (got <= 0)
		return KMSG_END;
	buffer[got] = '\0';
	return kmsg_parse(buffer, record) ? KMSG_RECORD : KMSG_SKIP;
}

/* The sequence number of the first record after the mark; -1 when nothing came. */
static int64_t first_since(int mark)
{
	char buffer[KMSG_RECORD_BYTES];
	struct kmsg_record record;
	bool lost = false;

	for (;;)
		switch (next_record(mark, buffer, &record, &lost)) {
		case KMSG_RECORD:
			return record.seq;
		case KMSG_END:
			return -1;
		case KMSG_SKIP:
			break;
		}
}

struct gather {
	struct str *text;
	json_t *warning_lines;
	int64_t newest, records, during, warnings;
	int worst_level;
	bool cut, lost;
};

static void gather_warning(struct gather *g, const struct kmsg_record *r)
{
	struct str line = STR_INIT;

	g->worst_level = r->level < g->worst_level ? r->level : g->worst_level;
	if (r->level > KMSG_WARNING_LEVEL)
		return;
	if (g->warnings++ < KMSG_WARNING_LINES) {
		str_add_safe(&line, r->text, r->text_len);
		js_add_text(g->warning_lines, str_text(&line));
	}
	str_release(&line);
}

static void gather_record(struct gather *g, const struct kmsg_record *r, int64_t first_during)
{
	g->newest = r->seq;
	g->records++;
	if (first_during >= 0 && r->seq >= first_during) {
		g->during++;
		gather_warning(g, r);
	}
	if (g->text->len + r->text_len + 64 > KMSG_TEXT_BYTES) {
		g->cut = true;
		return;
	}
	str_addf(g->text, "<%d>[%5" PRId64 ".%06" PRId64 "] ", r->level, r->usec / 1000000,
		r->usec % 1000000);
	str_add_safe(g->text, r->text, r->text_len);
	str_add_char(g->text, '\n');
}

static void gather_all(struct gather *g, int64_t after, int64_t first_during)
{
	char buffer[KMSG_RECORD_BYTES];
	struct kmsg_record record;
	enum kmsg_step step;
	int fd = open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	do {
		step = next_record(fd, buffer, &record, &g->lost);
		if (step == KMSG_RECORD && record.seq > after)
			gather_record(g, &record, first_during);
	} while (step != KMSG_END);
	if (fd >= 0)
		(void)close(fd); /* only read from */
}

json_t *kmsg_since(int mark, int64_t after, struct str *text)
{
	struct gather g = {
		.text = text, .warning_lines = json_array(), .newest = -1, .worst_level = 8};
	int64_t first_during = first_since(mark);
	json_t *o = json_object();

	if (after >= 0 || first_during >= 0)
		gather_all(&g, after >= 0 ? after : first_during - 1, first_during);
	js_count(o, "next", g.newest);
	js_int(o, "records", g.records);
	js_int(o, "during", g.during);
	js_int(o, "warnings", g.warnings);
	js_count(o, "worst_level", g.worst_level < 8 ? g.worst_level : -1);
	js_set(o, "warning_lines", g.warning_lines);
	js_bool(o, "cut", g.cut);
	js_bool(o, "lost", g.lost);
	return o;
}
