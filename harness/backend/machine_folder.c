/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/strv.h"
#include "backend/machine_ops.h"

/* Whether "guest-PID-..." or "ssh-PID-..." is of a process that is no more. */
static bool is_stale(const char *name)
{
	const char *number = str_starts(name, "guest-") ? name + 6
			     : str_starts(name, "ssh-") ? name + 4
							: NULL;
	char *end = NULL;
	long pid = number ? strtol(number, &end, 10) : 0;

	return pid > 0 && *end == '-' && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static void remove_stale(const char *folder)
{
	struct strv names = STRV_INIT;

	if (file_list(folder, &names, NULL) != 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		char *path = path_join(folder, names.items[i]);

		if (is_stale(names.items[i]))
			(void)!file_remove_tree(path, NULL); /* it costs space only */
		free(path);
	}
	strv_release(&names);
}

int machine_private_folder(char **out, struct err *err)
{
	char *path = xasprintf("/tmp/kbracket-%ld", (long)geteuid());
	struct stat st;
	int ret = 0;

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		ret = err_errno(err, ERR_INFRA, errno, "cannot make the folder %s", path);
	else if (lstat(path, &st) != 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot look at the folder %s", path);
	else if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		ret = err_set(err, ERR_INFRA,
			"%s must be a folder of this user with mode 0700: remove it", path);
	if (ret) {
		free(path);
		return ret;
	}
	remove_stale(path);
	*out = path;
	return 0;
}
