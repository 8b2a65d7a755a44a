/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bisect that boots: scheduler features on Debian's kernel in a guest, and a program whose number
 * says which of them are set there. Nothing is compiled. Three to five minutes without KVM.
 */
#include "base/base.h"

#include <sys/stat.h>

#include "real_lab.h"

static const char program[] = "#!/bin/sh\n"
			      "features=$(cat /sys/kernel/debug/sched/features)\n"
			      "rate=1000\n"
			      "case \" $features \" in *' NO_WA_BIAS '*) rate=900 ;; esac\n"
			      "noise=$(od -An -N1 -tu1 /dev/urandom)\n"
			      "echo rate: $((rate + noise % 8))\n";

static const char suite[] = "suite: features\n"
			    "about: a number that the scheduler's features decide\n"
			    "program: features\n"
			    "conditions:\n"
			    "  one: { argv: [features] }\n"
			    "metrics:\n"
			    "  rate: { unit: x/s, better: higher, regex: '^rate: ([0-9]+)$' }\n";

static const char kernels[] = "variants:\n"
			      "  debian:\n"
			      "    prebuilt: { package: linux-image-cloud-amd64 }\n";

static const char machine[] = "machine: guest\n"
			      "connect: { qemu: { cpus: 2, memory: 512M, accel: tcg } }\n"
			      "cmdline: quiet nokaslr mitigations=off\n"
			      "boot_timeout: 10m\n"
			      "programs: { features: ../../features.sh }\n";

static struct real_lab *lab;

static void a_feature_is_found_by_booting(void **state KB_UNUSED)
{
	int code = real_lab_call(lab, "bisect --machine guest --condition features --warmup 0 "
				      "--features NO_UTIL_EST,NO_WA_BIAS,NO_ALT_PERIOD "
				      "--proof-boots 2");

	if (code != 1)
		real_lab_fail(lab, "no culprit was found", code);
	real_lab_expect(lab, "The change is features-2 (\"NO_WA_BIAS\")");
	real_lab_expect(lab, "features-2 against its parent: ");
	/* every event that counts is a boot that was proved */
	real_lab_assert_count(lab, 0,
		"SELECT count(*) FROM bisect_event e LEFT JOIN attempt a ON a.boot_id = e.boot_id"
		" AND a.outcome = 'proved' WHERE e.kind = 'boot' AND a.id IS NULL");
}

static void what_was_measured_is_replayed(void **state KB_UNUSED)
{
	json_t *stored = real_lab_json(lab, 1, "report 1"), *replayed;

	real_lab_must(lab, 0, "bisect log");
	real_lab_write(lab, "log.yaml", str_text(&lab->answer));
	replayed = real_lab_json(lab, 1, "bisect replay log.yaml");
	assert_true(json_equal(
		json_object_get(stored, "finding"), json_object_get(replayed, "finding")));
	json_decref(stored);
	json_decref(replayed);
	/* what has ended is only told */
	real_lab_must(lab, 1, "resume 1");
}

static int set_up(void **state KB_UNUSED)
{
	char *path;

	lab = real_lab_new("kernels/cache");
	path = path_join(lab->folder, "features.sh");
	real_lab_write(lab, "features.sh", program);
	assert_int_equal(chmod(path, 0755), 0);
	real_lab_write(lab, "suites/features.yaml", suite);
	real_lab_write(lab, "kernels/debian.yaml", kernels);
	real_lab_write(lab, "configs/machines/guest.yaml", machine);
	free(path);
	return 0;
}

static int tear_down(void **state KB_UNUSED)
{
	real_lab_free(lab);
	return 0;
}

int main(void)
{
	/* each goes on where the one before has ended */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_feature_is_found_by_booting),
		cmocka_unit_test(what_was_measured_is_replayed),
	};
	struct arena arena = ARENA_INIT;
	struct build kernel;

	need_program("qemu-system-x86_64");
	find_test_kernel(&arena, &kernel);
	arena_release(&arena);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
