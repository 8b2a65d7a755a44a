/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_FAKE_LAB_H
#define KB_TESTS_FAKE_LAB_H

#include "base/base.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "model/experiment.h"
#include "model/store_plan.h"
#include "run/engine.h"
#include "sys/proc.h"

/*
 * A FAKE machine and a FAKE builder for tests of the engine. No kernel is built or booted: a kernel
 * image is a text file, and a boot writes what that kernel would say about itself into a made-up
 * tree of /proc and /sys below workdir/root, which the real kbracket-agent then reads (--root).
 * Programs are really run by the real agent on this host. Each call of the builder is a line in the
 * file builds of the cache; of the calls for one image the first made it.
 *
 * Image: RELEASE BUILD_ID MODE. MODE is ok, hang (never comes back), wrong (another kernel comes
 * up), late (dies under the first run), counts (dies under the first run under counters), flaky
 * (comes up at the second try), no-build (cannot be built).
 *
 * The state outlives the process, as a machine on the network does; with a file "volatile" in the
 * workdir it does not, as a guest's does not. With "off" it does not answer when it is started,
 * with "cut" the next connection is lost after its command was run, with "half" the agent dies of
 * the loss when it has taken the next run and not yet started its program; with "fill-up" its disk
 * is full when the next run begins.
 */
struct machine {
	const struct machine_spec *spec;
	const struct machine_env *env;
	char *agent;
	struct strv paths;
};

struct fake_image {
	char release[64], build_id[64], mode[16];
};

static inline char *fake_path(const struct machine *machine, const char *name)
{
	return xasprintf("%s/%s", machine->spec->workdir, name);
}

static inline void fake_write(const char *folder, const char *name, const void *bytes, size_t len)
{
	char *path = xasprintf("%s/%s", folder, name), *parent = path_dir(path);
	struct err err = ERR_INIT;

	if (file_mkdirs(parent, 0755, &err) || file_write_atomic(path, bytes, len, 0644, &err))
		BUG("%s", err.text);
	free(parent);
	free(path);
}

static inline void fake_line(const char *folder, const char *name, const char *text)
{
	char *line = xasprintf("%s\n", text);

	fake_write(folder, name, line, strlen(line));
	free(line);
}

static inline bool fake_flag(const struct machine *machine, const char *name)
{
	char *path = fake_path(machine, name);
	bool there = file_exists(path);

	free(path);
	return there;
}

static inline void fake_unflag(const struct machine *machine, const char *name)
{
	char *path = fake_path(machine, name);

	(void)unlink(path);
	free(path);
}

static inline void fake_read_image(const char *path, struct fake_image *image)
{
	struct str text = STR_INIT;
	struct err err = ERR_INIT;

	if (file_read(path, 4096, &text, &err) ||
		sscanf(str_text(&text), "%63s %63s %15s", image->release, image->build_id,
			image->mode) != 3)
		BUG("fake image %s: %s", path, err.text);
	str_release(&text);
}

/* The ELF note that /sys/kernel/notes has, with a build-id of up to 20 bytes. */
static inline void fake_notes(const char *root, const char *build_id)
{
	unsigned char note[36] = {4, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
	size_t bytes = strlen(build_id) / 2;

	note[4] = (unsigned char)bytes;
	for (size_t i = 0; i < bytes && i < 20; i++) {
		char hex[3] = {build_id[2 * i], build_id[2 * i + 1], 0};

		note[16 + i] = (unsigned char)strtoul(hex, NULL, 16);
	}
	fake_write(root, "sys/kernel/notes", note, 16 + bytes);
}

/* From here on this kernel runs. */
static inline void fake_come_up(
	const struct machine *machine, const struct boot_image *kernel, const char *build_id)
{
	struct fake_image image;
	char *root = fake_path(machine, "root");
	struct str id = STR_INIT;
	struct err err = ERR_INIT;

	fake_read_image(kernel->image, &image);
	if (file_read_line("/proc/sys/kernel/random/uuid", &id, &err))
		BUG("%s", err.text);
	fake_line(root, "proc/sys/kernel/osrelease", image.release);
	fake_line(root, "proc/sys/kernel/random/boot_id", str_text(&id));
	fake_line(root, "proc/sys/kernel/tainted", "0");
	fake_line(root, "proc/cmdline", kernel->cmdline);
	fake_line(root, "sys/devices/system/cpu/online", "0-3");
	/* a feature that is written is then the only one */
	fake_line(root, "sys/kernel/debug/sched/features", "NI_RANDOM HRTICK");
	fake_line(root, "proc/sys/kernel/nmi_watchdog", "1");
	fake_notes(root, build_id ? build_id : image.build_id);
	/* the agent sets it to 1 while it counts, where it is */
	if (!strcmp(image.mode, "counts"))
		fake_line(root, "proc/sys/kernel/sched_schedstats", "0");
	else
		fake_unflag(machine, "root/proc/sys/kernel/sched_schedstats");
	fake_unflag(machine, "dead");
	fake_unflag(machine, "late");
	str_release(&id);
	free(root);
}

static inline int fake_open(const struct machine_spec *spec, const struct machine_env *env,
	struct machine **out, struct err *err)
{
	struct machine *machine = xcalloc(1, sizeof(*machine));

	machine->spec = spec;
	machine->env = env;
	machine->agent = fake_path(machine, "kbracket-agent");
	*out = machine;
	return file_mkdirs(spec->workdir, 0700, err);
}

static inline int fake_start(
	struct machine *machine, const struct boot_image *safe, struct err *err)
{
	int ret = file_copy(machine->env->agent, machine->agent, err);

	if (!ret && fake_flag(machine, "off"))
		ret = err_set(err, ERR_INFRA, "machine '%s': no answer", machine->spec->name);
	for (size_t i = 0; i < machine->env->program_count && !ret; i++) {
		const struct machine_program *program = &machine->env->programs[i];
		char *path = fake_path(machine, program->name);

		strv_add(&machine->paths, program->path ? path : "");
		if (program->path)
			ret = file_copy(program->path, path, err);
		free(path);
	}
	if (!ret && (fake_flag(machine, "volatile") || !fake_flag(machine, "root")))
		fake_come_up(machine, safe, NULL);
	return ret;
}

static inline void fake_set(const struct machine *machine, const char *name)
{
	fake_line(machine->spec->workdir, name, "");
}

static inline int fake_equip(struct machine *machine, struct err *err)
{
	return file_copy(machine->env->agent, machine->agent, err);
}

static inline int fake_boot(struct machine *machine, const struct boot_image *kernel,
	const char *console, struct err *err)
{
	struct fake_image image;
	char *folder;

	if (machine->spec->boot == BOOT_NONE)
		return 0;
	if (fake_flag(machine, "refuses"))
		return err_set(err, ERR_USAGE, "it loads no kernel");
	folder = path_dir(console);
	fake_read_image(kernel->image, &image);
	fake_line(folder, path_name(console), "fake console");
	free(folder);
	if (!strcmp(image.mode, "hang") ||
		(!strcmp(image.mode, "flaky") && !fake_flag(machine, "flaked"))) {
		fake_set(machine, "flaked");
		fake_set(machine, "dead");
		return err_set(err, ERR_TIMEOUT, "it did not answer in time");
	}
	fake_come_up(machine, kernel, !strcmp(image.mode, "wrong") ? "ffffffffffffffff" : NULL);
	if (!strcmp(image.mode, "late"))
		fake_set(machine, "late");
	return 0;
}

static inline int fake_recover(
	struct machine *machine, const struct boot_image *safe, struct err *err)
{
	if (fake_flag(machine, "broken"))
		return err_set(err, ERR_INFRA, "it does not come back");
	fake_come_up(machine, safe, NULL);
	return 0;
}

/* Something else takes all that is left on the machine's disk. */
static inline void fake_fill(const struct machine *machine)
{
	char *path = fake_path(machine, "ballast"), bytes[4096] = "";
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	fake_unflag(machine, "fill-up");
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
	free(path);
}

/* What the agent has of a run when it dies before it starts the program. */
static inline int fake_half(
	const struct machine *machine, const struct proc_spec *spec, struct err *err)
{
	const char *place = spec->argv[3];

	fake_unflag(machine, "half");
	if (mkdir(place, 0700))
		BUG("mkdir %s", place);
	fake_write(place, "spec.json", spec->input, spec->input_len);
	return err_set(err, ERR_INFRA, "the connection was lost");
}

/* As over a connection: a dead machine gives nothing back. */
static inline int fake_exec(struct machine *machine, const struct proc_spec *spec,
	struct proc_result *result, struct err *err)
{
	char *root = fake_path(machine, "root");
	struct strv argv = STRV_INIT;
	struct proc_spec call = *spec;
	int ret;

	if (!strcmp(spec->argv[1], "run") && fake_flag(machine, "half")) {
		free(root);
		return fake_half(machine, spec, err);
	}
	/* somebody tidied the machine up: once */
	if (fake_flag(machine, "tidied") && spec->argv[1] && !strcmp(spec->argv[1], "run")) {
		fake_unflag(machine, "tidied");
		(void)unlink(machine->agent);
	}
	if (!file_exists(machine->agent)) {
		free(root);
		result->exit_code = 127;
		str_add(&result->err_out, "sh: 1: kbracket-agent: not found");
		return 0;
	}
	if (!strcmp(spec->argv[1], "run") && fake_flag(machine, "fill-up"))
		fake_fill(machine);
	strv_add_many(&argv, spec->argv[0], "--root", root, NULL);
	strv_add_all(&argv, spec->argv + 1);
	call.argv = strv_argv(&argv);
	if (fake_flag(machine, "dead"))
		ret = err_set(err, ERR_INFRA, "no connection");
	else
		ret = proc_run(&call, result, err);
	if (!ret && fake_flag(machine, "dead"))
		ret = err_set(err, ERR_INFRA, "the connection was lost");
	if (!ret && fake_flag(machine, "cut")) {
		fake_unflag(machine, "cut");
		ret = err_set(err, ERR_INFRA, "the connection was cut");
	}
	strv_release(&argv);
	free(root);
	return ret;
}

static inline bool fake_alive(struct machine *machine)
{
	return !fake_flag(machine, "dead");
}

static inline const char *fake_workdir(const struct machine *machine)
{
	return machine->spec->workdir;
}

static inline const char *fake_agent(const struct machine *machine)
{
	return machine->agent;
}

static inline const char *fake_program_path(const struct machine *machine, const char *name)
{
	for (size_t i = 0; i < machine->paths.count; i++)
		if (!strcmp(machine->env->programs[i].name, name))
			return machine->paths.items[i][0] ? machine->paths.items[i] : NULL;
	return NULL;
}

static inline const char *fake_text(const struct machine *machine KB_UNUSED)
{
	return "fake";
}

static inline void fake_close(struct machine *machine)
{
	if (!machine)
		return;
	strv_release(&machine->paths);
	free(machine->agent);
	free(machine);
}

/* One more line; true when the image is in an earlier one. */
static inline bool fake_was_built(const char *cache, const char *key)
{
	char *path = xasprintf("%s/builds", cache);
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	bool was;

	(void)!file_read(path, 1 << 20, &text, &err); /* none yet */
	was = strstr(str_text(&text), key) != NULL;
	str_addf(&text, "%s\n", key);
	fake_write(cache, "builds", str_text(&text), text.len);
	str_release(&text);
	free(path);
	return was;
}

static inline int fake_build(const struct build_env *env, const struct variant *variant,
	struct arena *arena, struct build *out, struct err *err)
{
	char key[SHA256_HEX_LEN + 1];
	struct fake_image image;
	int ret = sha256_of_file(variant->prebuilt.image, key, err);

	if (ret)
		return ret;
	env->progress(env->arg, "CC fake.o");
	fake_read_image(variant->prebuilt.image, &image);
	if (!strcmp(image.mode, "no-build"))
		return err_set(err, ERR_INFRA, "fake.c:1: error: it does not compile");
	*out = (struct build){
		.key = arena_strdup(arena, key),
		.commit = "",
		.tree = "",
		.release = arena_strdup(arena, image.release),
		.proc_version = "",
		.build_id = arena_strdup(arena, image.build_id),
		.image = variant->prebuilt.image,
		.modules = "",
		.config = "",
		.config_sha256 = "",
		.compiler = "fake",
		.from_cache = fake_was_built(env->cache_dir, key),
		.log = variant->prebuilt.image,
	};
	return 0;
}

static inline const struct builder *fake_builder_for(const struct variant *variant KB_UNUSED)
{
	static const struct builder builder = {.name = "fake", .build = fake_build};

	return &builder;
}

static const struct backend_ops fake_ops = {
	.builder_for = fake_builder_for,
	.open = fake_open,
	.start = fake_start,
	.boot = fake_boot,
	.recover = fake_recover,
	.equip = fake_equip,
	.exec = fake_exec,
	.alive = fake_alive,
	.workdir = fake_workdir,
	.agent = fake_agent,
	.program_path = fake_program_path,
	.boot_method = fake_text,
	.about = fake_text,
	.close = fake_close,
};

#endif
