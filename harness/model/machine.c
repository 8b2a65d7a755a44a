/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/strv.h"
#include "sys/json_put.h"
#include "model/machine.h"
#include "model/name.h"
#include "model/template.h"

static const char *const kind_names[] = {
	[MACHINE_SSH] = "ssh", [MACHINE_QEMU] = "qemu", [MACHINE_LOCAL] = "local", NULL};
static const char *const boot_names[] = {[BOOT_KEXEC] = "kexec",
	[BOOT_DIRECT] = "direct",
	[BOOT_REBOOT] = "reboot",
	[BOOT_NONE] = "none",
	NULL};
static const char *const accel_names[] = {
	[ACCEL_AUTO] = "auto", [ACCEL_KVM] = "kvm", [ACCEL_TCG] = "tcg", NULL};

const char *machine_kind_name(enum machine_kind kind)
{
	return kind_names[kind];
}

const char *boot_method_name(enum boot_method method)
{
	return boot_names[method];
}

/* As ssh(1) takes it: no option, no blanks. */
static int check_destination(const char *text, struct err *err)
{
	return name_check_ref(text, err)
		       ? err_set(err, ERR_USAGE, "is not a destination such as root@host")
		       : 0;
}

static int check_absolute(const char *text, struct err *err)
{
	if (text[0] != '/' || !text[1] || strstr(text, "/../") || str_ends(text, "/.."))
		return err_set(err, ERR_USAGE, "is not an absolute path");
	if (str_starts(text, "/boot/") || strcmp(text, "/tmp") == 0)
		return err_set(err, ERR_USAGE, "is shared; kbracket wants a folder of its own");
	return name_check_line(text, err);
}

static int check_initramfs(const char *text, struct err *err)
{
	struct pair items[] = {{"initrd", ""}, {"release", ""}};
	const struct pairs known = {items, ARRAY_SIZE(items)};
	int ret = name_check_line(text, err);

	return ret ? ret : template_check(text, &known, err);
}

static void read_connect(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base);
static json_t *connect_json(const struct opt *row, const void *base);

/* clang-format off */

#define QEMU(member) offsetof(struct qemu_spec, member)
const struct opt qemu_opts[] = {
	{"cpus", OPT_INT, QEMU(cpus), .def = "8", .min = 1, .max = 1024,
		.help = "virtual CPUs"},
	{"llcs", OPT_INT, QEMU(llcs), .def = "1", .min = 1, .max = 256,
		.help = "last-level-cache domains that the CPUs are split into"},
	{"memory", OPT_BYTES, QEMU(memory_bytes), .def = "2G", .min = 128 << 20, .max = 0x1p44,
		.help = "memory of the guest"},
	{"accel", OPT_CHOICE, QEMU(accel), .def = "auto", .choices = accel_names,
		.help = "KVM, emulation, or whichever works"},
	{"program", OPT_TEXT, QEMU(program), .def = "qemu-system-x86_64",
		.check = name_check_line, .help = "the emulator"},
	{"cpu", OPT_TEXT, QEMU(cpu), .check = name_check_ref,
		.help = "CPU model as QEMU names it; without it one that suits the accelerator"},
	OPT_END};

#define SSH(member) offsetof(struct ssh_host, member)
const struct opt ssh_opts[] = {
	{"to", OPT_TEXT, SSH(to), .required = true, .check = check_destination,
		.help = "destination as for ssh"},
	{"config", OPT_PATH, SSH(config), .check = name_check_line,
		.help = "the file of ssh's settings, instead of the user's"},
	OPT_END};

#define POWER(member) offsetof(struct machine_spec, member)
static const struct opt power_rows[] = {
	{"cycle", OPT_LIST, POWER(power_cycle), .max = 100, .check = name_check_line,
		.help = "argument list, run on this host, that turns the machine off and on"},
	{"wait", OPT_DURATION, POWER(power_wait_ns), .def = "1m", .min = 0, .max = 7200e9,
		.help = "how long a machine that does not answer is waited for before that"},
	{"limit", OPT_INT, POWER(power_limit), .def = "20", .min = 1, .max = 10000,
		.help = "restarts and power cycles in a row without a kernel coming up"},
	OPT_END};

#define TEMPERATURE(member) offsetof(struct temperature_spec, member)
static const struct opt temperature_rows[] = {
	{"within", OPT_DOUBLE, TEMPERATURE(within_c), .min = 0.1, .max = 100,
		.help = "degrees Celsius"},
	{"wait", OPT_DURATION, TEMPERATURE(wait_ns), .def = "2m", .max = 3600e9,
		.help = "how long a run waits for it at most"},
	OPT_END};

#define MACHINE(member) offsetof(struct machine_spec, member)
const struct opt machine_opts[] = {
	{"machine", OPT_TEXT, MACHINE(name), .required = true, .check = name_check,
		.help = "its name"},
	{"connect", OPT_CUSTOM, .required = true, .read = read_connect, .json = connect_json,
		.rows = qemu_opts, .help = "local, {ssh: DESTINATION} or {qemu: {...}}"},
	{"boot", OPT_CHOICE, MACHINE(boot), .def = "kexec", .choices = boot_names,
		.help = "how kernels are switched"},
	{"cold_every", OPT_INT, MACHINE(cold_every), .def = "0", .min = 0, .max = 1000,
		.help = "with boot: kexec, every so-manieth boot goes through the firmware"},
	{"cmdline", OPT_TEXT, MACHINE(cmdline), .def = "", .check = name_check_line,
		.help = "kernel command line that the machine needs"},
	{"initramfs", OPT_LIST, MACHINE(initramfs), .max = 100, .check = check_initramfs,
		.help = "argument list, run on the machine, that makes {initrd} for {release}"},
	{"keep", OPT_INT, MACHINE(keep), .def = "3", .min = 1, .max = 1000,
		.help = "kernels of kbracket's that stay on the machine"},
	{"power", OPT_MAP, 0, .rows = power_rows,
		.help = "how to get a dead machine back"},
	{"boot_timeout", OPT_DURATION, MACHINE(boot_timeout_ns), .def = "5m", .min = 1e9,
		.max = 7200e9, .help = "from the jump to a proved kernel"},
	{"cpus", OPT_INT, MACHINE(cpus), .min = 0, .max = MACHINE_CPUS_MAX,
		.help = "online CPUs, for planning without asking the machine"},
	{"tune", OPT_MAP, MACHINE(tune), .rows = tune_opts,
		.help = "how it is set while it is measured, and put back"},
	{"temperature", OPT_MAP, MACHINE(temperature), .rows = temperature_rows,
		.help = "runs begin about as warm as the first one"},
	{"programs", OPT_PAIRS, MACHINE(programs), .max = 100, .path = true,
		.check = name_check_line, .check_key = name_check,
		.help = "program and its path here; it is copied to the machine"},
	{"workdir", OPT_TEXT, MACHINE(workdir), .def = "/var/lib/kbracket",
		.check = check_absolute, .help = "our folder on the machine"},
	OPT_END};

/* clang-format on */

static void read_qemu(
	const struct opt_ctx *ctx, const struct ynode *node, struct machine_spec *machine)
{
	struct qemu_spec *qemu = &machine->qemu;

	if (opt_read_map(ctx, qemu_opts, node, qemu, "qemu"))
		return;
	if (qemu->cpus % qemu->llcs)
		opt_node_error(ctx, node, "llcs: %lld CPUs cannot be split evenly into %lld",
			(long long)qemu->cpus, (long long)qemu->llcs);
}

static void read_ssh(const struct opt_ctx *ctx, const struct ynode *node, struct ssh_host *host)
{
	if (node->kind == YNODE_MAP) {
		(void)!opt_read_map(ctx, ssh_opts, node, host, "ssh");
		return;
	}
	host->to = opt_node_text(ctx, node, "ssh");
	if (host->to)
		(void)opt_node_check(ctx, node, "ssh", host->to, check_destination);
}

static void read_connect(
	const struct opt_ctx *ctx, const struct opt *row, const struct ynode *node, void *base)
{
	struct machine_spec *machine = base;
	const struct ynode *value =
		node->kind == YNODE_MAP && node->count == 1 ? node->items[0] : NULL;
	const char *key = value ? node->keys[0]->text : "";

	if (node->kind == YNODE_SCALAR && strcmp(node->text, "local") == 0) {
		machine->kind = MACHINE_LOCAL;
	} else if (strcmp(key, "ssh") == 0) {
		machine->kind = MACHINE_SSH;
		read_ssh(ctx, value, &machine->ssh);
	} else if (strcmp(key, "qemu") == 0) {
		machine->kind = MACHINE_QEMU;
		read_qemu(ctx, value, machine);
	} else {
		opt_node_error(ctx, node, "%s is %s", row->name, row->help);
	}
}

static json_t *ssh_json(const struct ssh_host *host)
{
	return host->config ? opt_json(ssh_opts, host) : json_text(host->to);
}

static json_t *connect_json(const struct opt *row KB_UNUSED, const void *base)
{
	const struct machine_spec *machine = base;
	json_t *map;

	if (machine->kind == MACHINE_LOCAL)
		return json_text("local");
	map = json_object();
	json_put(map, kind_names[machine->kind],
		machine->kind == MACHINE_SSH ? ssh_json(&machine->ssh)
					     : opt_json(qemu_opts, &machine->qemu));
	return map;
}

/* Which boot methods a kind of machine can do; the first is what it does unless told otherwise. */
static void check_boot(
	const struct opt_ctx *ctx, const struct ynode *node, struct machine_spec *machine)
{
	static const enum boot_method known[][3] = {
		[MACHINE_SSH] = {BOOT_KEXEC, BOOT_REBOOT, BOOT_NONE},
		[MACHINE_QEMU] = {BOOT_KEXEC, BOOT_DIRECT, BOOT_DIRECT},
		[MACHINE_LOCAL] = {BOOT_NONE, BOOT_NONE, BOOT_NONE},
	};
	const struct ynode *boot = ynode_get(node, "boot");
	const enum boot_method *can = known[machine->kind];

	if (!boot)
		machine->boot = can[0];
	else if (machine->boot != can[0] && machine->boot != can[1] && machine->boot != can[2])
		opt_node_error(ctx, boot, "boot: %s does not go with connect: %s",
			boot_method_name(machine->boot), machine_kind_name(machine->kind));
}

int machine_read_node(
	struct arena *arena, const struct ynode *node, struct machine_spec *out, struct diag *diag)
{
	const struct opt_ctx ctx = {arena, opt_dir_of(arena, node->file), diag};
	struct machine_spec machine = {
		.place = {node->file, node->line, node->column}, .kind = MACHINE_SSH};
	size_t before = diag->count;

	if (opt_read_map(&ctx, machine_opts, node, &machine, "a machine"))
		return ERR_USAGE;
	check_boot(&ctx, node, &machine);
	if (machine.cold_every && (machine.kind != MACHINE_SSH || machine.boot != BOOT_KEXEC))
		opt_node_error(&ctx, ynode_get(node, "cold_every"),
			"cold_every: is for ssh machines that boot by kexec");
	if (machine.kind == MACHINE_QEMU && !machine.cpus)
		machine.cpus = machine.qemu.cpus;
	if (machine.kind == MACHINE_QEMU && machine.cpus != machine.qemu.cpus)
		opt_node_error(&ctx, ynode_get(node, "cpus"),
			"cpus: the guest has %lld; leave this out", (long long)machine.qemu.cpus);
	if (diag->count != before)
		return ERR_USAGE;
	*out = machine;
	return 0;
}

int machine_read(struct arena *arena, const char *path, struct machine_spec *out, struct diag *diag)
{
	const struct ynode *node;

	if (yaml_read_file(arena, path, &node, diag))
		return ERR_USAGE;
	return machine_read_node(arena, node, out, diag);
}

json_t *machine_json(const struct machine_spec *machine)
{
	return opt_json(machine_opts, machine);
}
