/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/log.h"
#include "sys/proc.h"
#include "backend/kbuild.h"

/* A key of ours for signing modules, made once. It protects nothing: it only has to stay the same,
 * so that equal builds are equal. */
static int make_key_file(const char *path, struct err *err)
{
	char *made = xasprintf("%s.new", path);
	const char *argv[] = {"openssl", "req", "-new", "-nodes", "-utf8", "-sha256", "-days",
		"36500", "-batch", "-x509", "-newkey", "rsa:2048", "-subj", "/CN=kbracket modules",
		"-outform", "PEM", "-out", made, "-keyout", made, NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 120 * NS_PER_S};
	struct str key = STR_INIT;
	int ret;

	ret = proc_check(&spec, NULL, err);
	if (ret == 0)
		ret = file_read(made, 65536, &key, err);
	if (ret == 0) /* the build's user must read it */
		ret = file_write_atomic(path, str_text(&key), key.len, 0644, err);
	if (ret)
		(void)err_wrap(err, "cannot make a key for signing modules");
	(void)!file_remove_tree(made, NULL); /* only a copy */
	str_release(&key);
	free(made);
	return ret;
}

static int fix_module_key(struct kbuild *kb, struct err *err)
{
	char *path, *line;
	int ret = 0;

	if (!kbuild_config_has(kb, "CONFIG_MODULE_SIG=y") ||
		!kbuild_config_has(kb, "CONFIG_MODULE_SIG_KEY=\"certs/signing_key.pem\""))
		return 0;
	path = path_join(kb->scratch, "module-key.pem");
	line = xasprintf(
		"CONFIG_MODULE_SIG_KEY=\"%s/module-key.pem\"\n", sandbox_scratch(&kb->box));
	if (!file_exists(path))
		ret = make_key_file(path, err);
	if (ret == 0)
		ret = kbuild_append_config(kb, line, err);
	free(line);
	free(path);
	return ret;
}

int kbuild_fix_random(struct kbuild *kb, struct err *err)
{
	if (kbuild_config_has(kb, "CONFIG_RANDSTRUCT=y"))
		log_line(LOG_WARN,
			"variant %s: CONFIG_RANDSTRUCT lays structures out at random; the seed is "
			"the "
			"same for all variants built in %s, and another one if that folder is "
			"removed",
			kb->variant->name, kb->out);
	return fix_module_key(kb, err);
}
