/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kbracket doctor asks a machine, and the 30 seconds in which it measures there. */
#include "base/base.h"

#include <math.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/strv.h"
#include "cmd/doctor.h"
#include "report/health.h"
#include "stat/describe.h"
#include "sys/compress.h"

enum { ANSWER_MAX_BYTES = 4 << 20, RUNS = 8 };
#define REST_NS (5 * NS_PER_S)
#define ASK_NS (60 * NS_PER_S)

/* Its stdout. *ok false: it failed, or there is no such program; that is no error. */
static int ask(struct machine *machine, const char *const *argv, struct str *out, bool *ok,
	struct err *err)
{
	struct proc_result result = PROC_RESULT_INIT;
	const struct proc_spec spec = {
		.argv = argv, .timeout_ns = ASK_NS, .max_output_bytes = ANSWER_MAX_BYTES};
	int ret = machine_exec(machine, &spec, &result, err);

	*ok = !ret && !result.exit_code && !result.signal && !result.timed_out &&
	      !result.output_limit;
	str_reset(out);
	if (*ok)
		str_add_bytes(out, result.out.text, result.out.len);
	proc_result_release(&result);
	return ret == ERR_NOT_FOUND ? 0 : ret;
}

/* Programs that the machine's own file makes necessary there. */
static void list_programs(const struct machine_spec *spec, struct strv *out)
{
	if (spec->boot == BOOT_KEXEC)
		strv_add(out, "kexec");
	if (argv_count(spec->initramfs))
		strv_add(out, spec->initramfs[0]);
	if (argv_count(spec->tune.stop) || spec->tune.irqbalance)
		strv_add(out, "systemctl");
}

static int look_around(struct health *findings, struct machine *machine,
	const struct machine_spec *spec, struct err *err)
{
	struct strv programs = STRV_INIT, argv = STRV_INIT;
	struct str out = STR_INIT;
	json_t *survey = NULL;
	bool ok;
	int ret;

	list_programs(spec, &programs);
	strv_add_many(&argv, machine_agent(machine), "survey", machine_workdir(machine), NULL);
	strv_addf(&argv, "%lld", (long long)REST_NS);
	strv_add_all(&argv, strv_argv(&programs));
	ret = ask(machine, strv_argv(&argv), &out, &ok, err);
	if (!ret && !ok)
		ret = err_set(
			err, ERR_INFRA, "machine '%s': kbracket-agent survey failed", spec->name);
	if (!ret)
		ret = json_parse(str_text(&out), out.len, ANSWER_MAX_BYTES, &survey, err);
	if (!ret)
		health_survey(findings, survey, spec, strv_argv(&programs));
	json_decref(survey);
	str_release(&out);
	strv_release(&argv);
	strv_release(&programs);
	return ret;
}

/* From the kernel itself, or from the file that distributions put beside it. */
static int look_at_config(
	struct health *findings, struct machine *machine, const char *release, struct err *err)
{
	static const char *const own[] = {"cat", "/proc/config.gz", NULL};
	char *path = xasprintf("/boot/config-%s", release);
	const char *const beside[] = {"cat", path, NULL};
	struct str packed = STR_INIT, config = STR_INIT;
	bool ok = false;
	int ret = ask(machine, own, &packed, &ok, err);

	if (!ret && !ok)
		ret = ask(machine, beside, &packed, &ok, err);
	if (!ret && ok &&
		!compress_unpack(compress_detect(packed.text, packed.len), packed.text, packed.len,
			ANSWER_MAX_BYTES, &config, NULL))
		health_config(findings, str_text(&config));
	str_release(&packed);
	str_release(&config);
	free(path);
	return ret;
}

int doctor_look(struct health *findings, struct machine *machine, const struct machine_spec *spec,
	const json_t *facts, struct err *err)
{
	static const char *const timers[] = {
		"systemctl", "list-timers", "--no-legend", "--no-pager", NULL};
	struct str out = STR_INIT;
	bool ok;
	int ret = look_around(findings, machine, spec, err);

	if (!ret)
		ret = look_at_config(
			findings, machine, json_get_text(facts, "kernel_release", ""), err);
	if (!ret)
		ret = ask(machine, timers, &out, &ok, err);
	if (!ret && ok)
		health_timers(findings, str_text(&out), spec);
	if (!ret && spec->boot != BOOT_NONE)
		health_cmdline(findings, json_get_text(facts, "cmdline", ""), spec);
	str_release(&out);
	return ret;
}

static const char *const workloads[] = {"canary", "wakefan", "futexfan"};

/* "canary: 123.4 rounds/s; ..." NAN when it is not that. */
static double read_number(const char *name, const char *text)
{
	size_t len = strlen(name);
	double value = (double)NAN;
	char *number;

	if (strncmp(text, name, len) || strncmp(text + len, ": ", 2))
		return value;
	number = xstrndup(text + len + 2, strcspn(text + len + 2, " \n"));
	if (num_double(number, &value, NULL))
		value = (double)NAN;
	free(number);
	return value;
}

/* Runs 0 3 4 7 are A, 1 2 5 6 are B: the same kernel, the same program. */
static void tell(struct health *findings, const char *name, const double *values)
{
	double a = 0, b = 0, cv = 100 * describe_cv(values, RUNS);
	bool known = true;

	for (int i = 0; i < RUNS; i++) {
		known = known && values[i] > 0;
		*(i % 4 == 0 || i % 4 == 3 ? &a : &b) += values[i];
	}
	if (!known)
		health_add(findings, HEALTH_MISSING, name, "it printed no number on the machine",
			NULL);
	else
		health_add(findings, cv > 2 ? HEALTH_NOISE : HEALTH_OK, name,
			arena_printf(findings->arena,
				"CV %.2f %% in %d runs of 1 s; the same against itself: %+.2f %%",
				cv, RUNS, 100 * (b / a - 1)),
			cv > 2 ? "mend what is listed here, or plan more boots and longer runs"
			       : NULL);
}

int doctor_measure(struct health *findings, struct machine *machine, int64_t cpus, struct err *err)
{
	double values[ARRAY_SIZE(workloads)][RUNS];
	char *workers = xasprintf("%lld", (long long)cpus);
	struct str out = STR_INIT;
	int ret = 0;

	for (int run = -1; run < RUNS && !ret; run++)
		for (size_t i = 0; i < ARRAY_SIZE(workloads) && !ret; i++) {
			const char *path = machine_program_path(machine, workloads[i]);
			const char *const argv[] = {path ? path : workloads[i], "--workers",
				workers, "--seconds", run < 0 ? "0.2" : "1", NULL};
			bool ok;

			ret = ask(machine, argv, &out, &ok, err);
			if (run >= 0)
				values[i][run] = read_number(workloads[i], str_text(&out));
		}
	for (size_t i = 0; i < ARRAY_SIZE(workloads) && !ret; i++)
		tell(findings, workloads[i], values[i]);
	str_release(&out);
	free(workers);
	return ret;
}
