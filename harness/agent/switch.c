/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/swap.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/num.h"

#include "agent/knobs.h"
#include "agent/probe.h"
#include "agent/switch.h"
#include "agent/tool.h"

#define SERVICE_NS (60 * NS_PER_S) /* systemctl waits for the service's own end */

/* A file that lists choices shows the current one in brackets: "always [madvise] never". */
static void keep_chosen(struct str *line)
{
	const char *open = strchr(str_text(line), '['), *close = open ? strchr(open, ']') : NULL;
	char *chosen;

	if (!close)
		return;
	chosen = xstrndup(open + 1, (size_t)(close - open - 1));
	str_reset(line);
	str_add(line, chosen);
	free(chosen);
}

static int read_file(const char *root, const char *at, struct str *value, struct err *err)
{
	if (!probe_exists(root, "%s", at))
		return err_set(err, ERR_NOT_FOUND, "there is no %s%s", root, at);
	if (!probe_line(value, root, "%s", at))
		return err_set(err, ERR_INFRA, "cannot read %s%s", root, at);
	keep_chosen(value);
	return 0;
}

/* Kernel files take a value in one write. */
static int write_file(const char *root, const char *at, const char *value, struct err *err)
{
	char *path = xasprintf("%s%s", root, at);
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW), ret = 0, saved = errno;
	size_t len = strlen(value);

	if (fd < 0) {
		ret = err_errno(err, saved == ENOENT ? ERR_NOT_FOUND : ERR_INFRA, saved,
			"cannot open %s", path);
	} else {
		ssize_t put = write(fd, value, len);

		saved = errno;
		(void)close(fd); /* the write is what counts, and it is read back */
		if (put != (ssize_t)len)
			ret = err_errno(err, ERR_INFRA, put < 0 ? saved : EIO,
				"cannot write \"%s\" to %s", value, path);
	}
	free(path);
	return ret;
}

static int read_feature(const char *root, const char *at, struct str *value, struct err *err)
{
	bool on;
	int ret = knobs_feature(root, at, &on, err);

	if (!ret)
		str_add(value, on ? "on" : "off");
	return ret;
}

static int write_feature(const char *root, const char *at, const char *value, struct err *err)
{
	char *word = xasprintf("%s%s", strcmp(value, "off") ? "" : "NO_", at);
	int ret = write_file(root, knobs_feature_file(root), word, err);

	free(word);
	return ret;
}

/* A fake machine in a test has a systemctl of its own. */
static int call_systemctl(
	const char *root, const char *verb, const char *unit, struct str *out, struct err *err)
{
	static const char *const places[] = {"/usr/bin/systemctl", "/bin/systemctl"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *path = xasprintf("%s%s", root, places[i]);
		const char *const argv[] = {path, verb, "--", unit, NULL};
		int ret;

		if (probe_exists(root, "%s", places[i])) {
			ret = tool_run(argv, SERVICE_NS, out, err);
			free(path);
			return ret;
		}
		free(path);
	}
	return err_set(err, ERR_NOT_FOUND, "this machine has no systemctl");
}

/* is-active prints one word whatever its exit status; a unit that is not there is inactive. */
static int read_service(const char *root, const char *at, struct str *value, struct err *err)
{
	struct str out = STR_INIT;
	int ret = call_systemctl(root, "is-active", at, &out, err);
	const char *word = str_text(&out);

	if (ret >= 0)
		str_add(value, str_starts(word, "active") || str_starts(word, "activating") ||
					       str_starts(word, "reloading")
				       ? "active"
				       : "inactive");
	str_release(&out);
	return ret < 0 ? ret : 0;
}

static int write_service(const char *root, const char *at, const char *value, struct err *err)
{
	const char *verb = strcmp(value, "active") ? "stop" : "start";
	struct str out = STR_INIT, line = STR_INIT;
	int ret = call_systemctl(root, verb, at, &out, err);

	str_add_safe(&line, str_text(&out), strcspn(str_text(&out), "\n"));
	if (ret > 0)
		ret = err_set(err, ERR_INFRA, "systemctl %s %s: exit %d%s%.200s", verb, at, ret,
			line.len ? ": " : "", str_text(&line));
	str_release(&out);
	str_release(&line);
	return ret;
}

/* /proc/swaps: a head line, then "Filename Type Size Used Priority". */
static int read_swap(const char *root, const char *at, struct str *value, struct err *err KB_UNUSED)
{
	struct str text = STR_INIT;
	size_t len = strlen(at);
	int priority = 0;
	bool on = false;

	(void)probe_text(&text, root, "/proc/swaps"); /* none without it */
	for (const char *line = str_text(&text); *line;) {
		size_t end = strcspn(line, "\n");

		if (strncmp(line, at, len) == 0 && strchr(" \t", line[len]) &&
			sscanf(line + len, " %*s %*s %*s %d", &priority) == 1)
			on = true;
		line += end + (line[end] == '\n');
	}
	if (on)
		str_addf(value, "on %d", priority);
	else
		str_add(value, "off");
	str_release(&text);
	return 0;
}

static int write_swap(const char *root, const char *at, const char *value, struct err *err)
{
	char *path = xasprintf("%s%s", root, at);
	int priority = -1, ret, flags = 0;

	if (strcmp(value, "off") == 0) {
		ret = swapoff(path);
	} else {
		if (sscanf(value, "on %d", &priority) == 1 && priority >= 0)
			flags = SWAP_FLAG_PREFER | (priority & SWAP_FLAG_PRIO_MASK);
		ret = swapon(path, flags);
	}
	if (ret)
		ret = err_errno(
			err, ERR_INFRA, errno, "cannot switch swap on %s %.3s", path, value);
	free(path);
	return ret;
}

/* clang-format off */
static const struct {
	const char *name;
	int (*read)(const char *root, const char *at, struct str *value, struct err *err);
	int (*write)(const char *root, const char *at, const char *value, struct err *err);
} kinds[SWITCH_KINDS] = {
	[SWITCH_FILE] = {"file", read_file, write_file},
	[SWITCH_FEATURE] = {"feature", read_feature, write_feature},
	[SWITCH_SERVICE] = {"service", read_service, write_service},
	[SWITCH_SWAP] = {"swap", read_swap, write_swap},
};
/* clang-format on */

const char *switch_kind_name(enum switch_kind kind)
{
	return kinds[kind].name;
}

enum switch_kind switch_kind_parse(const char *name)
{
	int kind = 0;

	while (kind < SWITCH_KINDS && strcmp(kinds[kind].name, name) != 0)
		kind++;
	return (enum switch_kind)kind;
}

bool switch_is_allowed(const struct switch_place *place)
{
	if (place->kind != SWITCH_FILE)
		return place->at[0] && place->at[0] != '-';
	return (str_starts(place->at, "/proc/sys/") || str_starts(place->at, "/sys/")) &&
	       !strstr(place->at, "..");
}

int switch_read(
	const char *root, const struct switch_place *place, struct str *value, struct err *err)
{
	str_reset(value);
	return kinds[place->kind].read(root, place->at, value, err);
}

/* Same words, whatever blanks are between them: the kernel prints tabs. */
static bool same_words(const char *a, const char *b)
{
	static const char blanks[] = " \t";

	for (;;) {
		size_t len;

		a += strspn(a, blanks);
		b += strspn(b, blanks);
		len = strcspn(a, blanks);
		if (len != strcspn(b, blanks) || memcmp(a, b, len) != 0)
			return false;
		if (!len)
			return true;
		a += len;
		b += len;
	}
}

static bool means(const char *read, const char *value, const char *also)
{
	char *word = xasprintf(" %s ", read);
	bool same = same_words(read, value) || (also && *read && strstr(also, word));

	free(word);
	return same;
}

int switch_write(const char *root, const struct switch_place *place, const char *value,
	const char *also, struct err *err)
{
	struct str now = STR_INIT;
	int ret = switch_read(root, place, &now, err);

	if (!ret && !means(str_text(&now), value, also)) {
		ret = kinds[place->kind].write(root, place->at, value, err);
		if (!ret)
			ret = switch_read(root, place, &now, err);
		if (!ret && !means(str_text(&now), value, also))
			ret = err_set(err, ERR_INFRA,
				"\"%s\" was written to %s but it reads \"%s\"", value, place->at,
				str_text(&now));
	}
	str_release(&now);
	return ret;
}
