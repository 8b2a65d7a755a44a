/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kbracket bisect --step: one commit against the levels of good and bad, for `git bisect run`. */
#include "base/base.h"

#include "base/log.h"
#include "base/stop.h"
#include "cmd/bisect.h"
#include "cmd/bisect_boot.h"
#include "sys/gitrepo.h"

/* What `git bisect run` makes of a status. */
enum { STEP_GOOD = 0, STEP_BAD = 1, STEP_SKIP = 125 };

static int find_step(const struct bisect_record *record, const char *hex)
{
	for (size_t i = 0; i < record->step_count; i++)
		if (!strcmp(record->steps[i].name, hex))
			return (int)i;
	return -1;
}

/* The commit that is checked out here becomes a step, unless it is one. */
static int head_position(struct bisect_job *job, int *position, struct err *err)
{
	struct str subject = STR_INIT;
	struct gitrepo *repo = NULL;
	struct gitid head;
	int ret = gitrepo_open(".", &repo, err);

	if (!ret)
		ret = gitrepo_resolve(repo, "HEAD", &head, &subject, err);
	if (!ret) {
		*position = find_step(&job->record, head.hex);
		if (*position < 0)
			ret = store_bisect_add_step(job->cmd->store, job->id,
				&(struct bisect_step){.name = head.hex,
					.subject = str_text(&subject),
					.author = "",
					.recipe = ""},
				position, err);
	}
	gitrepo_free(repo);
	str_release(&subject);
	return ret ? ret : bisect_reload(job, err);
}

/* A chain of three kernels: is the change before this one, or behind it? */
static int stage(struct bisect_job *job, int position, struct err *err)
{
	int before = 1, behind = 2;
	struct bisect_link links[] = {{.position = 0},
		{.position = position, .members = &before, .count = 1},
		{.position = job->record.bad, .members = &behind, .count = 1}};
	struct bisect_chain chain = {links, ARRAY_SIZE(links)};
	char *text = bisect_chain_json(&chain);
	int ret = bisect_note(
		job, &(struct bisect_event){.kind = EVENT_STAGE, .other = 1, .text = text}, err);

	free(text);
	return ret;
}

static int status_of(const struct bisect_finding *finding)
{
	if (finding->word != FOUND_CULPRIT)
		return STEP_SKIP;
	return finding->suspects[0] == 1 ? STEP_BAD : STEP_GOOD;
}

int bisect_step(struct bisect_job *job, struct err *err)
{
	struct bisect_finding finding;
	int position, ret;

	if (job->record.axis != AXIS_COMMITS || job->record.listed < 2)
		return err_set(err, ERR_USAGE,
			"--step wants a bisect over at least two commits, for the levels of its "
			"ends");
	job->one_step = true;
	ret = head_position(job, &position, err);
	if (ret)
		return ret;
	if (position == 0)
		return STEP_GOOD;
	if (position == job->record.bad)
		return STEP_BAD;
	ret = stage(job, position, err);
	if (!ret)
		ret = bisect_measure(job, &finding, err);
	if (ret)
		return ret;
	log_line(LOG_INFO, "%.12s: %s, with a probability of %.1f %%",
		job->record.steps[position].name,
		status_of(&finding) == STEP_BAD	   ? "bad"
		: status_of(&finding) == STEP_GOOD ? "good"
						   : "not to be told",
		100 * finding.probability);
	return status_of(&finding);
}
