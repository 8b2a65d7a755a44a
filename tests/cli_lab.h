/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_CLI_LAB_H
#define KB_TESTS_CLI_LAB_H

#include "base/base.h"

#include "cli.h"

#define AA_CONFIG(duration)                                                                 \
	"experiment: aa\nmachines: [here]\nkernels: ../kernels/two.yaml\nbaseline: base\n"  \
	"variants: [same]\nsuites: [canary]\nsaturation: [100%%]\nduration: " duration "\n" \
	"design: { boots: 2, runs: 3, warmup: 1, seed: 1 }\n"

/* %s in the text is the test's folder. */
KB_UNUSED static void write_lab_file(const struct bench *bench, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", bench->folder, name), *folder = path_dir(path);
	struct str full = STR_INIT;
	struct err err = ERR_INIT;

	for (; *text; text++)
		if (str_starts(text, "%s")) {
			str_add(&full, bench->folder);
			text++;
		} else if (str_starts(text, "%%"))
			str_add_char(&full, *text++);
		else
			str_add_char(&full, *text);
	assert_int_equal(file_mkdirs(folder, 0755, &err), 0);
	assert_int_equal(file_write_atomic(path, str_text(&full), full.len, 0644, &err), 0);
	str_release(&full);
	free(path);
	free(folder);
}

/* A lab on this host, not booted: two "kernels" that are one, and the canary. */
KB_UNUSED static void make_lab(struct bench *bench)
{
	static const struct {
		const char *name, *text;
	} files[] = {
		{"configs/machines/here.yaml", "machine: here\nconnect: local\nboot: none\n"
					       "workdir: %s/work\n"},
		{"kernels/two.yaml", "variants:\n"
				     "  base: {}\n"
				     "  same: { like: base }\n"},
		{"configs/aa.yaml", AA_CONFIG("100ms")},
		{"configs/slow.yaml", AA_CONFIG("1s")},
	};
	char *share = realpath(".", NULL);

	assert_int_equal(setenv("KBRACKET_SHARE", share, 1), 0);
	free(share);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		write_lab_file(bench, files[i].name, files[i].text);
}

KB_UNUSED static size_t count_of(const struct str *text, const char *part)
{
	size_t count = 0;

	for (const char *at = str_text(text); (at = strstr(at, part)); at++)
		count++;
	return count;
}

/* The verdict on so few and short runs may be anything but a failure. */
KB_UNUSED static void expect_measured(int code, const struct bench *bench)
{
	if (code != 0 && code != 1 && code != 4)
		fail_msg("exit %d\n%s%s", code, str_text(&bench->out), str_text(&bench->chatter));
}

#endif
