/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#include "agent/cgroup.h"
#include "agent/probe.h"

/*
 * The mount point of cgroup v2: /proc/self/mountinfo, proc(5): fields are ID, parent, device, root,
 * mount point, options, ..., "-", type. NULL when it is not mounted.
 */
static char *find_mount(void)
{
	struct str text = STR_INIT;
	char *found = NULL;

	if (!probe_text(&text, "", "/proc/self/mountinfo"))
		return NULL;
	for (char *line = text.text, *next; line && *line && !found; line = next) {
		char *type, *mount = line;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		type = strstr(line, " - ");
		for (int field = 0; field < 4 && mount; field++) {
			mount = strchr(mount, ' ');
			mount += mount != NULL;
		}
		if (type && mount && mount < type && str_starts(type, " - cgroup2 "))
			found = xstrndup(mount, strcspn(mount, " "));
	}
	str_release(&text);
	return found;
}

void cgroup_find(struct cgroup *cg, const char *name)
{
	char *mount = find_mount();

	cg->path = mount ? xasprintf("%s/kbracket/%s", mount, name) : NULL;
	if (cg->path && !file_is_folder(cg->path)) {
		free(cg->path);
		cg->path = NULL;
	}
	free(mount);
}

void cgroup_make(struct cgroup *cg, const char *name)
{
	char *mount = find_mount();

	cg->path = mount ? xasprintf("%s/kbracket/%s", mount, name) : NULL;
	if (cg->path && file_mkdirs(cg->path, 0755, NULL) != 0) {
		free(cg->path);
		cg->path = NULL;
	}
	free(mount);
}

static bool write_word(const struct cgroup *cg, const char *file, const char *word)
{
	size_t len = strlen(word);
	char path[4096];
	bool ok;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", cg->path, file) >= (int)sizeof(path))
		return false;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write(fd, word, len) == (ssize_t)len;
	(void)close(fd); /* the write is what counts */
	return ok;
}

bool cgroup_enter(const struct cgroup *cg)
{
	return cg->path && write_word(cg, "cgroup.procs", "0");
}

/* Sends a signal to each process in it; returns how many there were. */
static int64_t signal_each(const struct cgroup *cg, int sig)
{
	struct str procs = STR_INIT;
	int64_t count = 0;

	if (probe_text(&procs, cg->path, "/cgroup.procs"))
		for (char *at = procs.text; *at;) {
			char *end;
			long pid = strtol(at, &end, 10);

			if (pid > 1)
				count += kill((pid_t)pid, sig) == 0;
			at = *end ? end + 1 : end;
		}
	str_release(&procs);
	return count;
}

void cgroup_kill(const struct cgroup *cg)
{
	if (cg->path && !write_word(cg, "cgroup.kill", "1"))
		(void)signal_each(cg, SIGKILL); /* before 5.14 */
}

int64_t cgroup_count(const struct cgroup *cg)
{
	return cg->path ? signal_each(cg, 0) : 0;
}

bool cgroup_empty(const struct cgroup *cg)
{
	struct str events = STR_INIT;
	bool empty = true;

	if (cg->path && probe_text(&events, cg->path, "/cgroup.events"))
		empty = probe_field_int(events.text, "populated", 0) == 0;
	str_release(&events);
	return empty;
}

int64_t cgroup_cpu_ns(const struct cgroup *cg)
{
	struct str stat = STR_INIT;
	int64_t usec = -1;

	if (cg->path && probe_text(&stat, cg->path, "/cpu.stat"))
		usec = probe_field_int(stat.text, "usage_usec", -1);
	str_release(&stat);
	return usec < 0 ? -1 : usec * 1000;
}

void cgroup_release(struct cgroup *cg)
{
	if (!cg->path)
		return;
	(void)rmdir(
		cg->path); /* not empty only when a process cannot be killed; reported elsewhere */
	free(cg->path);
	cg->path = NULL;
}
