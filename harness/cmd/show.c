/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/num.h"
#include "cmd/answer.h"
#include "cmd/show.h"
#include "model/store_view.h"
#include "sys/json_put.h"

static void put_time(json_t *object, const char *key, int64_t wall_ns)
{
	struct str text = STR_INIT;

	if (wall_ns > 0)
		clock_add_utc(&text, wall_ns);
	json_put_text(object, key, wall_ns > 0 ? str_text(&text) : NULL);
	str_release(&text);
}

static void add_column(struct str *out, const char *text, int width)
{
	struct str safe = STR_INIT;

	str_add_safe(&safe, text, strlen(text));
	str_addf(out, "%-*s  ", width, str_text(&safe));
	str_release(&safe);
}

static void write_list_line(const struct store_experiment *head)
{
	struct str out = STR_INIT, time = STR_INIT;

	clock_add_utc(&time, head->created_ns);
	str_addf(&out, "%5lld  %s  ", (long long)head->id, str_text(&time));
	add_column(&out, store_kind_name(head->kind), 11);
	add_column(&out, store_state_name(head->state), 11);
	add_column(&out, head->name, 20);
	str_addf(&out, "%s\n", head->design);
	ui_write_text(&out);
	str_release(&out);
	str_release(&time);
}

static json_t *head_json(const struct store_experiment *head)
{
	json_t *out = json_object();

	json_put_int(out, "experiment", head->id);
	json_put_text(out, "name", head->name);
	json_put_text(out, "kind", store_kind_name(head->kind));
	json_put_text(out, "state", store_state_name(head->state));
	put_time(out, "created", head->created_ns);
	json_put_text(out, "design", head->design);
	json_put_text(out, "config_sha256", head->spec_sha256);
	json_put_text(out, "kbracket", head->version);
	return out;
}

int show_list(struct cmd *cmd, struct err *err)
{
	json_t *list = cmd->global->json ? json_array() : NULL;
	struct store_experiment *heads;
	size_t count;
	int ret = store_list(cmd->store, cmd->arena, &heads, &count, err);

	for (size_t i = 0; i < count && !ret; i++) {
		if (list)
			json_push(list, head_json(&heads[i]));
		else
			write_list_line(&heads[i]);
	}
	if (list && !ret)
		answer_json(json_incref(list));
	json_decref(list);
	return ret;
}

int show_spec(struct cmd *cmd, int64_t experiment_id, struct err *err)
{
	struct store_experiment head;
	int ret = store_load_head(cmd->store, experiment_id, cmd->arena, &head, err);

	if (!ret && head.kind == KIND_IMPORT)
		ret = err_set(err, ERR_USAGE,
			"experiment %lld was imported: it has no "
			"configuration",
			(long long)experiment_id);
	if (!ret)
		ui_write(head.spec, strlen(head.spec));
	return ret;
}

static json_t *variant_json_short(const struct store_variant *variant)
{
	json_t *out = json_object();

	json_put_text(out, "name", variant->name);
	if (variant->against)
		json_put_text(out, "against", variant->against->name);
	json_put_text(out, "state", store_state_name(variant->state));
	if (*variant->reason)
		json_put_text(out, "reason", variant->reason);
	if (*variant->ref_commit)
		json_put_text(out, "commit", variant->ref_commit);
	if (variant->build)
		json_put_text(out, "build", variant->build->key);
	return out;
}

static json_t *boot_json_short(const struct store_boot *boot)
{
	json_t *out = json_object();

	json_put_int(out, "boot", boot->ordinal);
	json_put_int(out, "block", boot->block);
	json_put_text(out, "variant", boot->variant->name);
	json_put_text(out, "state", store_state_name(boot->state));
	if (*boot->reason)
		json_put_text(out, "reason", boot->reason);
	return out;
}

static json_t *view_json(const struct store_view *view)
{
	json_t *out = head_json(&view->head), *variants = json_array(), *machines = json_array();

	for (size_t v = 0; v < view->variant_count; v++)
		json_push(variants, variant_json_short(&view->variants[v]));
	json_put(out, "variants", variants);
	for (size_t m = 0; m < view->machine_count; m++) {
		json_t *machine = json_object(), *boots = json_array();

		json_put_text(machine, "machine", view->machines[m].name);
		json_put_text(machine, "kind", view->machines[m].kind);
		for (size_t b = 0; b < view->machines[m].boot_count; b++)
			json_push(boots, boot_json_short(&view->machines[m].boots[b]));
		json_put(machine, "boots", boots);
		json_push(machines, machine);
	}
	json_put(out, "machines", machines);
	return out;
}

static void write_boots(const struct store_machine *machine)
{
	struct str out = STR_INIT;

	str_add(&out, "\nmachine ");
	str_add_safe(&out, machine->name, strlen(machine->name));
	str_addf(&out, " (%s)\n", machine->kind);
	for (size_t b = 0; b < machine->boot_count; b++) {
		const struct store_boot *boot = &machine->boots[b];

		str_addf(&out, "  boot %3d  block %2d  ", boot->ordinal, boot->block);
		add_column(&out, boot->variant->name, 16);
		add_column(&out, store_state_name(boot->state), 8);
		str_add_safe(&out, boot->reason, strlen(boot->reason));
		if (*boot->detail) {
			str_add(&out, ": ");
			str_add_safe(&out, boot->detail, strlen(boot->detail));
		}
		str_add_char(&out, '\n');
	}
	ui_write_text(&out);
	str_release(&out);
}

static void write_variants(const struct store_view *view)
{
	struct str out = STR_INIT;

	for (size_t v = 0; v < view->variant_count; v++) {
		const struct store_variant *variant = &view->variants[v];

		str_add(&out, "  ");
		add_column(&out, variant->name, 16);
		add_column(&out, store_state_name(variant->state), 8);
		if (variant->build)
			str_addf(&out, "build %.12s  release %s", variant->build->key,
				variant->build->release);
		else
			str_add_safe(&out, variant->reason, strlen(variant->reason));
		str_add_char(&out, '\n');
	}
	ui_write_text(&out);
	str_release(&out);
}

int show_experiment(struct cmd *cmd, int64_t experiment_id, struct err *err)
{
	struct store_view view;
	int ret = store_load(cmd->store, experiment_id, cmd->arena, &view, err);

	if (ret)
		return ret;
	if (cmd->global->json) {
		answer_json(view_json(&view));
		return 0;
	}
	write_list_line(&view.head);
	write_variants(&view);
	for (size_t m = 0; m < view.machine_count; m++)
		write_boots(&view.machines[m]);
	return 0;
}
