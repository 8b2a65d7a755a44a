/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/proc.h"
#include "backend/kbuild.h"

enum { MAX_LOG_BYTES = 256 << 20, MAX_QUOTED = 300 };

struct make_run {
	struct kbuild *kb;
	int steps;
};

static int enter(void *arg)
{
	struct make_run *run = arg;

	return sandbox_enter(&run->kb->box);
}

/* kbuild's short lines: two blanks, the kind of step, the file. */
static void on_line(void *arg, const char *line)
{
	struct make_run *run = arg;
	const struct build_env *env = run->kb->env;
	struct str text = STR_INIT;

	if (!str_starts(line, "  ") || line[2] == ' ' || !env->progress)
		return;
	run->steps++;
	str_addf(&text, "step %d:", run->steps);
	for (line += 2; *line; line += strspn(line, " ")) {
		size_t word = strcspn(line, " ");

		str_add_char(&text, ' ');
		str_add_safe(&text, line, word);
		line += word;
	}
	env->progress(env->arg, str_text(&text));
	str_release(&text);
}

/* Nothing of our own environment but the search path: no secrets, no settings that change what is
 * built. What would differ from build to build is fixed. */
static void add_environment(const struct kbuild *kb, struct strv *env)
{
	const char *path = getenv("PATH");

	strv_addf(env, "PATH=%s", path ? path : "/usr/sbin:/usr/bin:/sbin:/bin");
	strv_addf(env, "HOME=%s", sandbox_scratch(&kb->box));
	strv_addf(env, "CCACHE_DIR=%s", sandbox_scratch(&kb->box));
	/* without CCACHE_DEPEND, with which .incbin is not seen: the image would be an old one in
	 * which the compressed kernel has the same size */
	strv_add_many(env, "CCACHE_MAXSIZE=8G", "CCACHE_NOHASHDIR=1",
		"CCACHE_NAMESPACE=incbin", /* nothing that was kept with it */
		"LC_ALL=C", "TZ=UTC", "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
		"KBUILD_BUILD_USER=kbracket", "KBUILD_BUILD_HOST=kbracket",
		"KBUILD_BUILD_VERSION=1",
		/* the source is no repository, and one above it must not be asked */
		"GIT_DIR=/nonexistent", NULL);
}

static void add_words(const struct kbuild *kb, struct strv *argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	sandbox_argv(&kb->box, argv);
	strv_add_many(argv, "make", "-C", sandbox_source(&kb->box), NULL);
	strv_addf(argv, "-j%lld",
		(long long)(kb->env->jobs > 0 ? kb->env->jobs
			    : cpus > 0	      ? cpus
					      : 1));
	strv_addf(argv, "O=%s", sandbox_output(&kb->box));
	strv_addf(argv, "ARCH=%s", kb->arch->arch);
	strv_addf(argv, "CC=%s", kb->cc);
	strv_addf(argv, "HOSTCC=%s", kb->cc);
}

/* The first line in a log that tells of an error; NULL when there is none. */
static const char *find_error(char *log)
{
	static const char *const marks[] = {" error: ", "fatal error:", "undefined reference",
		": not found\n", "*** ", "Error "};
	char *line, *at;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		at = strstr(log, marks[i]);
		if (!at)
			continue;
		line = at;
		while (line > log && line[-1] != '\n')
			line--;
		line[strcspn(line, "\n")] = '\0';
		return line;
	}
	return NULL;
}

static int say_failed(const struct kbuild *kb, const struct proc_result *result, struct err *err)
{
	struct str log = STR_INIT, how = STR_INIT, quoted = STR_INIT;
	const char *line = NULL;

	if (file_read(kb->log, MAX_LOG_BYTES, &log, NULL) == 0 && log.len)
		line = find_error(log.text);
	if (line)
		str_add_safe(&quoted, line, strnlen(line, MAX_QUOTED));
	proc_describe(result, &how);
	(void)err_set(err, ERR_INFRA, "the build failed (make: %s)%s%s; log: %s", str_text(&how),
		line ? ": " : "", str_text(&quoted), kb->log);
	str_release(&quoted);
	str_release(&how);
	str_release(&log);
	return ERR_INFRA;
}

int kbuild_make(struct kbuild *kb, struct err *err, ...)
{
	struct make_run run = {kb, 0};
	struct proc_spec spec = {.output_path = kb->log,
		.on_line = on_line,
		.arg = &run,
		.in_child = enter,
		.timeout_ns = 6 * 3600 * NS_PER_S,
		.max_output_bytes = MAX_LOG_BYTES};
	struct proc_result result = PROC_RESULT_INIT;
	struct strv argv = STRV_INIT, env = STRV_INIT;
	const char *word;
	va_list ap;
	int ret;

	add_words(kb, &argv);
	va_start(ap, err);
	while ((word = va_arg(ap, const char *)))
		strv_add(&argv, word);
	va_end(ap);
	add_environment(kb, &env);
	spec.argv = strv_argv(&argv);
	spec.env = strv_argv(&env);
	ret = proc_run(&spec, &result, err);
	if (ret == 0 && (result.signal || result.exit_code != 0 || result.output_limit))
		ret = say_failed(kb, &result, err);
	proc_result_release(&result);
	strv_release(&env);
	strv_release(&argv);
	return ret;
}
