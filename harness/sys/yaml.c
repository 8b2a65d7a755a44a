/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <yaml.h>

#include "base/file.h"
#include "base/str.h"
#include "sys/yaml.h"
#include "sys/yaml_text.h"

enum { FILE_MAX_BYTES = 1 << 20, NODES_MAX = 100000, LEVELS_MAX = 64, PROBLEMS_MAX = 500 };

struct reading {
	struct arena *arena;
	const char *name;
	struct yaml_text text;
	struct diag *diag;
	size_t problems_before;
	yaml_parser_t parser;
	size_t nodes;
	int level;
	bool ended; /* nothing more can be read */
};

struct node_list {
	struct ynode **items;
	size_t count, capacity;
};

static struct ynode *read_node(struct reading *r, const yaml_event_t *event);

KB_PRINTF(3, 4)
static void problem(struct reading *r, const yaml_mark_t *at, const char *fmt, ...)
{
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	diag_add(r->diag, r->name, (int)at->line + 1, (int)at->column + 1, "%s", str_text(&text));
	str_release(&text);
	if (r->diag->count - r->problems_before >= PROBLEMS_MAX)
		r->ended = true;
}

/* The parser allows tabs before a value inside brackets; we do not. */
static void check_indent(struct reading *r, const yaml_mark_t *at)
{
	yaml_mark_t tab = {.line = at->line};

	if (yaml_text_tab_before(&r->text, at->line, at->column, &tab.column))
		problem(r, &tab, "a tab is used as indentation: use spaces");
}

static void tell_parser_error(struct reading *r)
{
	const yaml_mark_t *at = &r->parser.problem_mark;
	const char *what = r->parser.problem ? r->parser.problem : "cannot be read";
	yaml_mark_t tab = {.line = at->line};

	r->ended = true;
	if (yaml_text_tab_before(&r->text, at->line, at->column, &tab.column))
		problem(r, &tab, "a tab is used as indentation: use spaces");
	else if (r->parser.context)
		problem(r, at, "%s, %s (begun at line %zu)", what, r->parser.context,
			r->parser.context_mark.line + 1);
	else
		problem(r, at, "%s", what);
}

/* The caller deletes the event. */
static bool next_event(struct reading *r, yaml_event_t *event)
{
	if (r->ended)
		return false;
	if (!yaml_parser_parse(&r->parser, event)) {
		tell_parser_error(r);
		return false;
	}
	return true;
}

static const char *anchor_of(const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return (const char *)event->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT:
		return (const char *)event->data.sequence_start.anchor;
	case YAML_MAPPING_START_EVENT:
		return (const char *)event->data.mapping_start.anchor;
	default:
		return NULL;
	}
}

static const char *tag_of(const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return (const char *)event->data.scalar.tag;
	case YAML_SEQUENCE_START_EVENT:
		return (const char *)event->data.sequence_start.tag;
	case YAML_MAPPING_START_EVENT:
		return (const char *)event->data.mapping_start.tag;
	default:
		return NULL;
	}
}

static struct ynode *new_node(struct reading *r, const yaml_event_t *event)
{
	const yaml_mark_t *at = &event->start_mark;
	struct ynode *node = arena_alloc(r->arena, sizeof(*node));

	node->file = r->name;
	node->line = (int)at->line + 1;
	node->column = (int)at->column + 1;
	node->text = "";
	check_indent(r, at);
	if (anchor_of(event))
		problem(r, at, "anchors (&%.40s) are not supported: write the value out",
			anchor_of(event));
	if (tag_of(event))
		problem(r, at, "tags (%.40s) are not supported", tag_of(event));
	if (++r->nodes > NODES_MAX) {
		problem(r, at, "the file has more than %d values", NODES_MAX);
		r->ended = true;
	}
	return node;
}

static void read_scalar(struct reading *r, const yaml_event_t *event, struct ynode *node)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;

	node->kind = YNODE_SCALAR;
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (memchr(text, '\0', len))
		problem(r, &event->start_mark, "a text may not hold a NUL character");
	node->text = arena_strndup(r->arena, text, len);
}

static bool enter(struct reading *r, const yaml_event_t *event)
{
	if (++r->level <= LEVELS_MAX)
		return true;
	problem(r, &event->start_mark, "values are nested deeper than %d levels", LEVELS_MAX);
	r->ended = true;
	return false;
}

static void keep_items(struct reading *r, struct node_list *list, struct ynode ***out)
{
	*out = arena_copy(r->arena, list->items, list->count, sizeof(*list->items));
	free(list->items);
}

static void read_seq(struct reading *r, struct ynode *node)
{
	struct node_list items = {NULL, 0, 0};
	yaml_event_t event;

	node->kind = YNODE_SEQ;
	while (next_event(r, &event)) {
		bool end = event.type == YAML_SEQUENCE_END_EVENT;

		if (!end) {
			GROW(items.items, items.count, items.capacity);
			items.items[items.count++] = read_node(r, &event);
		}
		yaml_event_delete(&event);
		if (end)
			break;
	}
	node->count = items.count;
	keep_items(r, &items, &node->items);
}

static int by_text_then_place(const void *pa, const void *pb)
{
	const struct ynode *a = *(struct ynode *const *)pa, *b = *(struct ynode *const *)pb;
	int order = strcmp(a->text, b->text);

	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	return order ? order : (a->column > b->column) - (a->column < b->column);
}

static void check_duplicates(struct reading *r, const struct node_list *keys)
{
	struct ynode **sorted;

	if (keys->count < 2)
		return;
	sorted = xcalloc(keys->count, sizeof(struct ynode *));
	memcpy(sorted, keys->items, keys->count * sizeof(struct ynode *));
	qsort(sorted, keys->count, sizeof(struct ynode *), by_text_then_place);
	for (size_t i = 1; i < keys->count; i++) {
		const struct ynode *first = sorted[i - 1], *again = sorted[i];
		yaml_mark_t at = {
			.line = (size_t)again->line - 1, .column = (size_t)again->column - 1};

		if (strcmp(first->text, again->text) == 0)
			problem(r, &at, "'%.60s' is already there at line %d", again->text,
				first->line);
	}
	free(sorted);
}

static struct ynode *read_key(struct reading *r, const yaml_event_t *event)
{
	struct ynode *key = read_node(r, event);

	if (key->kind != YNODE_SCALAR)
		problem(r, &event->start_mark, "a key must be a plain word, not a list or mapping");
	else if (!key->text[0])
		problem(r, &event->start_mark, "a key is missing before the colon");
	key->kind = YNODE_SCALAR;
	return key;
}

static void read_map(struct reading *r, struct ynode *node)
{
	struct node_list keys = {NULL, 0, 0}, values = {NULL, 0, 0};
	yaml_event_t event;

	node->kind = YNODE_MAP;
	while (next_event(r, &event)) {
		bool end = event.type == YAML_MAPPING_END_EVENT;

		if (!end) {
			GROW(keys.items, keys.count, keys.capacity);
			keys.items[keys.count++] = read_key(r, &event);
		}
		yaml_event_delete(&event);
		if (end || !next_event(r, &event))
			break;
		GROW(values.items, values.count, values.capacity);
		values.items[values.count++] = read_node(r, &event);
		yaml_event_delete(&event);
	}
	check_duplicates(r, &keys);
	node->count = values.count;
	keep_items(r, &keys, &node->keys);
	keep_items(r, &values, &node->items);
}

/* Reads the node that begins with this event. After a problem that ends the reading it may be
 * incomplete; nobody sees it then. */
static struct ynode *read_node(struct reading *r, const yaml_event_t *event)
{
	struct ynode *node = new_node(r, event);

	switch (event->type) {
	case YAML_SCALAR_EVENT:
		read_scalar(r, event, node);
		break;
	case YAML_SEQUENCE_START_EVENT:
		if (enter(r, event))
			read_seq(r, node);
		r->level--;
		break;
	case YAML_MAPPING_START_EVENT:
		if (enter(r, event))
			read_map(r, node);
		r->level--;
		break;
	case YAML_ALIAS_EVENT:
		problem(r, &event->start_mark,
			"aliases (*%.40s) are not supported: write the value out",
			(const char *)event->data.alias.anchor);
		break;
	default:
		BUG("a value cannot begin with YAML event %d", (int)event->type);
	}
	return node;
}

static void check_document(struct reading *r, const yaml_event_t *event, bool again)
{
	const yaml_version_directive_t *version = event->data.document_start.version_directive;

	if (again) {
		problem(r, &event->start_mark, "a second document begins here: write two files");
		r->ended = true;
	} else if (version || event->data.document_start.tag_directives.start !=
				      event->data.document_start.tag_directives.end) {
		problem(r, &event->start_mark, "directives (%%YAML, %%TAG) are not supported");
	}
}

static struct ynode *read_stream(struct reading *r)
{
	struct ynode *root = NULL;
	yaml_event_t event;

	while (next_event(r, &event)) {
		bool end = event.type == YAML_STREAM_END_EVENT;

		if (event.type == YAML_DOCUMENT_START_EVENT)
			check_document(r, &event, root != NULL);
		else if (!end && event.type != YAML_STREAM_START_EVENT &&
			 event.type != YAML_DOCUMENT_END_EVENT)
			root = read_node(r, &event);
		yaml_event_delete(&event);
		if (end)
			break;
	}
	if (!root) {
		root = arena_alloc(r->arena, sizeof(*root));
		*root = (struct ynode){
			.kind = YNODE_MAP, .file = r->name, .line = 1, .column = 1, .text = ""};
	}
	return root;
}

static struct ynode *parse(struct reading *r)
{
	struct ynode *root;

	if (!yaml_parser_initialize(&r->parser))
		BUG("no YAML parser");
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text.text, r->text.len);
	root = read_stream(r);
	yaml_parser_delete(&r->parser);
	return root;
}

int yaml_read_text(struct arena *arena, const char *name, const char *text, size_t len,
	const struct ynode **out, struct diag *diag)
{
	struct reading r = {.arena = arena,
		.name = arena_strdup(arena, name),
		.diag = diag,
		.problems_before = diag->count};
	struct ynode *root = NULL;

	if (yaml_text_init(&r.text, r.name, text, len, diag) == 0)
		root = parse(&r);
	yaml_text_release(&r.text);
	if (diag->count > r.problems_before)
		return ERR_USAGE;
	*out = root;
	return 0;
}

int yaml_read_file(
	struct arena *arena, const char *path, const struct ynode **out, struct diag *diag)
{
	struct str text = STR_INIT;
	struct err err = ERR_INIT;
	bool readable = false;
	int ret;

	if (file_size(path) > FILE_MAX_BYTES)
		diag_add(diag, path, 1, 1, "the file is larger than 1 MiB");
	else if (file_read(path, FILE_MAX_BYTES, &text, &err) != 0)
		diag_add(diag, path, 0, 0, "%s", err.text);
	else
		readable = true;
	if (!readable)
		return ERR_USAGE;
	ret = yaml_read_text(arena, path, str_text(&text), text.len, out, diag);
	str_release(&text);
	return ret;
}

const struct ynode *ynode_get(const struct ynode *node, const char *key)
{
	if (!node || node->kind != YNODE_MAP)
		return NULL;
	for (size_t i = 0; i < node->count; i++)
		if (strcmp(node->keys[i]->text, key) == 0)
			return node->items[i];
	return NULL;
}

bool ynode_is_null(const struct ynode *node)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

	if (node->kind != YNODE_SCALAR || node->quoted)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(nulls); i++)
		if (strcmp(node->text, nulls[i]) == 0)
			return true;
	return false;
}
