/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/stop.h"
#include "base/str.h"
#include "backend/machine.h"
#include "backend/machine_ops.h"

static const struct machine_ops *const kinds[] = {
	[MACHINE_SSH] = &machine_ssh,
	[MACHINE_QEMU] = &machine_qemu,
	[MACHINE_LOCAL] = &machine_local,
};

static const struct boot_ops *const methods[] = {
	[BOOT_KEXEC] = &boot_kexec,
	[BOOT_DIRECT] = &boot_direct,
	[BOOT_REBOOT] = &boot_reboot,
	[BOOT_NONE] = &boot_none,
};

/* A kernel that is loaded for kexec would be taken instead of the firmware's way by newer systemds.
 */
const char *const machine_reboot_argv[] = {"sh", "-c",
	"sync; kexec -u >/dev/null 2>&1; export SYSTEMCTL_SKIP_AUTO_KEXEC=1; "
	"(sleep 0.2; systemctl reboot || reboot || reboot -f) >/dev/null 2>&1 </dev/null &",
	NULL};

int machine_open(const struct machine_spec *spec, const struct machine_env *env,
	struct machine **out, struct err *err)
{
	struct machine *machine;
	int ret;

	machine = xcalloc(1, sizeof(*machine));
	machine->spec = spec;
	machine->env = env;
	machine->ops = kinds[spec->kind];
	machine->boot = methods[spec->boot];
	machine->workdir = xstrdup(spec->workdir);
	machine->agent = xasprintf("%s/kbracket-agent", spec->workdir);
	machine->about = xstrdup(machine->ops->name);
	ret = machine->ops->open(machine, err);
	if (ret) {
		machine_close(machine);
		return err_wrap(err, "machine '%s'", spec->name);
	}
	*out = machine;
	return 0;
}

int machine_boot_id(struct machine *machine, int64_t timeout_ns, struct str *out, struct err *err)
{
	const char *argv[] = {"cat", "/proc/sys/kernel/random/boot_id", NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = timeout_ns, .max_output_bytes = 4096};
	struct proc_result result = PROC_RESULT_INIT;
	int ret = machine_exec(machine, &spec, &result, err);

	if (ret == 0 && (result.exit_code != 0 || result.out.len != 37))
		ret = err_set(err, ERR_INFRA, "no boot_id was answered");
	if (ret == 0) {
		str_reset(out);
		str_add_bytes(out, result.out.text, 36);
	}
	proc_result_release(&result);
	return ret;
}

/* One try: 0 when the machine answers from another boot than the old one, ERR_TIMEOUT when it is
 * worth trying again, with the reason in *last. */
static int try_answer(
	struct machine *machine, const char *old_boot_id, int64_t timeout_ns, struct err *last)
{
	struct str boot_id = STR_INIT;
	int ret = machine->ops->ready ? machine->ops->ready(machine, last) : 1;

	if (ret < 0)
		return ret;
	if (ret == 0)
		return err_set(last, ERR_TIMEOUT, "its system is not up");
	ret = machine_boot_id(machine, timeout_ns, &boot_id, last);
	if (ret == 0 && old_boot_id && strcmp(old_boot_id, str_text(&boot_id)) == 0)
		ret = err_set(last, ERR_TIMEOUT, "it still runs the kernel of before");
	else if (ret && ret != ERR_INTERRUPTED)
		ret = ERR_TIMEOUT;
	str_release(&boot_id);
	return ret;
}

int machine_wait_answer(
	struct machine *machine, const char *old_boot_id, int64_t deadline_ns, struct err *err)
{
	struct err last = ERR_INIT;
	int ret;

	for (;;) {
		int64_t left = deadline_ns - clock_now_ns();

		ret = stop_check(err);
		if (ret)
			return ret;
		if (left <= 0)
			return err_set(
				err, ERR_TIMEOUT, "no answer in time (last: %.300s)", last.text);
		ret = try_answer(
			machine, old_boot_id, left < 10 * NS_PER_S ? left : 10 * NS_PER_S, &last);
		if (ret != ERR_TIMEOUT)
			break;
		clock_sleep_ns(100 * NS_PER_MS);
	}
	return ret ? err_set(err, ret, "%.300s", last.text) : 0;
}

/* Finds or puts every program that the suites need. */
static int place_programs(struct machine *machine, struct err *err)
{
	strv_release(&machine->program_paths);
	for (size_t i = 0; i < machine->env->program_count; i++) {
		const struct machine_program *program = &machine->env->programs[i];
		char *name;
		int ret;

		if (!program->path) {
			strv_add(&machine->program_paths, "");
			continue;
		}
		name = xasprintf("programs/%.16s-%s", program->sha256, program->name);
		ret = machine_put(machine, program->path, name, 0755, err);
		strv_addf(&machine->program_paths, "%s/%s", machine->workdir, name);
		free(name);
		if (ret)
			return err_wrap(err, "program '%s'", program->name);
	}
	return 0;
}

/* A kind without put_agent brings both in its image and fills program_paths itself. */
static int equip(struct machine *machine, struct err *err)
{
	int ret;

	if (!machine->ops->put_agent)
		return 0;
	ret = machine->ops->put_agent(machine, err);
	return ret ? ret : place_programs(machine, err);
}

int machine_equip(struct machine *machine, struct err *err)
{
	int ret = equip(machine, err);

	return ret ? err_wrap(err, "machine '%s'", machine->spec->name) : 0;
}

int machine_start(struct machine *machine, const struct boot_image *safe, struct err *err)
{
	int ret = machine->ops->start(machine, safe, err);

	if (ret == 0)
		ret = equip(machine, err);
	return ret ? err_wrap(err, "machine '%s'", machine->spec->name) : 0;
}

static int boot_and_wait(struct machine *machine, const struct boot_image *image, struct err *err)
{
	const struct boot_ops *boot = image->cold ? &boot_reboot : machine->boot;
	struct str old = STR_INIT;
	int ret = 0;

	if (boot->wait_after)
		ret = machine_boot_id(machine, 30 * NS_PER_S, &old, err);
	if (ret == 0)
		ret = boot->boot(machine, image, err);
	if (ret == 0 && boot->wait_after) {
		if (machine->ops->forget)
			machine->ops->forget(machine);
		ret = machine_wait_answer(machine, str_text(&old),
			clock_now_ns() + machine->spec->boot_timeout_ns, err);
		if (ret == 0 && machine->ops->came_up)
			ret = machine->ops->came_up(machine, image, err);
	}
	if (ret == 0 && boot->check)
		ret = boot->check(machine, err);
	str_release(&old);
	return ret;
}

int machine_boot(struct machine *machine, const struct boot_image *image, const char *console_path,
	struct err *err)
{
	int ret = 0;

	if (console_path && machine->ops->console)
		ret = machine->ops->console(machine, console_path, err);
	if (ret == 0)
		ret = boot_and_wait(machine, image, err);
	if (ret == 0 && machine->boot != &boot_none)
		ret = equip(machine, err);
	return ret ? err_wrap(err, "machine '%s'", machine->spec->name) : 0;
}

int machine_recover(struct machine *machine, const struct boot_image *safe, struct err *err)
{
	int ret;

	if (!machine->ops->recover)
		return err_set(err, ERR_INFRA, "machine '%s' has no way to be power-cycled",
			machine->spec->name);
	ret = machine->ops->recover(machine, safe, err);
	if (ret == 0)
		ret = equip(machine, err);
	return ret ? err_wrap(err, "recovering machine '%s'", machine->spec->name) : 0;
}

int machine_exec(struct machine *machine, const struct proc_spec *spec, struct proc_result *result,
	struct err *err)
{
	return machine->ops->exec(machine, spec, result, err);
}

int machine_ask(
	struct machine *machine, const struct proc_spec *spec, struct str *out, struct err *err)
{
	struct proc_result result = PROC_RESULT_INIT;
	struct str text = STR_INIT;
	int ret = machine_exec(machine, spec, &result, err);

	if (ret == 0 && result.exit_code != 0) {
		size_t skip = result.err_out.len > 300 ? result.err_out.len - 300 : 0;

		proc_describe(&result, &text);
		str_add(&text, ": ");
		str_add_safe(&text, str_text(&result.err_out) + skip, result.err_out.len - skip);
		ret = err_set(err, result.timed_out ? ERR_TIMEOUT : ERR_INFRA, "'%s' there: %s",
			spec->argv[0], str_text(&text));
	}
	if (ret == 0 && out) {
		str_reset(out);
		str_add_bytes(out, str_text(&result.out), result.out.len);
	}
	str_release(&text);
	proc_result_release(&result);
	return ret;
}

int machine_check(struct machine *machine, const struct proc_spec *spec, struct err *err)
{
	return machine_ask(machine, spec, NULL, err);
}

int machine_command(
	struct machine *machine, const char *const *argv, int64_t timeout_ns, struct err *err)
{
	struct proc_spec spec = {.argv = argv, .timeout_ns = timeout_ns};

	return machine_check(machine, &spec, err);
}

/* The agent receives the file on its stdin, checks size and hash, and renames it into place; it
 * answers at once, without reading, when the same content is there already. */
int machine_put(struct machine *machine, const char *local_path, const char *name, unsigned mode,
	struct err *err)
{
	char hex[SHA256_HEX_LEN + 1], size[32], mode_text[16];
	char *remote = xasprintf("%s/%s", machine->workdir, name);
	const char *argv[] = {machine->agent, "receive", remote, size, hex, mode_text, NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = 600 * NS_PER_S};
	int ret = sha256_of_file(local_path, hex, err);

	(void)snprintf(size, sizeof(size), "%lld", (long long)file_size(local_path));
	(void)snprintf(mode_text, sizeof(mode_text), "%o", mode);
	spec.input_fd = open(local_path, O_RDONLY | O_CLOEXEC);
	if (ret == 0 && spec.input_fd < 0)
		ret = err_errno(err, ERR_INFRA, errno, "cannot open %s", local_path);
	if (ret == 0)
		ret = machine_check(machine, &spec, err);
	if (spec.input_fd >= 0)
		(void)close(spec.input_fd);
	free(remote);
	return ret ? err_wrap(err, "putting %s there", local_path) : 0;
}

const char *machine_workdir(const struct machine *machine)
{
	return machine->workdir;
}

const char *machine_agent(const struct machine *machine)
{
	return machine->agent;
}

const char *machine_program_path(const struct machine *machine, const char *name)
{
	for (size_t i = 0; i < machine->program_paths.count; i++)
		if (strcmp(machine->env->programs[i].name, name) == 0)
			return machine->program_paths.items[i][0] ? machine->program_paths.items[i]
								  : NULL;
	return NULL;
}

const char *machine_boot_method(const struct machine *machine)
{
	return machine->boot->name;
}

const char *machine_about(const struct machine *machine)
{
	return machine->about;
}

bool machine_alive(struct machine *machine)
{
	return !machine->ops->alive || machine->ops->alive(machine);
}

void machine_close(struct machine *machine)
{
	if (!machine)
		return;
	machine->ops->close(machine);
	strv_release(&machine->program_paths);
	free(machine->workdir);
	free(machine->agent);
	free(machine->about);
	free(machine);
}
