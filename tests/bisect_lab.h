/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_BISECT_LAB_H
#define KB_TESTS_BISECT_LAB_H

#include "base/base.h"

#include <sys/stat.h>

#include "fake_kernel.h"
#include "git_repo.h"
#include "real_lab.h"

/*
 * A lab for bisects whose kernels take no time: the program kbracket-fake (fake_backend.c), a git
 * repository in whose commits "level" says how fast the kernel is, and a suite that prints that
 * number, scattered by half a percent in an order that never changes. A kernel with CONFIG_SLOW is
 * a tenth slower. "mode" says how it boots (fake_lab.h); one with "broken" does not build.
 */
static const char bisect_makefile[] =
	"SHELL := /bin/bash\n"
	"S := $(CURDIR)\n"
	"allnoconfig:\n"
	"\t@cp $(KCONFIG_ALLCONFIG) $(O)/.config && $(MAKE) -s -f $(S)/Makefile olddefconfig\n"
	"olddefconfig:\n"
	"\t@tac $(O)/.config | awk -F'[= ]' '{ s = $$1 == \"#\" ? $$2 : $$1 } !seen[s]++' | tac"
	" >$(O)/tmp && mv $(O)/tmp $(O)/.config\n"
	"bzImage:\n"
	"\t@test ! -e $(S)/broken || { echo 'a.c:3:1: error: broken by test'; exit 2; }\n"
	"\t@mkdir -p $(O)/arch/x86/boot\n"
	"\t@id=$$(cat $(S)/[a-z]* $(O)/.config | sha1sum | cut -c1-40) &&"
	" { head -c 136 $(S)/vmlinux.bin; printf \"$$(echo $$id | sed 's/../\\\\x&/g')\";"
	" tail -c +157 $(S)/vmlinux.bin; } >$(O)/vmlinux &&"
	" level=$$(cat $(S)/level) && if grep -q '^CONFIG_SLOW=y' $(O)/.config;"
	" then level=$$((level * 9 / 10)); fi &&"
	" echo 6.12.9-fake $$id $$(cat $(S)/mode) $$level >$(O)/arch/x86/boot/bzImage\n"
	"modules modules_install:\n";

static const char bisect_program[] = "#!/bin/sh\n"
				     "read -r release id mode level <\"$FAKE_STATE/image\"\n"
				     "count=$(cat \"$FAKE_STATE/count\" 2>/dev/null)\n"
				     "count=$((${count:-0} + 1))\n"
				     "echo $count >\"$FAKE_STATE/count\"\n"
				     "echo rate: $((level * (995 + count * 7 % 11)))\n";

static const char bisect_suite[] =
	"suite: rate\n"
	"about: how fast the fake kernel is\n"
	"program: rate\n"
	"conditions:\n"
	"  one: { argv: [rate] }\n"
	"env: { FAKE_STATE: %L/box }\n"
	"expect: 10ms\n"
	"metrics:\n"
	"  rate: { unit: x/s, better: higher, regex: '^rate: ([0-9]+)$' }\n";

/* What one commit of the history changes. */
struct bisect_change {
	const char *file, *text;
};

/* Text with the lab's folder for each %L. */
KB_UNUSED static void bisect_lab_write(struct real_lab *lab, const char *name, const char *text)
{
	struct str full = STR_INIT;

	for (const char *at; (at = strstr(text, "%L")); text = at + 2) {
		str_add_bytes(&full, text, (size_t)(at - text));
		str_add(&full, lab->folder);
	}
	str_add(&full, text);
	real_lab_write(lab, name, str_text(&full));
	str_release(&full);
}

/* A file of the lab that holds any bytes. */
static void bisect_lab_bytes(struct real_lab *lab, const char *name, const struct str *bytes)
{
	char *path = path_join(lab->folder, name);

	assert_int_equal(file_write_atomic(path, str_text(bytes), bytes->len, 0644, NULL), 0);
	free(path);
}

static void bisect_lab_commit(struct real_lab *lab, const char *subject, const char *tag)
{
	char *repo = path_join(lab->folder, "tree");

	(void)git(repo, "add", "-A", NULL);
	(void)git(repo, "commit", "-q", "--allow-empty", "-m", subject, NULL);
	(void)git(repo, "tag", tag, NULL);
	free(repo);
}

/* Tags c0 (level 1000), then c1, c2... for each of the changes. */
KB_UNUSED static void bisect_lab_history(
	struct real_lab *lab, const struct bisect_change *changes, size_t count)
{
	struct str vmlinux = STR_INIT;

	real_lab_write(lab, "tree/Makefile", bisect_makefile);
	real_lab_write(lab, "tree/level", "1000\n");
	real_lab_write(lab, "tree/mode", "ok\n");
	fake_vmlinux(&vmlinux, 0x5a, FAKE_BANNER("6.12.9-fake", "1"));
	bisect_lab_bytes(lab, "tree/vmlinux.bin", &vmlinux);
	str_release(&vmlinux);
	(void)git(lab->folder, "init", "-q", "tree", NULL);
	bisect_lab_commit(lab, "c0: begin", "c0");
	for (size_t i = 0; i < count; i++) {
		char *name = xasprintf("tree/%s", changes[i].file);
		char *tag = xasprintf("c%zu", i + 1);
		char *subject = xasprintf("%s: change %zu", changes[i].file, i + 1);

		if (changes[i].text)
			real_lab_write(lab, name, changes[i].text);
		else
			(void)git(lab->folder, "-C", "tree", "rm", "-q", changes[i].file, NULL);
		bisect_lab_commit(lab, subject, tag);
		free(name);
		free(tag);
		free(subject);
	}
}

KB_UNUSED static struct real_lab *bisect_lab_new(void)
{
	struct real_lab *lab = real_lab_new(NULL);
	char *path = path_join(lab->folder, "rate.sh");

	lab->program = "kbracket-fake";
	real_lab_write(lab, "rate.sh", bisect_program);
	assert_int_equal(chmod(path, 0755), 0);
	bisect_lab_write(lab, "suites/rate.yaml", bisect_suite);
	bisect_lab_write(lab, "configs/machines/box.yaml",
		"machine: box\nconnect: { ssh: nowhere }\ncpus: 4\nworkdir: %L/box\n"
		"boot_timeout: 1s\nprograms: { rate: ../../rate.sh }\n");
	real_lab_write(lab, "kernels/k.yaml",
		"tree: ../tree\nconfig: { base: allnoconfig, fragments: [one.config] }\n"
		"variants:\n  any: { ref: c0 }\n");
	real_lab_write(lab, "kernels/one.config", "CONFIG_SMP=y\n");
	free(path);
	return lab;
}

#endif
