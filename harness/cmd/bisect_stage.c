/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kernels are tested: a chain through the graph between what is good and what is bad. */
#include "base/base.h"

#include "base/log.h"
#include "cmd/bisect.h"
#include "sys/gitrepo_walk.h"

/* The graph of a bisect, read again from its repository. */
struct graph {
	struct gitrepo *repo;
	struct gitwalk *walk;
};

static struct gitid id_of(const struct bisect_record *record, int position)
{
	struct gitid id = {""};

	(void)snprintf(id.hex, sizeof(id.hex), "%s", record->steps[position].name);
	return id;
}

static void graph_close(struct graph *graph)
{
	gitwalk_free(graph->walk);
	gitrepo_free(graph->repo);
}

static int graph_open(const struct bisect_record *record, struct graph *graph, struct err *err)
{
	const struct bisect_spec *spec = &record->spec;
	struct gitwalk_spec what = {.good = id_of(record, 0),
		.bad = id_of(record, record->bad),
		.paths = spec->paths,
		.not_subject = spec->not_subject,
		.merges = spec->merges,
		.first_parent = spec->first_parent};
	int ret = gitrepo_open(record->tree, &graph->repo, err);

	if (!ret)
		ret = gitwalk_make(graph->repo, &what, &graph->walk, err);
	if (!ret && gitwalk_count(graph->walk) != record->listed)
		ret = err_set(err, ERR_INFRA,
			"%s lists %zu commits now where it listed %zu when the bisect began; was "
			"its history replaced (git replace, grafts)?",
			record->tree, gitwalk_count(graph->walk), record->listed);
	if (ret)
		graph_close(graph);
	return ret;
}

static int position_by_name(const struct bisect_record *record, const char *name)
{
	for (size_t i = record->listed + 1; i < record->step_count; i++)
		if (!strcmp(record->steps[i].name, name))
			return (int)i;
	return -1;
}

/* A commit that only connects becomes a step when it is tested first. */
static int add_connecting(struct bisect_job *job, const struct graph *graph, const struct gitid *id,
	int *position, struct err *err)
{
	struct str subject = STR_INIT;
	struct gitid same;
	int ret;

	*position = position_by_name(&job->record, id->hex);
	if (*position >= 0)
		return 0;
	ret = gitrepo_resolve(graph->repo, id->hex, &same, &subject, err);
	if (!ret)
		ret = store_bisect_add_step(job->cmd->store, job->id,
			&(struct bisect_step){.name = id->hex,
				.subject = str_text(&subject),
				.author = "",
				.recipe = ""},
			position, err);
	str_release(&subject);
	return ret;
}

static int take_links(struct bisect_job *job, const struct graph *graph, struct arena *arena,
	const struct gitwalk_link *links, size_t count, struct bisect_chain *chain, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++) {
		struct bisect_link *link = &chain->links[chain->count++];

		link->position = links[i].index + 1;
		if (links[i].index < 0)
			ret = add_connecting(job, graph, &links[i].id, &link->position, err);
		link->members = arena_alloc(arena, (links[i].count + 1) * sizeof(int));
		for (size_t k = 0; k < links[i].count; k++)
			link->members[link->count++] = (int)links[i].members[k] + 1;
	}
	return ret;
}

static int graph_chain(struct bisect_job *job, const struct graph *graph, struct arena *arena,
	const int *good, size_t good_count, int bad, struct bisect_chain *chain, struct err *err)
{
	struct gitid *ids = arena_alloc(arena, (good_count + 1) * sizeof(*ids));
	struct gitid end = id_of(&job->record, bad);
	struct gitwalk_link *links;
	size_t count;
	int ret;

	for (size_t i = 0; i < good_count; i++)
		ids[i] = id_of(&job->record, good[i]);
	ret = gitwalk_chain(graph->walk, ids, good_count, &end, arena, &links, &count, err);
	if (!ret && !count)
		ret = err_set(err, ERR_USAGE,
			"nothing is left: every commit of the list is in a kernel that is marked "
			"good");
	if (ret)
		return ret;
	*chain = (struct bisect_chain){
		.links = arena_alloc(arena, (count + 1) * sizeof(*chain->links)), .count = 1};
	chain->links[0].position = good[good_count - 1];
	return take_links(job, graph, arena, links, count, chain, err);
}

/* Steps that follow each other: what lies between the last good and the first bad one. */
static int line_chain(struct arena *arena, const int *good, size_t good_count, int bad,
	struct bisect_chain *chain, struct err *err)
{
	int from = 0;

	for (size_t i = 0; i < good_count; i++)
		from = good[i] > from ? good[i] : from;
	if (from >= bad)
		return err_set(err, ERR_USAGE,
			"step %d is good and step %d, which has all of it, is bad or before it: "
			"one "
			"of the marks is wrong (`bisect undo`)",
			from, bad);
	chain->links = arena_alloc(arena, ((size_t)(bad - from) + 1) * sizeof(*chain->links));
	for (int i = from; i <= bad; i++) {
		struct bisect_link *link = &chain->links[chain->count++];

		link->position = i;
		link->members = arena_alloc(arena, sizeof(int));
		link->members[0] = i;
		link->count = i > from;
	}
	return 0;
}

static int plan_chain(struct bisect_job *job, struct arena *arena, const int *good,
	size_t good_count, int bad, struct bisect_chain *chain, struct err *err)
{
	struct graph graph = {0};
	int ret;

	if (job->record.axis != AXIS_COMMITS)
		return line_chain(arena, good, good_count, bad, chain, err);
	ret = graph_open(&job->record, &graph, err);
	if (ret)
		return ret;
	ret = graph_chain(job, &graph, arena, good, good_count, bad, chain, err);
	graph_close(&graph);
	return ret;
}

int bisect_narrow(
	struct bisect_job *job, const int *good, size_t good_count, int bad, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct bisect_chain chain = {0};
	int ret = plan_chain(job, &arena, good, good_count, bad, &chain, err);

	if (!ret) {
		char *text = bisect_chain_json(&chain);

		ret = bisect_note(
			job, &(struct bisect_event){.kind = EVENT_STAGE, .text = text}, err);
		free(text);
	}
	arena_release(&arena);
	return ret;
}

/* The good end is the mark made last: it is what is measured as good. */
static size_t good_marks(const struct bisect_record *record, int *good)
{
	size_t count = 0;

	good[count++] = 0;
	for (size_t i = 0; i < record->event_count; i++)
		if (record->events[i].kind == EVENT_GOOD && !record->events[i].undone)
			good[count++] = record->events[i].position;
	return count;
}

static int bad_mark(const struct bisect_record *record)
{
	int bad = record->bad;

	for (size_t i = 0; i < record->event_count; i++) {
		const struct bisect_event *event = &record->events[i];

		if (event->kind == EVENT_BAD && !event->undone &&
			(event->position < bad || bad > (int)record->listed))
			bad = event->position;
	}
	return bad;
}

int bisect_restage(struct bisect_job *job, struct err *err)
{
	int *good = xcalloc(job->record.event_count + 2, sizeof(*good));
	size_t count = good_marks(&job->record, good);
	int ret = bisect_narrow(job, good, count, bad_mark(&job->record), err);

	free(good);
	return ret;
}

/* Good ends of this chain and of those that it came from, since a person had a say. */
static int earlier_ends(const struct bisect_record *record, struct arena *arena, int *good,
	size_t *count, struct err *err)
{
	int ret = 0;

	for (size_t i = record->event_count; i-- > 0 && !ret;) {
		const struct bisect_event *event = &record->events[i];
		struct bisect_chain chain;

		if (event->kind == EVENT_GOOD || event->kind == EVENT_BAD ||
			event->kind == EVENT_UNDO)
			break;
		if (event->kind != EVENT_STAGE || event->undone || event->other)
			continue;
		ret = bisect_chain_read(arena, event->text, record->step_count, &chain, err);
		if (!ret)
			good[(*count)++] = chain.links[0].position;
	}
	return ret;
}

int bisect_split(struct bisect_job *job, const struct bisect_finding *finding, struct err *err)
{
	struct arena arena = ARENA_INIT;
	int *good = xcalloc(2 * job->record.event_count + 3, sizeof(*good));
	size_t count = good_marks(&job->record, good);
	int ret = earlier_ends(&job->record, &arena, good, &count, err);

	good[count++] = finding->split_good;
	if (!ret)
		ret = bisect_narrow(job, good, count, finding->split_bad, err);
	if (!ret)
		log_line(LOG_INFO,
			"%.12s brings several commits with it: they are bisected on their own",
			job->record.steps[finding->split_bad].name);
	free(good);
	arena_release(&arena);
	return ret;
}
