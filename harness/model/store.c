/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/file.h"
#include "model/schema.h"
#include "model/store.h"
#include "model/store_db.h"

/* "kbr1": so that another program's database is not taken for ours. */
enum { APPLICATION_ID = 0x6b627231 };

static const char *const state_names[] = {
	[STATE_PLANNED] = "planned",
	[STATE_STARTED] = "started",
	[STATE_DONE] = "done",
	[STATE_FAILED] = "failed",
	[STATE_INTERRUPTED] = "interrupted",
};

static const char *const kind_names[] = {
	[KIND_EXPERIMENT] = "experiment",
	[KIND_CALIBRATION] = "calibration",
	[KIND_IMPORT] = "import",
};

const char *store_state_name(enum store_state state)
{
	return state_names[state];
}

const char *store_kind_name(enum store_kind kind)
{
	return kind_names[kind];
}

static int name_index(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; name && i < count; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	BUG("the database holds '%s', which its own checks forbid", name ? name : "NULL");
}

enum store_state store_state_parse(const char *name)
{
	return (enum store_state)name_index(state_names, ARRAY_SIZE(state_names), name);
}

enum store_kind store_kind_parse(const char *name)
{
	return (enum store_kind)name_index(kind_names, ARRAY_SIZE(kind_names), name);
}

const char *store_arena_text(struct arena *arena, struct db_rows *rows, int column)
{
	const char *text = db_text(rows, column);

	return text ? arena_strdup(arena, text) : "";
}

int64_t store_int_or(struct db_rows *rows, int column, int64_t fallback)
{
	return db_is_null(rows, column) ? fallback : db_int(rows, column);
}

static int run_steps(struct db *db, int64_t version, struct err *err)
{
	char pragmas[96];

	for (int64_t v = version; v < SCHEMA_VERSION; v++) {
		int ret = db_script(db, schema_steps[v], err);

		if (ret)
			return err_wrap(err, "schema step %d", (int)v + 1);
	}
	snprintf(pragmas, sizeof(pragmas), "PRAGMA application_id = %d; PRAGMA user_version = %d;",
		APPLICATION_ID, SCHEMA_VERSION);
	return db_script(db, pragmas, err);
}

/* Refuses what is not ours; *version is 0 for a new, empty file. */
static int check_version(struct db *db, int64_t *version, struct err *err)
{
	int64_t id, tables;
	int ret = db_get_int(db, version, err, "PRAGMA user_version", "");

	if (!ret)
		ret = db_get_int(db, &id, err, "PRAGMA application_id", "");
	if (!ret)
		ret = db_get_int(db, &tables, err, "SELECT count(*) FROM sqlite_schema", "");
	if (ret)
		return ret;
	if (id != APPLICATION_ID && (id || *version || tables))
		return err_set(err, ERR_USAGE,
			"%s is a database of another program; name another file", db_path(db));
	if (*version > SCHEMA_VERSION)
		return err_set(err, ERR_USAGE,
			"%s was written by a newer kbracket (schema %d, this one knows %d); use "
			"that "
			"one",
			db_path(db), (int)*version, SCHEMA_VERSION);
	return 0;
}

static int migrate(struct db *db, struct err *err)
{
	int64_t version;
	int ret = check_version(db, &version, err);

	if (ret || version == SCHEMA_VERSION)
		return ret;
	ret = db_begin(db, err);
	if (ret)
		return ret;
	/* Another kbracket may have been faster: look again now that nobody else can write. */
	ret = check_version(db, &version, err);
	if (!ret && version < SCHEMA_VERSION)
		ret = run_steps(db, version, err);
	return db_finish(db, ret, err);
}

static int open_writable(const char *path, struct db **db, struct err *err)
{
	struct db *opened;
	char *folder = path_dir(path);
	int ret = file_mkdirs(folder, 0777, err);

	free(folder);
	if (!ret)
		ret = db_open(path, DB_READ_WRITE, &opened, err);
	if (ret)
		return ret;
	ret = migrate(opened, err);
	if (ret)
		db_close(opened);
	else
		*db = opened;
	return ret;
}

static int open_readable(const char *path, struct db **db, struct err *err)
{
	struct db *opened;
	int64_t version;
	int ret;

	if (!file_exists(path))
		return err_set(err, ERR_NOT_FOUND,
			"there is no database %s yet; `kbracket run` makes it", path);
	ret = db_open(path, DB_READ_ONLY, &opened, err);
	if (ret)
		return ret;
	ret = check_version(opened, &version, err);
	if (!ret && version < SCHEMA_VERSION) {
		db_close(opened);
		ret = open_writable(path, &opened, err);
		if (ret)
			return ret;
	}
	if (ret)
		db_close(opened);
	else
		*db = opened;
	return ret;
}

int store_open(const char *path, enum store_mode mode, struct store **out, struct err *err)
{
	struct db *db;
	struct store *store;
	int ret =
		mode == STORE_WRITE ? open_writable(path, &db, err) : open_readable(path, &db, err);

	if (ret)
		return ret;
	store = xcalloc(1, sizeof(*store));
	store->db = db;
	store->folder = path_dir(path);
	*out = store;
	return 0;
}

void store_disconnect(struct store *store)
{
	db_disconnect(store->db);
}

int store_reconnect(struct store *store, struct err *err)
{
	return db_reconnect(store->db, err);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	db_close(store->db);
	free(store->folder);
	free(store);
}

const char *store_folder(const struct store *store)
{
	return store->folder;
}

int store_begin(struct store *store, struct err *err)
{
	return db_begin(store->db, err);
}

int store_finish(struct store *store, int ret, struct err *err)
{
	return db_finish(store->db, ret, err);
}
