/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lookout: the program that bench_guest runs on the machine. It keeps one CPU busy for a given
 * number of milliseconds and tells how often the processes of the harness were switched in or out
 * meanwhile: kbracket-agent, the ssh server, and everything else that is a process and not itself.
 * The first 20 ms are left out: in them the agent, which has just started us, goes to sleep.
 *
 *   lookout MILLISECONDS
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SKIP_MS = 20 };

enum kind { AGENT, SSH, OTHER, KINDS };

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void burn_until(double end_ms)
{
	while (now_ms() < end_ms)
		;
}

static enum kind kind_of(const char *name)
{
	if (strncmp(name, "kbracket-agent", 14) == 0)
		return AGENT;
	return strncmp(name, "dropbear", 8) == 0 || strncmp(name, "sshd", 4) == 0 ? SSH : OTHER;
}

/* Adds a process's switches to its kind. Kernel threads, which have no memory, do not count. */
static void add_process(const char *pid, long switches[KINDS])
{
	char path[64], line[256], name[64] = "";
	long count, total = 0;
	int has_memory = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	f = fopen(path, "r");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "Name: %63[^\n]", name);
		has_memory |= strncmp(line, "VmRSS:", 6) == 0;
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1 ||
			sscanf(line, "nonvoluntary_ctxt_switches: %ld", &count) == 1)
			total += count;
	}
	fclose(f);
	if (has_memory)
		switches[kind_of(name)] += total;
}

static void look(long switches[KINDS])
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	memset(switches, 0, KINDS * sizeof(*switches));
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
			strtol(entry->d_name, NULL, 10) != getpid())
			add_process(entry->d_name, switches);
	if (dir)
		closedir(dir);
}

int main(int argc, char **argv)
{
	double start = now_ms(), end = start + (argc > 1 ? strtod(argv[1], NULL) : 300);
	long before[KINDS], after[KINDS];

	burn_until(start + SKIP_MS);
	look(before);
	burn_until(end);
	look(after);
	printf("agent=%ld ssh=%ld other=%ld\n", after[AGENT] - before[AGENT],
		after[SSH] - before[SSH], after[OTHER] - before[OTHER]);
	return 0;
}
