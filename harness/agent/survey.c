/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/strv.h"

#include "agent/js.h"
#include "agent/launch.h"
#include "agent/probe.h"
#include "agent/snapshot.h"
#include "agent/survey.h"

enum { BUSIEST = 5, PROCESSES_MAX = 1 << 16 };

/* They start programs when it suits them. */
static const char *const daemons[] = {
	"cron", "crond", "anacron", "atd", "unattended-upgr", "packagekitd", "updatedb", "fstrim"};

struct process {
	int64_t pid, started, ticks;
	char name[17];
};

struct processes {
	struct process *items;
	size_t count, capacity;
};

/* /proc/PID/stat: the name stands in the only pair of brackets, and may hold any others. */
static bool parse_stat(const char *text, struct process *out)
{
	const char *open = strchr(text, '('), *shut = strrchr(text, ')');
	long long user, system, started;

	if (!open || !shut || shut < open ||
		sscanf(shut + 1,
			" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %*d %*d %*d %*d "
			"%*d %*d %lld",
			&user, &system, &started) != 3)
		return false;
	(void)snprintf(out->name, sizeof(out->name), "%.*s", (int)(shut - open - 1), open + 1);
	out->ticks = user + system;
	out->started = started;
	return true;
}

static void list_processes(const char *root, struct processes *out)
{
	struct strv names = STRV_INIT;
	struct str stat = STR_INIT;

	probe_list(&names, root, "/proc");
	for (size_t i = 0; i < names.count && out->count < PROCESSES_MAX; i++) {
		struct process process = {.pid = strtoll(names.items[i], NULL, 10)};

		if (process.pid <= 0 || process.pid == getpid() ||
			!probe_line(&stat, root, "/proc/%s/stat", names.items[i]) ||
			!parse_stat(stat.text, &process))
			continue;
		GROW(out->items, out->count, out->capacity);
		out->items[out->count++] = process;
	}
	strv_release(&names);
	str_release(&stat);
}

/* One that was not there before has used all of its time since. */
static void subtract(struct processes *now, const struct processes *before)
{
	for (size_t i = 0; i < now->count; i++)
		for (size_t k = 0; k < before->count; k++)
			if (before->items[k].pid == now->items[i].pid &&
				before->items[k].started == now->items[i].started) {
				now->items[i].ticks -= before->items[k].ticks;
				break;
			}
}

static int by_time(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->ticks < y->ticks) - (x->ticks > y->ticks);
}

static json_t *busiest(struct processes *now, const struct processes *before)
{
	json_t *list = json_array();

	subtract(now, before);
	if (now->count)
		qsort(now->items, now->count, sizeof(*now->items), by_time);
	for (size_t i = 0; i < now->count && i < BUSIEST && now->items[i].ticks > 0; i++) {
		json_t *o = json_object();

		js_text(o, "name", now->items[i].name);
		js_int(o, "cpu_ns", now->items[i].ticks * (NS_PER_S / sysconf(_SC_CLK_TCK)));
		(void)json_array_append_new(list, o);
	}
	return list;
}

static json_t *running_daemons(const struct processes *processes)
{
	json_t *list = json_array();

	for (size_t d = 0; d < ARRAY_SIZE(daemons); d++)
		for (size_t i = 0; i < processes->count; i++)
			if (strcmp(processes->items[i].name, daemons[d]) == 0) {
				js_add_text(list, daemons[d]);
				break;
			}
	return list;
}

static void add_disk(json_t *o, const char *folder)
{
	struct statvfs fs;
	bool known = statvfs(folder, &fs) == 0;

	js_count(o, "disk_bytes", known ? (int64_t)(fs.f_blocks * fs.f_frsize) : -1);
	js_count(o, "disk_free_bytes", known ? (int64_t)(fs.f_bavail * fs.f_frsize) : -1);
}

/* "Node 0 MemTotal:       32617628 kB" */
static json_t *node_memory(const char *root)
{
	json_t *list = json_array();
	struct str text = STR_INIT, value = STR_INIT;

	for (int node = 0; probe_text(&text, root, "/sys/devices/system/node/node%d/meminfo", node);
		node++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "Node %d MemTotal", node);
		if (probe_field(text.text, key, &value))
			(void)json_array_append_new(
				list, json_integer(probe_field_int(text.text, key, 0) * 1024));
	}
	str_release(&text);
	str_release(&value);
	return list;
}

static json_t *find_programs(const char *const *names)
{
	static const char *const env[] = {LAUNCH_PATH, NULL};
	json_t *o = json_object();

	for (size_t i = 0; i < argv_count(names); i++) {
		char *path = launch_find(names[i], env);

		js_text(o, names[i], path);
		free(path);
	}
	return o;
}

json_t *survey(const char *root, const char *folder, int64_t window_ns, const char *const *programs)
{
	struct processes before = {NULL, 0, 0}, after = {NULL, 0, 0};
	json_t *o = json_object();

	probe_mount_debugfs(root);
	list_processes(root, &before);
	js_set(o, "before", snapshot_take(root));
	clock_sleep_ns(window_ns);
	js_set(o, "after", snapshot_take(root));
	list_processes(root, &after);
	js_set(o, "daemons", running_daemons(&after));
	js_set(o, "busiest", busiest(&after, &before));
	add_disk(o, folder);
	js_set(o, "node_memory_bytes", node_memory(root));
	js_bool(o, "root", geteuid() == 0);
	js_set(o, "programs", find_programs(programs));
	free(before.items);
	free(after.items);
	return o;
}
