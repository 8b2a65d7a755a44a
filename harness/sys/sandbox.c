/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "sys/proc.h"
#include "sys/sandbox.h"

/* No account has this id: Debian's policy reserves 65000 to 65533. */
enum { BUILD_ID = 65432 };
#define BUILD_ID_TEXT "65432"

/* In the file system view of SANDBOX_FULL. The same everywhere, so that paths in what is built are
 * the same everywhere. */
static const char source_inside[] = "/mnt/source", output_inside[] = "/mnt/output",
		  scratch_inside[] = "/mnt/scratch";

const char *sandbox_source(const struct sandbox *sandbox)
{
	return sandbox->level == SANDBOX_FULL ? source_inside : sandbox->source;
}

const char *sandbox_output(const struct sandbox *sandbox)
{
	return sandbox->level == SANDBOX_FULL ? output_inside : sandbox->output;
}

const char *sandbox_scratch(const struct sandbox *sandbox)
{
	return sandbox->level == SANDBOX_FULL ? scratch_inside : sandbox->scratch;
}

const char *sandbox_about(const struct sandbox *sandbox)
{
	static const char *const about[] = {
		[SANDBOX_NONE] = "as the user of kbracket and with its network",
		[SANDBOX_USER_NS] = "without network, as the user of kbracket",
		[SANDBOX_ALONE] = "without network, as root",
		[SANDBOX_USER] = "as user " BUILD_ID_TEXT ", with the host's network",
		[SANDBOX_USER_ALONE] = "without network, as user " BUILD_ID_TEXT,
		[SANDBOX_FULL] = "without network, as user " BUILD_ID_TEXT
				 ", writing only to its own folders",
	};

	return about[sandbox->level];
}

void sandbox_argv(const struct sandbox *sandbox, struct strv *argv)
{
	/* --kill-child and --pdeathsig: when unshare dies with us, the whole namespace dies. */
	if (sandbox->level == SANDBOX_FULL)
		strv_add_many(argv, "unshare", "--pid", "--fork", "--kill-child", "--", NULL);
	if (sandbox->level == SANDBOX_USER_NS)
		strv_add_many(argv, "unshare", "--user", "--map-current-user", "--net", "--ipc",
			"--pid", "--fork", "--kill-child", "--", NULL);
	if (sandbox->level == SANDBOX_ALONE || sandbox->level == SANDBOX_USER_ALONE)
		strv_add_many(argv, "unshare", "--net", "--ipc", "--pid", "--fork", "--kill-child",
			"--", NULL);
	if (sandbox->level >= SANDBOX_USER)
		strv_add_many(argv, "setpriv", "--reuid=" BUILD_ID_TEXT, "--regid=" BUILD_ID_TEXT,
			"--clear-groups", "--no-new-privs", "--inh-caps=-all", "--pdeathsig=KILL",
			"--", NULL);
}

/* A folder opened before the mounts that may cover it is reached through /proc/self/fd. */
static int bind_fd(int fd, const char *to)
{
	char path[32] = "/proc/self/fd/", digits[16];
	size_t len = strlen(path), count = 0;

	do
		digits[count++] = (char)('0' + fd % 10);
	while (fd /= 10);
	while (count)
		path[len++] = digits[--count];
	path[len] = '\0';
	if (mkdir(to, 0755) != 0)
		return -1;
	return mount(path, to, NULL, MS_BIND, NULL);
}

static int make_view(const struct sandbox *sandbox)
{
	const unsigned long careful = MS_NOSUID | MS_NODEV;
	int source, output, scratch;

	if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) != 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return -1;
	source = open(sandbox->source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	output = open(sandbox->output, O_PATH | O_DIRECTORY | O_CLOEXEC);
	scratch = open(sandbox->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (source < 0 || output < 0 || scratch < 0 ||
		mount("kbracket", "/mnt", "tmpfs", careful, "mode=755,size=1m") != 0 ||
		bind_fd(source, source_inside) != 0 || bind_fd(output, output_inside) != 0 ||
		bind_fd(scratch, scratch_inside) != 0 ||
		mount(NULL, source_inside, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | careful,
			NULL) != 0 ||
		mount("kbracket", "/tmp", "tmpfs", careful, "mode=1777") != 0)
		return -1;
	return chdir(output_inside);
}

int sandbox_enter(void *arg)
{
	const struct sandbox *sandbox = arg;

	if (sandbox->keep_fd >= 0 && fcntl(sandbox->keep_fd, F_SETFD, 0) != 0)
		return -1;
	if (sandbox->level == SANDBOX_FULL)
		return make_view(sandbox);
	return chdir(sandbox->output);
}

static int hand_over(
	const char *path, const struct stat *st, int kind KB_UNUSED, struct FTW *ftw KB_UNUSED)
{
	if (st->st_uid == BUILD_ID && st->st_gid == BUILD_ID)
		return 0;
	return lchown(path, BUILD_ID, BUILD_ID);
}

/* What an earlier call left to another user (a build without a sandbox) is handed over, too. */
static int prepare_folder(const char *path, struct err *err)
{
	struct stat st;
	int ret = file_mkdirs(path, 0755, err);

	if (ret || geteuid() != 0)
		return ret;
	if (stat(path, &st) == 0 && st.st_uid == BUILD_ID)
		return 0;
	if (nftw(path, hand_over, 32, FTW_PHYS) != 0)
		return err_errno(
			err, ERR_INFRA, errno, "cannot hand %s over to user %d", path, BUILD_ID);
	return 0;
}

static void note_failure(
	struct sandbox *sandbox, const struct proc_result *result, const struct err *err)
{
	struct str text = STR_INIT;

	if (sandbox->why)
		return; /* the best level's reason is the one to tell */
	if (*err->text) {
		str_add(&text, err->text);
	} else {
		proc_describe(result, &text);
		str_add(&text, ": ");
		str_add_safe(&text, str_text(&result->err_out),
			result->err_out.len < 120 ? result->err_out.len : 120);
	}
	sandbox->why = str_take(&text);
}

static bool works(struct sandbox *sandbox, enum sandbox_level level)
{
	struct proc_result result = PROC_RESULT_INIT;
	struct strv argv = STRV_INIT;
	struct proc_spec spec = {
		.in_child = sandbox_enter, .arg = sandbox, .timeout_ns = 20 * NS_PER_S};
	struct err err = ERR_INIT;
	bool ok;

	sandbox->level = level;
	sandbox_argv(sandbox, &argv);
	strv_add_many(&argv, "test", "-r", sandbox_source(sandbox), "-a", "-w",
		sandbox_output(sandbox), "-a", "-w", sandbox_scratch(sandbox), NULL);
	spec.argv = strv_argv(&argv);
	ok = proc_run(&spec, &result, &err) == 0 && !result.signal && result.exit_code == 0;
	if (!ok)
		note_failure(sandbox, &result, &err);
	strv_release(&argv);
	proc_result_release(&result);
	return ok;
}

int sandbox_init(struct sandbox *sandbox, const char *source, const char *output,
	const char *scratch, int keep_fd, struct err *err)
{
	static const enum sandbox_level for_root[] = {SANDBOX_FULL, SANDBOX_USER_ALONE,
		SANDBOX_ALONE, SANDBOX_USER, SANDBOX_NONE},
					for_others[] = {SANDBOX_USER_NS, SANDBOX_NONE};
	const enum sandbox_level *level = geteuid() == 0 ? for_root : for_others;
	int ret;

	*sandbox = (struct sandbox){.keep_fd = keep_fd};
	ret = prepare_folder(output, err);
	if (ret == 0)
		ret = prepare_folder(scratch, err);
	if (ret)
		return ret;
	sandbox->source = realpath(source, NULL);
	sandbox->output = realpath(output, NULL);
	sandbox->scratch = realpath(scratch, NULL);
	if (!sandbox->source || !sandbox->output || !sandbox->scratch) {
		ret = err_errno(
			err, ERR_INFRA, errno, "cannot find %s, %s or %s", source, output, scratch);
		sandbox_release(sandbox);
		return ret;
	}
	while (*level != SANDBOX_NONE && !works(sandbox, *level))
		level++;
	sandbox->level = *level;
	return 0;
}

void sandbox_release(struct sandbox *sandbox)
{
	free(sandbox->source);
	free(sandbox->output);
	free(sandbox->scratch);
	free(sandbox->why);
	*sandbox = (struct sandbox){.keep_fd = -1};
}
