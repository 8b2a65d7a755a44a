/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "fake_experiment.h"

/* results/ lies on a small tmpfs that fills up: kbracket stops cleanly, and goes on when there is
 * room again. Needs the right to mount. */

enum { DISK_BYTES = 4 << 20 };

/* A tmpfs of that many bytes on a folder that is there. */
static void mount_small(const char *folder, int bytes)
{
	char size[32];

	(void)snprintf(size, sizeof(size), "size=%d,mode=0700", bytes);
	assert_int_equal(mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, size), 0);
}

static char *in_results(const struct lab *lab, const char *name)
{
	return xasprintf("%s/results/%s", lab->folder, name);
}

static void mount_results(const struct lab *lab)
{
	char *results = in_results(lab, "");

	assert_int_equal(mkdir(results, 0755), 0);
	mount_small(results, DISK_BYTES);
	free(results);
}

/* Takes all but left_bytes of what is free. */
static void fill(const struct lab *lab, int64_t left_bytes)
{
	char *path = in_results(lab, "ballast"), *results = in_results(lab, "");
	int64_t free_bytes = file_free_bytes(results);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && free_bytes > left_bytes);
	assert_int_equal(posix_fallocate(fd, 0, free_bytes - left_bytes), 0);
	close(fd);
	free(results);
	free(path);
}

static void make_room(const struct lab *lab)
{
	char *path = in_results(lab, "ballast");

	assert_int_equal(unlink(path), 0);
	free(path);
}

static int64_t count_runs(struct lab *lab, enum store_state state)
{
	struct store *store = lab_store(lab);
	struct store_progress progress;
	struct err err = ERR_INIT;

	if (store_progress(store, lab->id, &progress, &err))
		fail_msg("%s", err.text);
	store_close(store);
	return progress.runs[state];
}

/* A run's program takes all that is left: where it fails is not the engine's choice. */
static void fill_in_a_run(struct lab *lab)
{
	char *path = in_results(lab, "ballast");

	fake_line(lab->workdir, "fill", path);
	free(path);
}

static void stop_full(struct lab *lab)
{
	struct err err = ERR_INIT;

	if (lab_run(lab, &err) != ERR_INFRA)
		fail_msg("it did not stop: %s", err.text);
	if (!strstr(err.text, "full") && !strstr(err.text, "No space left"))
		fail_msg("%s", err.text);
}

static struct lab *lab_on_a_small_disk(size_t machines)
{
	struct lab *lab = lab_make_for(machines, "");

	mount_results(lab);
	lab_create(lab);
	return lab;
}

static void resume_whole(struct lab *lab)
{
	char *results = in_results(lab, "");

	make_room(lab);
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_int_equal(umount(results), 0);
	free(results);
	lab_free(lab);
}

/* No boot is lost to it, and no run but the one whose output found no room. */
static void nothing_is_begun_without_room(void **state KB_UNUSED)
{
	static const int64_t left[] = {64 << 10, 2 << 20, (2 << 20) + (150 << 10)};

	for (size_t i = 0; i < ARRAY_SIZE(left); i++) {
		struct lab *lab = lab_on_a_small_disk(1);
		int64_t done;

		fill(lab, left[i]);
		stop_full(lab);
		done = count_runs(lab, STATE_DONE);
		assert_true(done < FAKE_BOOTS * (FAKE_CONDITIONS * FAKE_RUNS + 1));
		assert_int_equal(count_runs(lab, STATE_FAILED), 0);
		resume_whole(lab);
	}
}

static void a_disk_that_fills_up_in_a_run(void **state KB_UNUSED)
{
	struct lab *lab = lab_on_a_small_disk(1);

	fill_in_a_run(lab);
	stop_full(lab);
	lab_unset(lab, "fill");
	assert_int_equal(count_runs(lab, STATE_FAILED), 0);
	resume_whole(lab);
}

/* Two machines fill one results/: both stop, and go on. */
static void a_disk_that_fills_up_under_two_machines(void **state KB_UNUSED)
{
	struct lab *lab = lab_on_a_small_disk(2);

	fill_in_a_run(lab);
	stop_full(lab);
	lab_unset(lab, "fill");
	assert_int_equal(count_runs(lab, STATE_FAILED), 0);
	resume_whole(lab);
}

/* The disk of one of two machines is full when a run begins: that machine is parked. */
static void a_machine_whose_disk_is_full_is_parked(void **state KB_UNUSED)
{
	struct lab *lab = lab_new_for(2, "");
	char *ballast = xasprintf("%s/ballast", lab->workdirs[1]);
	struct store_view view;
	struct err err = ERR_INIT;

	mount_small(lab->workdirs[1], 2 * DISK_BYTES);
	lab_set_on(lab, 1, "fill-up");
	assert_int_equal(lab_run(lab, &err), ERR_INFRA);
	if (!strstr(err.text, "is parked: box2: machine 'box2': its disk is full"))
		fail_msg("%s", err.text);
	assert_int_equal(count_runs(lab, STATE_FAILED), 0);
	lab_view(lab, &view);
	assert_int_equal(view.machines[0].boots[FAKE_BOOTS - 1].state, STATE_DONE);
	assert_int_equal(unlink(ballast), 0);
	lab_must_run(lab);
	lab_assert_whole(lab);
	assert_int_equal(umount(lab->workdirs[1]), 0);
	free(ballast);
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_begun_without_room),
		cmocka_unit_test(a_disk_that_fills_up_in_a_run),
		cmocka_unit_test(a_disk_that_fills_up_under_two_machines),
		cmocka_unit_test(a_machine_whose_disk_is_full_is_parked),
	};

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		printf("no right to mount: %s\n", strerror(errno));
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
