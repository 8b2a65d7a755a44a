/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/strv.h"
#include "model/store_bisect.h"
#include "model/store_db.h"
#include "model/store_plan.h"
#include "sys/json.h"

/* What store_create knows while it writes. */
struct create {
	struct store *store;
	const struct store_new *what;
	int64_t experiment_id;
	int64_t *variant_ids;
	int64_t *suite_ids;
};

/* A gate that is below 0 in the configuration is automatic: NULL in the database. */
static double gate(double pct)
{
	return pct < 0 ? __builtin_nan("") : pct;
}

static int add_experiment(struct create *create, struct err *err)
{
	const struct store_new *what = create->what;
	const struct experiment *experiment = what->experiment;
	char sha256[SHA256_HEX_LEN + 1];
	char *design = experiment_design_line(experiment);
	int ret;

	sha256_of(what->spec, strlen(what->spec), sha256);
	ret = db_run(create->store->db, err,
		"INSERT INTO experiment (name, kind, created_ns, state, spec, spec_sha256, seed,"
		" margin_pct, alpha_pct, cv_pct, drift_pct, design, version, looks, until_pct)"
		" VALUES (?, ?, ?, 'planned', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"ttittiddddttid", experiment->name, store_kind_name(what->kind), clock_wall_ns(),
		what->spec, sha256, experiment->design.seed, experiment->gates.margin_pct,
		experiment->gates.alpha_pct, gate(experiment->gates.cv_pct),
		gate(experiment->gates.drift_pct), design, what->version,
		(int64_t)experiment_looks(experiment),
		experiment->design.until == UNTIL_WIDTH ? experiment->design.until_pct
							: __builtin_nan(""));
	create->experiment_id = db_last_id(create->store->db);
	free(design);
	return ret;
}

int store_add_policies(struct store *store, int64_t experiment_id,
	const struct experiment *experiment, struct err *err)
{
	for (size_t i = 0; i < validity_reason_count; i++) {
		const struct validity_reason *reason = &validity_reasons[i];
		enum flag_policy policy =
			experiment ? experiment_policy(experiment, reason->name) : reason->policy;
		int ret = db_run(store->db, err, "INSERT INTO policy VALUES (?, ?, ?)", "itt",
			experiment_id, reason->name, flag_policy_name(policy));

		if (ret)
			return ret;
	}
	return 0;
}

/* What a variant changes at run time only, so that history of the same is found again. */
static void runtime_sha256(const struct variant *variant, char hex[SHA256_HEX_LEN + 1])
{
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add_field(&hash, variant->cmdline);
	for (size_t i = 0; i < argv_count(variant->features); i++)
		sha256_add_field(&hash, variant->features[i]);
	sha256_add_field(&hash, NULL);
	for (size_t i = 0; i < variant->sysctls.count; i++) {
		sha256_add_field(&hash, variant->sysctls.items[i].key);
		sha256_add_field(&hash, variant->sysctls.items[i].value);
	}
	sha256_add_field(&hash, NULL);
	for (size_t i = 0; i < argv_count(variant->scheduler); i++)
		sha256_add_field(&hash, variant->scheduler[i]);
	sha256_hex(&hash, hex);
}

static int add_variant(struct create *create, size_t index, struct err *err)
{
	const struct variant *variant = create->what->experiment->variants[index];
	const struct store_ref *ref = &create->what->refs[index];
	char runtime[SHA256_HEX_LEN + 1];
	char *recipe = variant_json(variant);
	int ret;

	runtime_sha256(variant, runtime);
	ret = db_run(create->store->db, err,
		"INSERT INTO variant (experiment_id, position, name, about, recipe, ref_commit,"
		" ref_subject, runtime_sha256, control, state)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'planned')",
		"iitttttti", create->experiment_id, (int64_t)index, variant->name, variant->about,
		recipe, ref->commit, ref->subject, runtime, (int64_t)variant->control);
	create->variant_ids[index] = db_last_id(create->store->db);
	free(recipe);
	return ret;
}

/* Each listed variant is compared with its `against:`, else with the first; the first itself and
 * those that are there only as another's baseline are compared with nothing. */
static int set_against(struct create *create, size_t index, struct err *err)
{
	const struct experiment *experiment = create->what->experiment;

	if (!experiment_is_compared(experiment, index))
		return 0;
	return db_run(create->store->db, err, "UPDATE variant SET against_id = ? WHERE id = ?",
		"ii", create->variant_ids[experiment_baseline_of(experiment, index)],
		create->variant_ids[index]);
}

static int set_layout_of(struct create *create, size_t index, struct err *err)
{
	const struct experiment *experiment = create->what->experiment;
	const char *name = experiment->variants[index]->layout_of;
	int from = name ? experiment_variant_index(experiment, name) : -1;

	return from < 0 ? 0
			: db_run(create->store->db, err,
				  "UPDATE variant SET layout_of_id = ? WHERE id = ?", "ii",
				  create->variant_ids[from], create->variant_ids[index]);
}

static int add_variants(struct create *create, struct err *err)
{
	size_t count = create->what->experiment->variant_count;
	int ret = 0;

	for (size_t i = 0; i < count && !ret; i++)
		ret = add_variant(create, i, err);
	for (size_t i = 0; i < count && !ret; i++) {
		ret = set_against(create, i, err);
		if (!ret)
			ret = set_layout_of(create, i, err);
	}
	return ret;
}

int store_machine_id(
	struct store *store, const char *name, const char *kind, int64_t *id, struct err *err)
{
	int ret = db_run(store->db, err, "INSERT OR IGNORE INTO machine (name, kind) VALUES (?, ?)",
		"tt", name, kind);

	if (ret)
		return ret;
	return db_get_int(store->db, id, err, "SELECT id FROM machine WHERE name = ?", "t", name);
}

int store_suite_id(struct store *store, const char *name, const char *sha256, const char *text,
	int64_t *id, struct err *err)
{
	int ret = db_run(store->db, err,
		"INSERT OR IGNORE INTO suite (name, sha256, text) VALUES (?, ?, ?)", "ttt", name,
		sha256, text);

	if (ret)
		return ret;
	return db_get_int(store->db, id, err, "SELECT id FROM suite WHERE name = ? AND sha256 = ?",
		"tt", name, sha256);
}

static int add_suites(struct create *create, struct err *err)
{
	const struct experiment *experiment = create->what->experiment;
	int ret = 0;

	for (size_t i = 0; i < experiment->suite_count && !ret; i++)
		ret = store_suite_id(create->store, experiment->suites[i].name,
			experiment->suites[i].sha256, experiment->suites[i].text,
			&create->suite_ids[i], err);
	return ret;
}

char *store_json_list(const char *const *items)
{
	json_t *list = json_array();
	struct str text = STR_INIT;

	for (size_t i = 0; i < argv_count(items); i++)
		json_array_append_new(list, json_text(items[i]));
	json_write(list, false, &text);
	json_decref(list);
	return str_take(&text);
}

static int64_t suite_row(const struct create *create, const struct suite *suite)
{
	return create->suite_ids[suite - create->what->experiment->suites];
}

static int add_metrics(
	struct create *create, const struct suite *suite, int64_t condition_id, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < suite->metric_count && !ret; i++) {
		const struct metric_spec *metric = &suite->metrics[i];

		ret = db_run(create->store->db, err,
			"INSERT INTO metric (condition_id, position, name, unit, better,"
			" percentile, pooled) VALUES (?, ?, ?, ?, ?, nullif(?, 0), ?)",
			"iitttdi", condition_id, (int64_t)i, metric->name, metric->unit,
			metric->better == BETTER_LOWER ? "lower" : "higher", metric->percentile,
			(int64_t)metric_is_pooled(metric));
	}
	return ret;
}

static int add_condition(struct create *create, const struct plan *plan, size_t index,
	int64_t machine_id, int64_t *id, struct err *err)
{
	const struct condition *condition = &plan->conditions[index];
	char *argv = store_json_list(condition->argv);
	char *env = store_json_list(condition->env);
	int ret = db_run(create->store->db, err,
		"INSERT INTO condition (experiment_id, machine_id, position, suite_id, name,"
		" saturation_pct, effective_pct, workers, tasks, cpus, argv, env, merged, control,"
		" decides) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"iiiitddiiitttii", create->experiment_id, machine_id, (int64_t)index,
		suite_row(create, condition->suite), condition->name, condition->saturation_pct,
		condition->effective_pct, condition->workers, condition->tasks, plan->cpus, argv,
		env, condition->merged ? condition->merged : "", (int64_t)condition->suite->control,
		(int64_t)experiment_decides(
			create->what->experiment, condition->suite, condition->spec->name));

	free(argv);
	free(env);
	if (ret)
		return ret;
	*id = db_last_id(create->store->db);
	return add_metrics(create, condition->suite, *id, err);
}

static int add_machine(struct create *create, const struct plan *plan, struct err *err)
{
	int64_t *condition_ids = xcalloc(plan->condition_count + 1, sizeof(*condition_ids));
	int64_t machine_id;
	int ret = store_machine_id(create->store, plan->machine->name,
		machine_kind_name(plan->machine->kind), &machine_id, err);

	for (size_t i = 0; i < plan->condition_count && !ret; i++)
		ret = add_condition(create, plan, i, machine_id, &condition_ids[i], err);
	if (!ret)
		ret = store_add_boots(create->store,
			&(struct store_boots){create->experiment_id, machine_id,
				create->variant_ids, condition_ids},
			plan, 0, err);
	free(condition_ids);
	return ret;
}

static int write_all(struct create *create, struct err *err)
{
	int ret = add_experiment(create, err);

	if (!ret)
		ret = store_add_policies(
			create->store, create->experiment_id, create->what->experiment, err);
	if (!ret)
		ret = add_variants(create, err);
	if (!ret)
		ret = add_suites(create, err);
	for (size_t i = 0; i < create->what->experiment->machine_count && !ret; i++)
		ret = add_machine(create, &create->what->plans[i], err);
	return ret;
}

int store_variant_add(struct store *store, int64_t experiment_id,
	const struct experiment *experiment, size_t index, const struct store_ref *ref,
	const char *spec, struct err *err)
{
	struct store_ref *refs = xcalloc(index + 1, sizeof(*refs));
	struct store_new what = {.experiment = experiment, .refs = refs};
	struct create create = {.store = store,
		.what = &what,
		.experiment_id = experiment_id,
		.variant_ids = xcalloc(index + 1, sizeof(int64_t))};
	char sha256[SHA256_HEX_LEN + 1];
	int ret = db_begin(store->db, err);

	refs[index] = *ref;
	sha256_of(spec, strlen(spec), sha256);
	if (!ret) {
		ret = add_variant(&create, index, err);
		if (!ret)
			ret = db_run(store->db, err,
				"UPDATE experiment SET spec = ?, spec_sha256 = ? WHERE id = ?",
				"tti", spec, sha256, experiment_id);
		ret = db_finish(store->db, ret, err);
	}
	free(create.variant_ids);
	free(refs);
	return ret;
}

int store_create(
	struct store *store, const struct store_new *what, int64_t *experiment_id, struct err *err)
{
	struct create create = {
		.store = store,
		.what = what,
		.variant_ids = xcalloc(what->experiment->variant_count + 1, sizeof(int64_t)),
		.suite_ids = xcalloc(what->experiment->suite_count + 1, sizeof(int64_t)),
	};
	int ret = db_begin(store->db, err);

	if (!ret)
		ret = db_finish(store->db, write_all(&create, err), err);
	if (!ret)
		*experiment_id = create.experiment_id;
	free(create.variant_ids);
	free(create.suite_ids);
	return ret;
}
