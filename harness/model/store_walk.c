/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "model/store_walk.h"

/* A run of the boot that is being read. */
struct boot_run {
	int64_t id;
	size_t condition;
	int32_t position;
	int64_t reading; /* whose samples count; 0: none of them */
	bool done;
	bool dropped;
};

struct boot_runs {
	struct boot_run *items;
	size_t count, capacity;
};

void walk_release(struct walk *walk)
{
	free(walk->boots);
	free(walk->columns);
	free(walk->metrics);
	free(walk->conditions);
	free(walk->binaries);
	free(walk->twins);
	free(walk->counts);
	free(walk->entries);
	free(walk->tails);
	free(walk->observed);
}

static int compare_links(const void *a, const void *b)
{
	const struct walk_link *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

void walk_sort_links(struct walk *walk)
{
	if (walk->metric_count)
		qsort(walk->metrics, walk->metric_count, sizeof(*walk->metrics), compare_links);
	if (walk->condition_link_count)
		qsort(walk->conditions, walk->condition_link_count, sizeof(*walk->conditions),
			compare_links);
}

/* The place of an id among the links; SIZE_MAX when it stands for nothing here. */
static size_t link_place(const struct walk_link *links, size_t count, int64_t id)
{
	struct walk_link key = {.id = id};
	const struct walk_link *found;

	if (!count)
		return SIZE_MAX;
	found = bsearch(&key, links, count, sizeof(*links), compare_links);
	return found ? (size_t)(found - links) : SIZE_MAX;
}

static size_t condition_index(const struct walk *walk, int64_t id)
{
	size_t place = link_place(walk->conditions, walk->condition_link_count, id);

	return place == SIZE_MAX ? SIZE_MAX : walk->conditions[place].index;
}

int walk_load_columns(struct walk *walk, struct err *err)
{
	int64_t last_condition = 0;
	struct db_rows *rows;
	int ret = db_query(walk->store->db, &rows, err,
		"SELECT condition.id, metric.id, percentile / 100, pooled FROM condition"
		" JOIN metric ON metric.condition_id = condition.id"
		" WHERE experiment_id = ? AND machine_id = ?"
		" ORDER BY condition.position, metric.position",
		"ii", walk->experiment_id, walk->machine_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		int64_t condition = db_int(rows, 0), metric = db_int(rows, 1);

		if (condition != last_condition) {
			GROW(walk->conditions, walk->condition_link_count,
				walk->condition_link_capacity);
			walk->conditions[walk->condition_link_count++] =
				(struct walk_link){condition, walk->condition_count++};
			last_condition = condition;
		}
		GROW(walk->metrics, walk->metric_count, walk->metric_capacity);
		walk->metrics[walk->metric_count++] =
			(struct walk_link){metric, walk->column_count};
		GROW(walk->columns, walk->column_count, walk->column_capacity);
		walk->columns[walk->column_count++] = (struct walk_column){condition, metric,
			walk->condition_count - 1, db_double(rows, 2), db_int(rows, 3)};
	}
	db_end(rows);
	return ret;
}

static int load_twins(struct walk *walk, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(walk->store->db, &rows, err,
		"SELECT id, (SELECT min(id) FROM program twin WHERE twin.sha256 = program.sha256)"
		" FROM program ORDER BY id",
		"");

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(walk->twins, walk->twin_count, walk->twin_capacity);
		walk->twins[walk->twin_count++] =
			(struct walk_link){db_int(rows, 0), (size_t)db_int(rows, 1)};
	}
	db_end(rows);
	return ret;
}

/* Programs are the same when their bytes are, whatever version they print. */
static int64_t first_twin(const struct walk *walk, int64_t program)
{
	size_t place = link_place(walk->twins, walk->twin_count, program);

	return place == SIZE_MAX ? 0 : (int64_t)walk->twins[place].index;
}

static struct walk_binaries binaries_of(const struct walk *walk, struct db_rows *rows, int column)
{
	return (struct walk_binaries){first_twin(walk, store_int_or(rows, column, 0)),
		first_twin(walk, store_int_or(rows, column + 1, 0))};
}

int walk_load_binaries(struct walk *walk, struct err *err)
{
	struct db_rows *rows;
	int ret = load_twins(walk, err);

	walk->binaries = xcalloc(walk->condition_count + 1, sizeof(*walk->binaries));
	if (!ret)
		ret = db_query(walk->store->db, &rows, err,
			"SELECT condition_id, program_id, server_id, max(run.id)"
			" FROM boot JOIN run ON run.boot_id = boot.id"
			" WHERE experiment_id = ? AND machine_id = ? AND program_id IS NOT NULL"
			" GROUP BY condition_id",
			"ii", walk->experiment_id, walk->machine_id);
	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		size_t condition = condition_index(walk, db_int(rows, 0));

		if (condition != SIZE_MAX)
			walk->binaries[condition] = binaries_of(walk, rows, 1);
	}
	db_end(rows);
	return ret;
}

static bool is_wanted(
	const struct walk *walk, size_t condition, const struct walk_binaries *binaries)
{
	return !walk->binaries || (binaries->program == walk->binaries[condition].program &&
					  binaries->server == walk->binaries[condition].server);
}

static int load_boot_runs(struct walk *walk, size_t boot, struct boot_runs *runs, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(walk->store->db, &rows, err,
		"SELECT id, condition_id, position, state = 'done', state = 'failed', reading,"
		" program_id, server_id FROM run"
		" WHERE boot_id = ? AND kind = 0 ORDER BY id",
		"i", walk->boots[boot].id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		bool done = db_int(rows, 3), failed = db_int(rows, 4);
		size_t condition = condition_index(walk, db_int(rows, 1));
		struct walk_binaries binaries = binaries_of(walk, rows, 6);

		if (condition == SIZE_MAX || !is_wanted(walk, condition, &binaries))
			continue;
		GROW(runs->items, runs->count, runs->capacity);
		runs->items[runs->count++] = (struct boot_run){
			.id = db_int(rows, 0),
			.condition = condition,
			.position = (int32_t)db_int(rows, 2),
			.reading = done ? db_int(rows, 5) : 0,
			.done = done,
		};
		if (failed)
			walk->counts[boot * walk->condition_count + condition].failed++;
	}
	db_end(rows);
	return ret;
}

/* One past the last run of the stretch of consecutive ids that begins at first: what lies together
 * on disk. */
static size_t stretch_end(const struct boot_runs *runs, size_t first)
{
	size_t end = first + 1;

	/* Gaps of a few ids (warm-ups, other tries) cost less than another query. */
	while (end < runs->count && runs->items[end].id - runs->items[end - 1].id <= 32)
		end++;
	return end;
}

static struct boot_run *find_run(const struct boot_runs *runs, size_t *hint, int64_t id)
{
	while (*hint < runs->count && runs->items[*hint].id < id)
		(*hint)++;
	return *hint < runs->count && runs->items[*hint].id == id ? &runs->items[*hint] : NULL;
}

static int apply_flags(struct walk *walk, size_t boot, struct boot_runs *runs, size_t first,
	size_t end, struct err *err)
{
	struct db_rows *rows;
	size_t hint = first;
	int ret = db_query(walk->store->db, &rows, err,
		"SELECT run_id, max(policy = 'drop') FROM flag"
		" JOIN policy ON policy.experiment_id = ? AND policy.reason = flag.reason"
		" WHERE run_id BETWEEN ? AND ? AND policy <> 'ignore'"
		" GROUP BY run_id ORDER BY run_id",
		"iii", walk->experiment_id, runs->items[first].id, runs->items[end - 1].id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		struct boot_run *run = find_run(runs, &hint, db_int(rows, 0));
		struct walk_counts *counts;

		if (!run || !run->done)
			continue;
		counts = &walk->counts[boot * walk->condition_count + run->condition];
		run->dropped = db_int(rows, 1);
		if (run->dropped)
			counts->dropped++;
		else
			counts->flagged++;
	}
	db_end(rows);
	return ret;
}

/* The samples of one run and metric, until the next one begins. */
struct gather {
	int64_t run_id, metric_id;
	const struct boot_run *run;
	double sum;
	int64_t count;
	int64_t fewest;	  /* observations behind one of them; 0: not told */
	size_t first;	  /* of its own among the walk's observed */
	size_t column;	  /* SIZE_MAX: none of the walk's */
	size_t next_link; /* where the next metric most likely is */
};

/* Metrics come in the order of their ids, as the links are. */
static size_t metric_column(const struct walk *walk, struct gather *gather)
{
	if (gather->next_link >= walk->metric_count ||
		walk->metrics[gather->next_link].id != gather->metric_id)
		gather->next_link =
			link_place(walk->metrics, walk->metric_count, gather->metric_id);
	if (gather->next_link == SIZE_MAX)
		return SIZE_MAX;
	return walk->metrics[gather->next_link++].index;
}

/* What is behind a percentile; observations are kept where they are all that it is made of. */
static uint32_t keep_tail(struct walk *walk, const struct walk_column *column,
	const struct gather *gather, double *value)
{
	struct walk_tail tail = {gather->fewest, gather->first, 0};

	if (isnan(column->percentile))
		return 0;
	if (column->pooled) {
		tail.observations = 0;
		tail.count = walk->observed_count - gather->first;
		for (size_t i = gather->first; i < walk->observed_count; i++)
			tail.observations += walk->observed[i].times;
		quantile_sort(walk->observed + tail.first, tail.count);
		*value = quantile_of_counts(
			walk->observed + tail.first, tail.count, column->percentile);
	}
	GROW(walk->tails, walk->tail_count, walk->tail_capacity);
	walk->tails[walk->tail_count++] = tail;
	return (uint32_t)walk->tail_count;
}

static void keep_value(struct walk *walk, size_t boot, struct gather *gather)
{
	double value = gather->sum / (double)gather->count;
	uint32_t tail;

	if (!gather->count || gather->column == SIZE_MAX)
		return;
	tail = keep_tail(walk, &walk->columns[gather->column], gather, &value);
	GROW(walk->entries, walk->entry_count, walk->entry_capacity);
	walk->entries[walk->entry_count++] = (struct walk_entry){
		.value = value,
		.boot = (uint32_t)boot,
		.column = (uint32_t)gather->column,
		.position = gather->run->position,
		.tail = tail,
		.dropped = gather->run->dropped,
	};
}

static void begin(const struct walk *walk, struct gather *gather, const struct boot_run *run,
	int64_t run_id, int64_t metric_id)
{
	*gather = (struct gather){.run_id = run_id,
		.metric_id = metric_id,
		.run = run,
		.first = walk->observed_count,
		.next_link = gather->next_link};
	gather->column = metric_column(walk, gather);
}

static void add_sample(struct walk *walk, struct gather *gather, double value, int64_t observations)
{
	gather->sum += value;
	if (gather->count++ == 0 || observations < gather->fewest)
		gather->fewest = observations;
	if (gather->column == SIZE_MAX || !walk->columns[gather->column].pooled)
		return;
	GROW(walk->observed, walk->observed_count, walk->observed_capacity);
	walk->observed[walk->observed_count++] =
		(struct quantile_count){value, observations ? observations : 1};
}

static int load_samples(struct walk *walk, size_t boot, struct boot_runs *runs, size_t first,
	size_t end, struct err *err)
{
	struct gather gather = {0};
	struct db_rows *rows;
	size_t hint = first;
	int ret = db_query(walk->store->db, &rows, err,
		"SELECT run_id, reading, metric_id, value, observations FROM sample"
		" WHERE run_id BETWEEN ? AND ? ORDER BY run_id, reading, metric_id, ordinal",
		"ii", runs->items[first].id, runs->items[end - 1].id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		int64_t run_id = db_int(rows, 0), metric_id = db_int(rows, 2);
		const struct boot_run *run = find_run(runs, &hint, run_id);

		if (!run || run->reading != db_int(rows, 1))
			continue;
		if (gather.run_id != run_id || gather.metric_id != metric_id) {
			keep_value(walk, boot, &gather);
			begin(walk, &gather, run, run_id, metric_id);
		}
		add_sample(walk, &gather, db_double(rows, 3), store_int_or(rows, 4, 0));
	}
	db_end(rows);
	keep_value(walk, boot, &gather);
	return ret;
}

static int load_boot(struct walk *walk, size_t boot, struct boot_runs *runs, struct err *err)
{
	int ret;

	runs->count = 0;
	ret = load_boot_runs(walk, boot, runs, err);
	for (size_t first = 0, end; first < runs->count && !ret; first = end) {
		end = stretch_end(runs, first);
		ret = apply_flags(walk, boot, runs, first, end, err);
		if (!ret)
			ret = load_samples(walk, boot, runs, first, end, err);
	}
	return ret;
}

static int compare_entries(const void *a, const void *b)
{
	const struct walk_entry *x = a, *y = b;

	if (x->boot != y->boot)
		return x->boot < y->boot ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

int walk_read(struct walk *walk, struct err *err)
{
	struct boot_runs runs = {0};
	int ret = 0;

	walk->counts = xcalloc(walk->boot_count * walk->condition_count + 1, sizeof(*walk->counts));
	for (size_t i = 0; i < walk->boot_count && !ret; i++)
		ret = load_boot(walk, i, &runs, err);
	free(runs.items);
	if (ret)
		return ret;
	/* A run that was repeated after an interruption lies late but belongs in its place. */
	for (size_t i = 1; i < walk->entry_count; i++) {
		if (compare_entries(&walk->entries[i - 1], &walk->entries[i]) <= 0)
			continue;
		qsort(walk->entries, walk->entry_count, sizeof(*walk->entries), compare_entries);
		break;
	}
	return 0;
}
