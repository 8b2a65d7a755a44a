/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <unistd.h>

#include "base/log.h"
#include "base/strv.h"
#include "run/hooks.h"
#include "sys/proc.h"

static void make_env(const struct engine *engine, const struct hook *hook, const struct rig *rig,
	const struct store_boot *boot, struct strv *env)
{
	bool built = rig && boot && rig_is_booted(rig);

	for (char **entry = environ; *entry; entry++)
		if (!str_starts(*entry, "KBRACKET_"))
			strv_add(env, *entry);
	strv_addf(env, "KBRACKET_HOOK=%s", hook_point_name(hook->at));
	strv_addf(env, "KBRACKET_MACHINE=%s", rig ? rig->plan->machine->name : "");
	strv_addf(env, "KBRACKET_VARIANT=%s", boot ? boot->variant->name : "");
	strv_addf(env, "KBRACKET_RELEASE=%s",
		built ? engine->builds[boot->variant->position].release : "");
	strv_addf(env, "KBRACKET_RESULTS=%s", store_folder(engine->store));
}

static int call(struct engine *engine, const struct hook *hook, const struct rig *rig,
	const struct store_boot *boot, struct err *err)
{
	struct strv env = STRV_INIT;
	struct proc_spec spec = {.argv = hook->argv, .timeout_ns = hook->timeout_ns};
	int ret;

	make_env(engine, hook, rig, boot, &env);
	spec.env = strv_argv(&env);
	ret = proc_check(&spec, NULL, err);
	strv_release(&env);
	return ret ? err_wrap(err, "hook %s: %s", hook_point_name(hook->at), hook->argv[0]) : 0;
}

int hooks_call(struct engine *engine, enum hook_point at, const struct rig *rig,
	const struct store_boot *boot, struct str *trouble, struct err *err)
{
	for (size_t i = 0; i < engine->experiment->hook_count; i++) {
		const struct hook *hook = &engine->experiment->hooks[i];
		struct err why = ERR_INIT;
		int ret;

		if (hook->at != at)
			continue;
		ret = call(engine, hook, rig, boot, &why);
		if (!ret)
			continue;
		if (ret == ERR_INTERRUPTED || hook->failure == HOOK_STOP)
			return err_set(
				err, ret == ERR_INTERRUPTED ? ret : ERR_INFRA, "%s", why.text);
		if (hook->failure == HOOK_IGNORE)
			continue;
		log_line(LOG_WARN, "%s", why.text);
		engine_note(engine, boot ? boot->id : 0, "hook", "%s", why.text);
		if (trouble)
			str_addf(trouble, "%s%.300s", trouble->len ? "; " : "", why.text);
	}
	return 0;
}
