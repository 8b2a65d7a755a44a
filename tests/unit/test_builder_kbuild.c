/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strv.h"
#include "sys/proc.h"
#include "backend/builder.h"
#include "backend/kbuild.h"
#include "fake_kernel.h"

/*
 * A source tree whose makefile behaves like the kernel's as far as the builder sees it: configures
 * out of KCONFIG_ALLCONFIG, "compiles" with a line for each step, makes vmlinux and bzImage. Each
 * target is noted in a file that says how often something was really made.
 */
static char top[64];

static const char makefile[] =
	"S := $(CURDIR)\n"
	"allnoconfig:\n"
	"\t@echo '  HOSTCC  scripts/conf'\n"
	"\t@grep -v CONFIG_NOT_HERE $(KCONFIG_ALLCONFIG) >$(O)/.config\n"
	"defconfig:\n"
	"\t@echo CONFIG_DEFAULT=y >$(O)/.config\n"
	"olddefconfig:\n" /* of two lines for a symbol, the later one counts */
	"\t@grep -v CONFIG_NOT_HERE $(O)/.config | tac | awk -F= '!seen[$$1]++' | tac >$(O)/tmp &&"
	" mv $(O)/tmp $(O)/.config\n"
	"bzImage:\n"
	"\t@echo made >>$(O)/builds\n"
	"\t@echo '  CC      init/main.o'\n"
	"\t@test ! -e $(S)/broken || { echo 'init/main.c:3:1: error: broken by test'; exit 2; }\n"
	"\t@test ! -e $(S)/lacking || { /no/packer; exit 127; }\n"
	"\t@test ! -e $(S)/slow || sleep 1000\n"
	"\t@env | grep -q '^SECRET=' && exit 3 || :\n"
	"\t@mkdir -p $(O)/arch/x86/boot\n"
	"\t@cp $(S)/vmlinux.bin $(O)/vmlinux && cp $(S)/vmlinux.bin $(O)/arch/x86/boot/bzImage\n"
	/* as compressed/piggy.S takes in the compressed kernel */
	"\t@test ! -e $(S)/piggy.S || { cd $(O) && cp $(S)/payload . &&"
	" ccache gcc -Wp,-MMD,.piggy.o.d -c -o piggy.o $(S)/piggy.S &&"
	" cat piggy.o >>arch/x86/boot/bzImage; }\n"
	"\t@echo '$(LOCALVERSION)' >>$(O)/versions\n"
	"modules:\n\t@echo '  CC [M]  drivers/x.o'\n"
	"modules_install:\n"
	"\t@mkdir -p $(INSTALL_MOD_PATH)/lib/modules/6.12.9-fake\n"
	"\t@ln -s $(O) $(INSTALL_MOD_PATH)/lib/modules/6.12.9-fake/build\n"
	"\t@echo x >$(INSTALL_MOD_PATH)/lib/modules/6.12.9-fake/x.ko\n";

static char *at(const char *name)
{
	static char paths[32][256];
	static unsigned next;
	char *path = paths[next++ % 32];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static void put_bytes(const char *path, const char *bytes, size_t len)
{
	char *folder = path_dir(path);

	assert_int_equal(file_mkdirs(folder, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(path, bytes, len, 0644, NULL), 0);
	free(folder);
}

static void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

__attribute__((sentinel)) static void git(const char *first, ...)
{
	static const char *const env[] = {"PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", NULL};
	struct strv argv = STRV_INIT;
	struct proc_spec spec = {.env = env, .cwd = at("repo"), .timeout_ns = 60 * NS_PER_S};
	struct err err = ERR_INIT;
	va_list ap;

	strv_add_many(&argv, "git", first, NULL);
	va_start(ap, first);
	for (const char *word; (word = va_arg(ap, const char *));)
		strv_add(&argv, word);
	va_end(ap);
	spec.argv = strv_argv(&argv);
	if (proc_check(&spec, NULL, &err)) {
		char *p = strstr(err.text, "log: ");
		struct str l = STR_INIT;
		(void)!file_read(p + 5, 65536, &l, NULL);
		fail_msg("%s\n%s", err.text, str_text(&l));
	}
	strv_release(&argv);
}

static void commit(const char *tag)
{
	git("add", "-A", NULL);
	git("commit", "-q", "-m", tag, NULL);
	git("tag", tag, NULL);
}

static int set_up(void **state KB_UNUSED)
{
	struct str vmlinux = STR_INIT;

	strncpy(top, "/tmp/kb-kbuild-XXXXXX", sizeof(top));
	assert_non_null(mkdtemp(top));
	assert_int_equal(chmod(top, 0700), 0); /* as a home folder: the build's user can't enter */
	assert_int_equal(mkdir(at("repo"), 0755), 0);
	git("init", "-q", NULL);
	fake_vmlinux(&vmlinux, 0x5a, FAKE_BANNER("6.12.9-fake", "1"));
	put_bytes(at("repo/vmlinux.bin"), str_text(&vmlinux), vmlinux.len);
	str_release(&vmlinux);
	put(at("repo/Makefile"), makefile);
	put(at("repo/a.c"), "int a;\n");
	commit("base");
	put(at("repo/a.c"), "int b;\n");
	commit("changed");
	put(at("one.config"), "# a comment\nCONFIG_SMP=y\n# CONFIG_OFF is not set\n");
	put(at("modules.config"), "CONFIG_MODULES=y\n");
	put(at("lost.config"), "CONFIG_SMP=y\nCONFIG_NOT_HERE=y\n");
	put(at("later.config"), "# CONFIG_NOT_HERE is not set\n");
	assert_int_equal(setenv("SECRET", "1", 1), 0);
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	return file_remove_tree(top, NULL);
}

static const char *const none[] = {NULL};

static struct variant variant(const char *name, const char *ref, const char *const *fragments)
{
	return (struct variant){.name = name,
		.ref = ref,
		.tree = at("repo"),
		.reverts = none,
		.picks = none,
		.patches = none,
		.lore_url = "http://127.0.0.1:1",
		.arch = "x86_64",
		.config = {"allnoconfig", fragments}};
}

static int build(const struct variant *v, struct arena *arena, struct build *out, struct err *err)
{
	struct build_env env = {.cache_dir = at("cache"), .jobs = 2};

	return builder_for(v)->build(&env, v, arena, out, err);
}

static int make_ok(const struct variant *v, struct arena *arena, struct build *out)
{
	struct err err = ERR_INIT;

	if (build(v, arena, out, &err)) {
		char *p = strstr(err.text, "log: ");
		struct str l = STR_INIT;
		(void)!file_read(p + 5, 65536, &l, NULL);
		fail_msg("%s\n%s", err.text, str_text(&l));
	}
	return 0;
}

/* How often bzImage was made, over all output folders. */
static int count_builds(void)
{
	const char *argv[] = {"sh", "-c", "cat \"$0\"/work/*/out-*/builds 2>/dev/null | wc -l",
		at("cache"), NULL};
	struct proc_spec spec = {.argv = argv};
	struct str out = STR_INIT;
	int count;

	assert_int_equal(proc_check(&spec, &out, NULL), 0);
	count = (int)strtol(str_text(&out), NULL, 10);
	str_release(&out);
	return count;
}

static void a_kernel_is_built_once(void **state KB_UNUSED)
{
	const char *const fragments[] = {at("one.config"), NULL};
	struct variant v = variant("v", "base", fragments);
	struct arena arena = ARENA_INIT;
	struct str text = STR_INIT;
	struct build made, again;

	make_ok(&v, &arena, &made);
	assert_false(made.from_cache);
	assert_string_equal(made.release, "6.12.9-fake");
	assert_string_equal(made.build_id, "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a");
	assert_string_equal(made.modules, "");
	assert_string_equal(made.code_sha256, ""); /* the fake has no sections */
	assert_true(file_exists(made.image));
	assert_int_equal(file_read(made.config, 65536, &text, NULL), 0);
	assert_non_null(strstr(str_text(&text), "CONFIG_SMP=y"));
	assert_int_equal(file_read(made.log, 65536, &text, NULL), 0);
	assert_non_null(strstr(str_text(&text), "  CC      init/main.o"));
	assert_non_null(strstr(str_text(&text), "# kbracket: variant v"));
	make_ok(&v, &arena, &again);
	assert_true(again.from_cache);
	assert_string_equal(again.key, made.key);
	assert_string_equal(again.image, made.image);
	assert_int_equal(count_builds(), 1);
	str_release(&text);
	arena_release(&arena);
}

static void equal_trees_are_one_build(void **state KB_UNUSED)
{
	static const char *const revert[] = {"changed", NULL};
	const char *const fragments[] = {at("one.config"), NULL};
	struct variant baseline = variant("baseline", "base", fragments),
		       changed = variant("changed", "changed", fragments),
		       reverted = variant("revert", "changed", fragments);
	struct arena arena = ARENA_INIT;
	struct build a, b, c;

	reverted.reverts = revert;
	make_ok(&baseline, &arena, &a);
	make_ok(&changed, &arena, &b);
	make_ok(&reverted, &arena, &c);
	assert_string_not_equal(a.key, b.key);
	assert_string_equal(a.key, c.key);
	assert_true(c.from_cache);
	assert_string_not_equal(a.commit, c.commit); /* what was asked for is still told */
	assert_int_equal(count_builds(), 2);
	arena_release(&arena);
}

static void equal_configs_are_one_build(void **state KB_UNUSED)
{
	const char *const first[] = {at("one.config"), NULL};
	const char *const second[] = {at("other.config"), NULL};
	struct variant a = variant("a", "base", first), b = variant("b", "base", second);
	struct arena arena = ARENA_INIT;
	struct build made, again;

	put(at("other.config"), "CONFIG_SMP=y\n# CONFIG_OFF is not set\n# another comment\n");
	put(at("one.config"), "CONFIG_SMP=y\n# CONFIG_OFF is not set\n# another comment\n\n");
	make_ok(&a, &arena, &made);
	put(at("other.config"), "CONFIG_SMP=y\n# CONFIG_OFF is not set\n# another comment\n\n");
	make_ok(&b, &arena, &again);
	assert_true(again.from_cache);
	assert_string_equal(made.key, again.key);
	put(at("other.config"), "CONFIG_SMP=y\n");
	make_ok(&b, &arena, &again);
	assert_string_not_equal(made.key, again.key);
	arena_release(&arena);
}

static void modules_are_kept_and_packed(void **state KB_UNUSED)
{
	const char *const fragments[] = {at("modules.config"), NULL};
	struct variant v = variant("v", "base", fragments);
	struct arena arena = ARENA_INIT;
	struct build made;
	struct stat st;
	char *path;

	v.config.base = "defconfig";
	make_ok(&v, &arena, &made);
	path = xasprintf("%s/lib/modules/6.12.9-fake/x.ko", made.modules);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_uid, geteuid());
	free(path);
	path = xasprintf("%s/lib/modules/6.12.9-fake/build", made.modules);
	assert_int_not_equal(lstat(path, &st), 0);
	free(path);
	path = xasprintf("%s.tar.zst", made.modules);
	assert_true(file_size(path) > 0);
	free(path);
	arena_release(&arena);
}

static bool image_holds(const struct build *made, const char *text)
{
	struct str image = STR_INIT;
	bool holds;

	assert_int_equal(file_read(made->image, 1 << 20, &image, NULL), 0);
	holds = memmem(str_text(&image), image.len, text, strlen(text));
	str_release(&image);
	return holds;
}

/* ccache must not give back an object that took in what another file held then. */
static void what_is_taken_in_is_the_present_file(void **state KB_UNUSED)
{
	struct variant v = variant("v", "first", none);
	char *ccache = proc_find_program("ccache");
	struct arena arena = ARENA_INIT;
	struct build made;

	if (!ccache)
		skip();
	free(ccache);
	put(at("repo/piggy.S"), ".section .rodata\n.incbin \"payload\"\n");
	put(at("repo/payload"), "the first kernel");
	commit("first");
	put(at("repo/payload"), "the other kernel");
	commit("other");
	make_ok(&v, &arena, &made);
	assert_true(image_holds(&made, "the first kernel"));
	v.ref = "other";
	make_ok(&v, &arena, &made);
	assert_true(image_holds(&made, "the other kernel"));
	arena_release(&arena);
}

/* The kernel's build would draw a new key in every new output folder. */
static void module_signatures_have_one_key(void **state KB_UNUSED)
{
	struct variant v = variant("v", "base", none);
	struct arena arena = ARENA_INIT;
	struct str first = STR_INIT, second = STR_INIT, config = STR_INIT;
	struct build made;

	put(at("whole.config"), "CONFIG_MODULE_SIG=y\n"
				"CONFIG_MODULE_SIG_KEY=\"certs/signing_key.pem\"\n");
	v.config.base = at("whole.config");
	make_ok(&v, &arena, &made);
	assert_int_equal(file_read(made.config, 65536, &config, NULL), 0);
	assert_non_null(strstr(str_text(&config), "/module-key.pem\"\n"));
	assert_int_equal(file_read(at("cache/ccache/module-key.pem"), 65536, &first, NULL), 0);
	assert_non_null(strstr(str_text(&first), "PRIVATE KEY"));
	assert_int_equal(file_remove_tree(at("cache/work"), NULL), 0);
	v.ref = "changed";
	make_ok(&v, &arena, &made);
	assert_int_equal(file_read(at("cache/ccache/module-key.pem"), 65536, &second, NULL), 0);
	assert_string_equal(str_text(&first), str_text(&second));
	str_release(&first);
	str_release(&second);
	str_release(&config);
	arena_release(&arena);
}

static void lost_fragments_are_told(void **state KB_UNUSED)
{
	const char *const lost[] = {at("one.config"), at("lost.config"), NULL};
	const char *const mended[] = {
		at("one.config"), at("lost.config"), at("later.config"), NULL};
	const char *const absent[] = {at("nowhere.config"), NULL};
	struct variant v = variant("v", "base", lost);
	struct arena arena = ARENA_INIT;
	struct build made;
	struct err err = ERR_INIT;

	assert_int_equal(build(&v, &arena, &made, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "lost.config:2: CONFIG_NOT_HERE=y became n"));
	v.config.fragments = mended;
	make_ok(&v, &arena, &made);
	v.config.fragments = absent;
	assert_int_equal(build(&v, &arena, &made, &err), ERR_USAGE);
	put(at("nowhere.config"), "CONFIG_X=y\nnonsense\n");
	assert_int_equal(build(&v, &arena, &made, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "nowhere.config:2: this is neither"));
	arena_release(&arena);
}

static void failed_builds_name_the_error(void **state KB_UNUSED)
{
	const char *const fragments[] = {at("one.config"), NULL};
	struct variant v = variant("v", "broken", fragments);
	struct arena arena = ARENA_INIT;
	struct str log = STR_INIT;
	struct build made;
	struct err err = ERR_INIT;
	char *path;

	put(at("repo/broken"), "");
	commit("broken");
	assert_int_equal(build(&v, &arena, &made, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "variant v: the build failed"));
	assert_non_null(strstr(err.text, "init/main.c:3:1: error: broken by test"));
	path = strstr(err.text, "log: ");
	assert_non_null(path);
	assert_int_equal(file_read(path + strlen("log: "), 65536, &log, NULL), 0);
	/* it is mended, and built in the same tree */
	v.ref = "changed";
	make_ok(&v, &arena, &made);
	str_release(&log);
	arena_release(&arena);
}

static void a_missing_program_is_named(void **state KB_UNUSED)
{
	const char *const fragments[] = {at("one.config"), NULL};
	struct variant v = variant("v", "lacking", fragments);
	struct arena arena = ARENA_INIT;
	struct build made;
	struct err err = ERR_INIT;

	put(at("repo/lacking"), "");
	commit("lacking");
	assert_int_equal(build(&v, &arena, &made, &err), ERR_INFRA);
	assert_non_null(strstr(err.text, "/no/packer: not found; log: "));
	arena_release(&arena);
}

static void recipes_that_cannot_work_are_refused(void **state KB_UNUSED)
{
	const char *const fragments[] = {at("one.config"), NULL};
	const char *const patches[] = {at("p.patch"), NULL};
	const char *const nowhere[] = {"base", "nowhere", NULL};
	struct variant v = variant("v", "none", fragments);
	struct arena arena = ARENA_INIT;
	struct resolved resolved;
	struct build made;
	struct err err = ERR_INIT;

	assert_int_equal(builder_for(&v)->resolve(&v, &arena, &resolved, &err), ERR_USAGE);
	assert_int_equal(build(&v, &arena, &made, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "variant v"));
	v.ref = "base";
	v.reverts = nowhere;
	assert_int_equal(builder_for(&v)->resolve(&v, &arena, &resolved, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "cannot revert "));
	v.picks = nowhere;
	v.reverts = nowhere + 2;
	assert_int_equal(builder_for(&v)->resolve(&v, &arena, &resolved, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "cannot cherry-pick "));
	v.picks = nowhere + 2;
	v.patches = patches;
	assert_int_equal(build(&v, &arena, &made, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "there is no patch"));
	put(at("p.patch"), "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-int b;\n+int c;\n");
	assert_int_equal(build(&v, &arena, &made, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "patch does not apply: p.patch: a.c: hunk 1 of 1"));
	err.text[0] = '\0';
	assert_int_equal(builder_for(&v)->resolve(&v, &arena, &resolved, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "patch does not apply: p.patch: a.c: hunk 1 of 1"));
	v.arch = "vax";
	assert_int_equal(build(&v, &arena, &made, &err), ERR_USAGE);
	arena_release(&arena);
}

static void patches_are_built(void **state KB_UNUSED)
{
	const char *const fragments[] = {at("one.config"), NULL};
	const char *const patches[] = {at("series"), NULL};
	struct variant v = variant("v", "base", fragments);
	struct arena arena = ARENA_INIT;
	struct str text = STR_INIT;
	struct strv work = STRV_INIT;
	struct build made;
	char *source;

	v.patches = patches;
	put(at("series/0002-second.patch"),
		"--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-int c;\n+int d;\n");
	put(at("series/0001-first.patch"), "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-int a;\n+int c;\n");
	put(at("series/README"), "not a patch");
	make_ok(&v, &arena, &made);
	assert_int_equal(file_list(at("cache/work"), &work, NULL), 0);
	source = xasprintf("%s/%s/src/a.c", at("cache/work"), work.items[0]);
	assert_int_equal(file_read(source, 65536, &text, NULL), 0);
	assert_string_equal(str_text(&text), "int d;\n");
	free(source);
	strv_release(&work);
	str_release(&text);
	arena_release(&arena);
}

/* A build that was killed with its kbracket neither goes on nor stands in the way of the next. */
static void killed_builds_leave_nothing_behind(void **state KB_UNUSED)
{
	const char *const fragments[] = {at("one.config"), NULL};
	struct variant v = variant("v", "slow", fragments);
	int64_t deadline = clock_now_ns() + 60 * NS_PER_S;
	struct arena arena = ARENA_INIT;
	struct build made;
	pid_t pid;

	put(at("repo/slow"), "");
	commit("slow");
	assert_int_equal(file_mkdirs(at("cache/work"), 0755, NULL), 0);
	pid = fork();
	if (pid == 0) {
		(void)!build(&v, &arena, &made, NULL);
		_exit(0);
	}
	while (count_builds() == 0 && clock_now_ns() < deadline)
		clock_sleep_ns(50 * NS_PER_MS);
	assert_int_equal(count_builds(), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	v.ref = "changed";
	make_ok(&v, &arena, &made);
	assert_true(clock_now_ns() < deadline); /* not after the 1000 s that it sleeps */
	arena_release(&arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Opening a repository with libgit2 1.5 leaks what it takes from PCRE2 to match names in its
 * config. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpcre2-8.so";
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_kernel_is_built_once),
		TEST(equal_trees_are_one_build),
		TEST(equal_configs_are_one_build),
		TEST(modules_are_kept_and_packed),
		TEST(what_is_taken_in_is_the_present_file),
		TEST(module_signatures_have_one_key),
		TEST(lost_fragments_are_told),
		TEST(failed_builds_name_the_error),
		TEST(a_missing_program_is_named),
		TEST(recipes_that_cannot_work_are_refused),
		TEST(patches_are_built),
		TEST(killed_builds_leave_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
