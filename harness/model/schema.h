/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_MODEL_SCHEMA_H
#define KB_MODEL_SCHEMA_H

#include "base/base.h"

/*
 * The database schema. schema_steps[v] takes a database from version v to v + 1 (PRAGMA
 * user_version); a new database runs all of them. Text is never edited after a release: a change is
 * a further step.
 */
enum { SCHEMA_VERSION = 12 };

extern const char *const schema_steps[SCHEMA_VERSION];

#endif
