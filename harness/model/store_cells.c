/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <math.h>

#include "model/store_walk.h"
#include "model/toggle.h"

/* Boots of the query: id, experiment, variant, build, ordinal, block, time. */
static int load_boots(struct walk *walk, struct db_rows *rows, struct err *err)
{
	int ret;

	while ((ret = db_next(rows, err)) == 1) {
		GROW(walk->boots, walk->boot_count, walk->boot_capacity);
		walk->boots[walk->boot_count++] = (struct walk_boot){
			.id = db_int(rows, 0),
			.experiment_id = db_int(rows, 1),
			.variant_id = db_int(rows, 2),
			.build_id = store_int_or(rows, 3, 0),
			.ordinal = (int)db_int(rows, 4),
			.block = (int)db_int(rows, 5),
			.time_ns = store_int_or(rows, 6, 0),
		};
	}
	db_end(rows);
	return ret;
}

#define BOOT_COLUMNS                                                                       \
	"boot.id, boot.experiment_id, boot.variant_id, variant.build_id, boot.ordinal, "   \
	"boot.block, (SELECT min(started_ns) FROM attempt WHERE attempt.boot_id = boot.id" \
	" AND outcome = 'proved')"

static int each_machine_cell(struct store *store, int64_t experiment_id, int64_t machine_id,
	const struct store_cell_options *options, store_cell_fn *fn, void *arg, struct err *err)
{
	struct walk walk = {
		.store = store,
		.experiment_id = experiment_id,
		.machine_id = machine_id,
	};
	struct db_rows *rows;
	int ret = walk_load_columns(&walk, err);

	if (!ret)
		ret = db_query(store->db, &rows, err,
			"SELECT " BOOT_COLUMNS " FROM boot JOIN variant ON variant.id = variant_id"
			" WHERE boot.experiment_id = ? AND machine_id = ?"
			" AND (boot.state = 'done' OR ?) ORDER BY boot.ordinal",
			"iii", experiment_id, machine_id, (int64_t)options->unfinished);
	if (!ret)
		ret = load_boots(&walk, rows, err);
	walk_sort_links(&walk);
	if (!ret)
		ret = walk_read(&walk, err);
	if (!ret)
		ret = walk_tell(&walk, false, fn, arg);
	if (!ret && options->kept)
		ret = walk_tell(&walk, true, options->kept, options->kept_arg);
	walk_release(&walk);
	return ret;
}

/* The boot means of an import, as cells without runs. */
static int each_mean_cell(
	struct store *store, int64_t experiment_id, store_cell_fn *fn, void *arg, struct err *err)
{
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT boot.machine_id, condition.id, metric.id, boot.id, boot.variant_id,"
		" boot.ordinal, boot.block, boot_mean.runs, mean, boot_mean.cv_pct FROM boot"
		" JOIN boot_mean ON boot_mean.boot_id = boot.id"
		" JOIN metric ON metric.id = metric_id"
		" JOIN condition ON condition.id = condition_id WHERE boot.experiment_id = ?"
		" ORDER BY boot.machine_id, condition.position, metric.position, boot.ordinal",
		"i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		double mean = db_double(rows, 8), cv = db_double(rows, 9) / 100;

		ret = fn(arg, &(struct store_cell){
				      .machine_id = db_int(rows, 0),
				      .condition_id = db_int(rows, 1),
				      .metric_id = db_int(rows, 2),
				      .boot_id = db_int(rows, 3),
				      .variant_id = db_int(rows, 4),
				      .experiment_id = experiment_id,
				      .boot_ordinal = (int)db_int(rows, 5),
				      .block = (int)db_int(rows, 6),
				      .runs = (size_t)db_int(rows, 7),
				      .mean = mean,
				      .variance = cv * cv * mean * mean,
				      .ln_mean = mean > 0 ? log(mean) : (double)NAN,
				      .ln_variance = cv * cv,
				      .order_low = (double)NAN,
				      .order_high = (double)NAN,
			      });
		if (ret)
			break;
	}
	db_end(rows);
	return ret;
}

static int machine_ids(
	struct store *store, int64_t experiment_id, int64_t **ids, size_t *count, struct err *err)
{
	int64_t *items = NULL;
	size_t n = 0, capacity = 0;
	struct db_rows *rows;
	int ret = db_query(store->db, &rows, err,
		"SELECT machine_id FROM condition WHERE experiment_id = ?"
		" GROUP BY machine_id ORDER BY min(id)",
		"i", experiment_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		GROW(items, n, capacity);
		items[n++] = db_int(rows, 0);
	}
	db_end(rows);
	*ids = items;
	*count = n;
	return ret;
}

int store_each_boot_cell(struct store *store, int64_t experiment_id,
	const struct store_cell_options *options, store_cell_fn *fn, void *arg, struct err *err)
{
	static const struct store_cell_options none;
	int64_t *machines = NULL, means_only;
	size_t count = 0;
	int ret = db_get_int(store->db, &means_only, err,
		"SELECT means_only FROM experiment WHERE id = ?", "i", experiment_id);

	if (ret)
		return ret;
	if (means_only)
		return each_mean_cell(store, experiment_id, fn, arg, err);
	ret = machine_ids(store, experiment_id, &machines, &count, err);
	if (!options)
		options = &none;
	for (size_t i = 0; i < count && !ret; i++)
		if (!options->machine_id || options->machine_id == machines[i])
			ret = each_machine_cell(
				store, experiment_id, machines[i], options, fn, arg, err);
	free(machines);
	return ret;
}

/* Links the same conditions and metrics of older experiments to this one's columns. */
static int link_history(struct walk *walk, struct err *err)
{
	struct db_rows *rows;
	size_t columns = walk->metric_count, conditions = walk->condition_link_count;
	int ret = db_query(walk->store->db, &rows, err,
		"SELECT old.id, om.id, now.id, nm.id FROM condition now"
		" JOIN metric nm ON nm.condition_id = now.id"
		" JOIN condition old ON old.machine_id = now.machine_id AND old.name = now.name"
		"  AND old.argv = now.argv AND old.env = now.env AND old.cpus = now.cpus"
		"  AND old.experiment_id < now.experiment_id"
		" JOIN metric om ON om.condition_id = old.id AND om.name = nm.name"
		"  AND om.unit = nm.unit"
		" WHERE now.experiment_id = ? AND now.machine_id = ?"
		" ORDER BY old.id",
		"ii", walk->experiment_id, walk->machine_id);

	if (ret)
		return ret;
	while ((ret = db_next(rows, err)) == 1) {
		int64_t old = db_int(rows, 0), now = db_int(rows, 2), metric = db_int(rows, 3);

		for (size_t i = 0; i < conditions; i++) {
			if (walk->conditions[i].id != now)
				continue;
			if (walk->conditions[walk->condition_link_count - 1].id == old)
				break;
			GROW(walk->conditions, walk->condition_link_count,
				walk->condition_link_capacity);
			walk->conditions[walk->condition_link_count++] =
				(struct walk_link){old, walk->conditions[i].index};
			break;
		}
		for (size_t i = 0; i < columns; i++) {
			if (walk->metrics[i].id != metric)
				continue;
			GROW(walk->metrics, walk->metric_count, walk->metric_capacity);
			walk->metrics[walk->metric_count++] =
				(struct walk_link){db_int(rows, 1), walk->metrics[i].index};
			break;
		}
	}
	db_end(rows);
	walk_sort_links(walk);
	return ret;
}

int store_each_history_cell(struct store *store, int64_t experiment_id, int64_t machine_id,
	int64_t variant_id, size_t max_boots, store_cell_fn *fn, void *arg, struct err *err)
{
	struct walk walk = {
		.store = store,
		.experiment_id = experiment_id,
		.machine_id = machine_id,
	};
	struct db_rows *rows;
	int ret = walk_load_columns(&walk, err);

	if (!ret)
		ret = walk_load_binaries(&walk, err);
	if (!ret)
		ret = link_history(&walk, err);
	if (!ret)
		ret = db_query(store->db, &rows, err,
			"SELECT * FROM (SELECT " BOOT_COLUMNS " FROM variant mine"
			" JOIN variant ON variant.build_id = mine.build_id"
			"  AND variant.runtime_sha256 = mine.runtime_sha256"
			" JOIN boot ON boot.variant_id = variant.id"
			" WHERE mine.id = ? AND boot.machine_id = ? AND boot.experiment_id < ?"
			" AND NOT EXISTS (SELECT 1 FROM boot part JOIN attempt ON"
			"  attempt.boot_id = part.id AND attempt.method = '" TOGGLE_METHOD "'"
			"  WHERE part.experiment_id = boot.experiment_id)"
			" AND boot.state = 'done' AND NOT EXISTS (SELECT 1 FROM extension again"
			"  WHERE again.experiment_id = boot.experiment_id"
			"  AND again.machine_id = boot.machine_id AND again.repeats > 0"
			"  AND again.block > boot.block AND again.repeats IN (boot.block,"
			"   (SELECT repeats FROM extension mine WHERE mine.block = boot.block"
			"    AND mine.experiment_id = boot.experiment_id"
			"    AND mine.machine_id = boot.machine_id))) ORDER BY boot.id DESC LIMIT "
			"?) ORDER BY 1",
			"iiii", variant_id, machine_id, experiment_id, (int64_t)max_boots);
	if (!ret)
		ret = load_boots(&walk, rows, err);
	if (!ret)
		ret = walk_read(&walk, err);
	if (!ret)
		ret = walk_tell(&walk, false, fn, arg);
	walk_release(&walk);
	return ret;
}
