/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum { ARGS_MAX = 64 };

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "tests/support.c: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", strerror(errno));
	abort();
}

char *support_folder(void)
{
	const char *base = getenv("TMPDIR");
	char *folder = support_path("%s/kb-test-XXXXXX", base && base[0] ? base : "/tmp");

	if (!mkdtemp(folder))
		die("%s", folder);
	return folder;
}

static int remove_entry(const char *path, const struct stat *st __attribute__((unused)), int kind,
	struct FTW *at __attribute__((unused)))
{
	if (kind == FTW_D || kind == FTW_DNR)
		(void)chmod(path, 0700);
	return remove(path);
}

void support_folder_free(char *folder)
{
	if (!folder)
		return;
	if (nftw(folder, remove_entry, 32, FTW_DEPTH | FTW_PHYS) != 0)
		die("cannot remove %s", folder);
	free(folder);
}

char *support_path(const char *fmt, ...)
{
	char *path = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&path, fmt, ap) < 0)
		die("no memory");
	va_end(ap);
	return path;
}

static void make_folders_of(const char *path)
{
	char *copy = support_path("%s", path);

	for (char *at = strchr(copy + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(copy, 0755) != 0 && errno != EEXIST)
			die("mkdir %s", copy);
		*at = '/';
	}
	free(copy);
}

void support_write_bytes(const char *path, const void *bytes, size_t len)
{
	FILE *file;

	make_folders_of(path);
	file = fopen(path, "we");
	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file) != 0)
		die("cannot write %s", path);
}

void support_write(const char *path, const char *text)
{
	support_write_bytes(path, text, strlen(text));
}

/* Everything up to the end of the file; the caller frees. */
static char *read_fd(int fd, size_t *len)
{
	size_t used = 0, room = 4096;
	char *text = malloc(room);

	for (;;) {
		ssize_t got = text ? read(fd, text + used, room - used - 1) : -1;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			die("read");
		if (got == 0)
			break;
		used += (size_t)got;
		if (room - used < 2) {
			room *= 2;
			text = realloc(text, room);
		}
	}
	text[used] = '\0';
	if (len)
		*len = used;
	return text;
}

char *support_read(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;

	if (fd < 0)
		die("cannot open %s", path);
	text = read_fd(fd, len);
	(void)close(fd);
	return text;
}

/* The user's and the host's git settings must not change what tests see. */
static void set_child_environment(void)
{
	static const char *const pairs[][2] = {{"GIT_CONFIG_NOSYSTEM", "1"},
		{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"GIT_TERMINAL_PROMPT", "0"}, {"LC_ALL", "C"},
		{"GIT_AUTHOR_NAME", "Test Author"}, {"GIT_AUTHOR_EMAIL", "author@example.com"},
		{"GIT_COMMITTER_NAME", "Test Author"},
		{"GIT_COMMITTER_EMAIL", "author@example.com"}};
	static const char *const unset[] = {
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		(void)setenv(pairs[i][0], pairs[i][1], 1);
	for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++)
		(void)unsetenv(unset[i]);
}

static pid_t spawn(const char *folder, const char *const *argv, int out_fd)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	if (dup2(out_fd, 1) < 0 || (folder && chdir(folder) != 0))
		_exit(127);
	set_child_environment();
	(void)execvp(argv[0], (char *const *)argv);
	_exit(127);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char *run_argv(const char *folder, const char *const *argv)
{
	char *text;
	size_t len;
	int ends[2], code;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		die("pipe");
	pid = spawn(folder, argv, ends[1]);
	(void)close(ends[1]);
	text = read_fd(ends[0], &len);
	(void)close(ends[0]);
	code = wait_for(pid);
	errno = 0;
	if (code)
		die("%s %s ended with %d", argv[0], argv[1] ? argv[1] : "", code);
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	return text;
}

static void gather(const char **argv, const char *program, va_list ap)
{
	size_t count = 0;

	argv[count++] = program;
	do {
		if (count == ARGS_MAX)
			die("too many arguments for %s", program);
		argv[count] = va_arg(ap, const char *);
	} while (argv[count++]);
}

char *support_run(const char *folder, const char *program, ...)
{
	const char *argv[ARGS_MAX];
	va_list ap;

	va_start(ap, program);
	gather(argv, program, ap);
	va_end(ap);
	return run_argv(folder, argv);
}

int support_try(const char *folder, const char *program, ...)
{
	const char *argv[ARGS_MAX];
	int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC), code;
	va_list ap;

	va_start(ap, program);
	gather(argv, program, ap);
	va_end(ap);
	code = wait_for(spawn(folder, argv, null_fd));
	(void)close(null_fd);
	return code;
}

void support_git_init(const char *repo)
{
	free(support_run(NULL, "git", "init", "-q", "-b", "main", repo, NULL));
	free(support_run(repo, "git", "config", "user.name", "Test Author", NULL));
	free(support_run(repo, "git", "config", "user.email", "author@example.com", NULL));
}

char *support_git_commit(const char *repo, const char *file, const char *text, const char *message)
{
	static int minutes;
	char *path = support_path("%s/%s", repo, file);
	char *date = support_path("%d +0000", 1700000000 + 60 * minutes++);

	if (text)
		support_write(path, text);
	else
		(void)unlink(path);
	(void)setenv("GIT_AUTHOR_DATE", date, 1);
	(void)setenv("GIT_COMMITTER_DATE", date, 1);
	free(support_run(repo, "git", "add", "-A", "-f", "--", file, NULL));
	free(support_run(repo, "git", "commit", "-q", "--allow-empty", "-m", message, NULL));
	(void)unsetenv("GIT_AUTHOR_DATE");
	(void)unsetenv("GIT_COMMITTER_DATE");
	free(date);
	free(path);
	return support_run(repo, "git", "rev-parse", "HEAD", NULL);
}
