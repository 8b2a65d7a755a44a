/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/strv.h"
#include "model/variant.h"
#include "reading.h"

struct reader {
	struct arena arena;
	struct diag diag;
	struct kernels kernels;
};

static int set_up(void **state)
{
	*state = xcalloc(1, sizeof(struct reader));
	return 0;
}

static int tear_down(void **state)
{
	struct reader *r = *state;

	arena_release(&r->arena);
	diag_release(&r->diag);
	free(r);
	return 0;
}

static int read_text(struct reader *r, const char *text)
{
	return kernels_read_node(&r->arena, yaml_of(&r->arena, text), &r->kernels, &r->diag);
}

static const struct variant *get(struct reader *r, const char *name)
{
	const struct variant *variant = kernels_find(&r->kernels, name);

	assert_non_null(variant);
	return variant;
}

static void the_design_example_is_read(void **state)
{
	struct reader *r = *state;
	const struct variant *v;

	assert_int_equal(
		read_text(r, "tree: /src/linux\n"
			     "config: { base: tinyconfig, fragments: [/dev/null] }\n"
			     "variants:\n"
			     "  baseline:     { ref: v6.18.8, revert: [33cf66d88306] }\n"
			     "  proportional: { ref: v6.18.8 }\n"
			     "  revert:       { like: baseline }\n"
			     "  rate-fix:     { ref: v6.18.8, patches: [/dev/null] }\n"
			     "  v7.3:         { ref: v7.3 }\n"
			     "  bresenham:    { ref: v7.3, against: v7.3, patches: "
			     "[\"lore:20261030091946.2498870-1-wangqing7171@gmail.com\"] }\n"
			     "  no-random:    { like: proportional, features: [NO_NI_RANDOM] }\n"
			     "  cosmos:       { like: revert, scheduler: [scx_cosmos, -m, 0-5, -s, "
			     "\"800\"] }\n"),
		0);
	assert_int_equal(r->kernels.count, 8);
	v = get(r, "revert");
	assert_string_equal(v->tree, "/src/linux");
	assert_string_equal(v->ref, "v6.18.8");
	assert_string_equal(v->reverts[0], "33cf66d88306");
	assert_string_equal(v->like, "baseline");
	assert_string_equal(v->config.base, "tinyconfig");
	assert_string_equal(v->config.fragments[0], "/dev/null");
	assert_string_equal(v->arch, "x86_64");
	assert_string_equal(v->cmdline, "");
	assert_int_equal(v->place.line, 6);
	assert_true(variant_same_recipe(v, get(r, "baseline")));
	assert_false(variant_same_recipe(v, get(r, "proportional")));
	v = get(r, "no-random");
	assert_string_equal(v->features[0], "NO_NI_RANDOM");
	assert_int_equal(argv_count(v->reverts), 0);
	assert_true(variant_same_recipe(v, get(r, "proportional")));
	assert_string_equal(get(r, "bresenham")->against, "v7.3");
	assert_true(str_starts(get(r, "bresenham")->patches[0], "lore:2026"));
	assert_int_equal(argv_count(get(r, "cosmos")->scheduler), 5);
}

static void like_overlays_key_by_key(void **state)
{
	struct reader *r = *state;
	const struct variant *v;

	assert_int_equal(read_text(r, "tree: /t\nconfig: {base: allnoconfig}\ncmdline: quiet\n"
				      "variants:\n"
				      "  leaf: {like: middle, sysctls: {c.c: '3'}, revert: []}\n"
				      "  middle: {like: root, sysctls: {a.a: '2', b.b: '1'}, "
				      "config: {fragments: [/dev/null]}}\n"
				      "  root: {ref: HEAD, about: the root, revert: [x], "
				      "sysctls: {a.a: '1'}, cmdline: loud}\n"),
		0);
	v = get(r, "leaf");
	assert_string_equal(v->ref, "HEAD");
	assert_string_equal(v->about, "");
	assert_string_equal(v->like, "middle");
	assert_int_equal(argv_count(v->reverts), 0);
	assert_string_equal(v->cmdline, "loud");
	assert_string_equal(v->config.base, "allnoconfig");
	assert_string_equal(v->config.fragments[0], "/dev/null");
	assert_int_equal(v->sysctls.count, 3);
	assert_string_equal(v->sysctls.items[0].value, "2");
	assert_string_equal(v->sysctls.items[2].key, "c.c");
	assert_string_equal(get(r, "root")->sysctls.items[0].value, "1");
	assert_null(get(r, "root")->like);
}

static void a_control_is_another_label_of_one_kernel(void **state)
{
	struct reader *r = *state;
	const struct variant *v;
	char *json;

	assert_int_equal(
		read_text(r, "tree: /t\nvariants:\n"
			     "  base: {ref: HEAD, about: one}\n"
			     "  new: {ref: HEAD^, cmdline: quiet, against: base}\n"
			     "  again: {like: base, control: true}\n"
			     "  twin: {like: new, control: true, about: the new one once more}\n"
			     "  child: {like: again}\n"),
		0);
	v = get(r, "again");
	assert_true(v->control);
	assert_string_equal(v->against, "base");
	assert_true(variant_same_kernel(v, get(r, "base")));
	assert_true(variant_same_recipe(v, get(r, "base")));
	/* compared with what it is another label of, not with that one's baseline */
	assert_string_equal(get(r, "twin")->against, "new");
	assert_false(get(r, "child")->control);
	/* what is stored is read back as the same */
	json = variant_json(v);
	assert_non_null(strstr(json, "\"control\":true"));
	free(json);
}

static void a_control_that_is_none_is_refused(void **state)
{
	static const char *const differ[] = {"cmdline: quiet", "revert: [x]",
		"features: [NO_NI_RANDOM]", "sysctls: {kernel.x: '1'}", "scheduler: [scx]",
		"ref: HEAD^", "config: {base: tinyconfig}"};
	struct reader *r = *state;

	for (size_t i = 0; i < ARRAY_SIZE(differ); i++) {
		char *text = arena_printf(&r->arena,
			"tree: /t\nvariants:\n  base: {ref: HEAD}\n"
			"  again: {like: base, control: true, %s}\n",
			differ[i]);

		assert_int_equal(read_text(r, text), ERR_USAGE);
		assert_messages(&r->arena, &r->diag,
			"test.yaml:4:3: variant 'again' is a control, and so the same kernel as "
			"'base' under another label; the two differ in more than the label\n");
		diag_release(&r->diag);
		r->diag = (struct diag)DIAG_INIT;
	}
	assert_int_equal(read_text(r, "tree: /t\nvariants:\n  a: {ref: HEAD, control: true}\n"
				      "  b: {ref: HEAD}\n  c: {like: b, control: true}\n"
				      "  d: {like: c, control: true}\n"),
		ERR_USAGE);
	assert_messages(&r->arena, &r->diag,
		"test.yaml:3:3: variant 'a' is a control and does not say of what: like names the "
		"variant that it is another label of\n"
		"test.yaml:6:3: variant 'd' is a control, and so the same kernel as 'c' under "
		"another label; that is a control itself\n");
}

static void circles_of_like_are_found(void **state)
{
	struct reader *r = *state;

	assert_int_equal(read_text(r, "tree: /t\nvariants:\n  a: {ref: x, like: b}\n"
				      "  b: {like: c}\n  c: {like: a}\n  d: {ref: x, like: d}\n"
				      "  e: {ref: x, like: aa}\n"),
		ERR_USAGE);
	assert_messages(&r->arena, &r->diag,
		"test.yaml:5:13: like: goes round in a circle: 'a' leads back to itself\n"
		"test.yaml:6:21: like: goes round in a circle: 'd' leads back to itself\n"
		"test.yaml:7:21: like: there is no variant 'aa' in this file; did you mean 'a'?\n");
}

static void a_long_chain_of_like_is_fine(void **state)
{
	struct reader *r = *state;
	struct str text = STR_INIT;

	str_add(&text, "tree: /t\nvariants:\n");
	for (int i = 0; i < 199; i++)
		str_addf(&text, "  v%d: {like: v%d}\n", i, i + 1);
	str_add(&text, "  v199: {ref: HEAD}\n");
	assert_int_equal(read_text(r, str_text(&text)), 0);
	assert_string_equal(get(r, "v0")->ref, "HEAD");
	str_add(&text, "  v200: {ref: HEAD}\n");
	assert_int_equal(read_text(r, str_text(&text)), ERR_USAGE);
	assert_non_null(strstr(messages(&r->arena, &r->diag), "at most 200"));
	str_release(&text);
}

static void prebuilt_kernels_are_read(void **state)
{
	struct reader *r = *state;

	assert_int_equal(read_text(r, "variants:\n  A: {prebuilt: {package: linux-image-6.1*}, "
				      "features: [NI_RANDOM]}\n"
				      "  B: {like: A, features: [NO_NI_RANDOM]}\n"
				      "  C: {prebuilt: {image: /dev/null, modules: /lib}}\n"),
		0);
	assert_true(get(r, "B")->is_prebuilt);
	assert_string_equal(get(r, "B")->prebuilt.package, "linux-image-6.1*");
	assert_true(variant_same_recipe(get(r, "A"), get(r, "B")));
	assert_string_equal(get(r, "C")->prebuilt.image, "/dev/null");
	assert_false(variant_same_recipe(get(r, "A"), get(r, "C")));
}

static void wrong_recipes_are_told(void **state)
{
	struct reader *r = *state;

	assert_int_equal(
		read_text(r,
			"variants:\n"
			"  a: {ref: x}\n"
			"  b: {patches: [/dev/null]}\n"
			"  c: {prebuilt: {}}\n"
			"  d: {prebuilt: {package: p, image: /dev/null}, ref: x, patches: "
			"[/dev/null]}\n"
			"  e: {prebuilt: {image: /nonexistent/vmlinuz}}\n"
			"  f: {prebuilt: {package: 'p;reboot'}}\n"
			"  g/h: {prebuilt: {package: p}}\n"
			"  i: {tree: /t, ref: x, against: i}\n"
			"  j: {tree: /t, ref: x, against: jj}\n"
			"  k: {tree: /t, ref: x, features: [ni], sysctls: {kernel/x: 1}}\n"
			"  l: {tree: /t, ref: x, patches: [/nonexistent/p, 'lore:x', "
			"'lore:a@b sha256:12']}\n"
			"  m: {tree: /t, ref: x, config: {base: ./none, fragments: "
			"[none.config]}}\n"
			"  n: [ref]\n"
			"  o: {tree: /t, ref: '--upload-pack=x', lore_url: 'http://example.org'}\n"
			"  p: {prebuilt: {package: p, modules: /lib}, tre: /t}\n"),
		ERR_USAGE);
	assert_messages(&r->arena, &r->diag,
		"test.yaml:2:6: variant 'a' has a ref, but there is no tree in it or at the top "
		"of the file\n"
		"test.yaml:3:6: variant 'b' has 'patches' and no ref that it is for\n"
		"test.yaml:4:17: prebuilt wants either image or package\n"
		"test.yaml:5:17: prebuilt wants either image or package\n"
		"test.yaml:5:54: variant 'd' is prebuilt and cannot have 'ref'\n"
		"test.yaml:5:66: variant 'd' is prebuilt and cannot have 'patches'\n"
		"test.yaml:6:25: image: there is no file /nonexistent/vmlinuz\n"
		"test.yaml:7:17: prebuilt wants either image or package\n"
		"test.yaml:7:27: package: 'p;reboot' is not a package name; a * may stand at its "
		"end only\n"
		"test.yaml:8:3: variant: 'g/h' is not a name: letters, digits and . _ + - only, a "
		"letter, digit or _ first\n"
		"test.yaml:9:34: against: variant 'i' cannot be its own baseline\n"
		"test.yaml:10:34: against: there is no variant 'jj' in this file; did you mean "
		"'j'?\n"
		"test.yaml:11:36: features: 'ni' is not a scheduler feature such as NI_RANDOM or "
		"NO_NI_RANDOM\n"
		"test.yaml:11:51: sysctls: 'kernel/x' is not a sysctl with dots, such as "
		"kernel.sched_schedstats\n"
		"test.yaml:12:35: patches: there is no file /nonexistent/p\n"
		"test.yaml:12:51: patches: 'lore:x' is not lore:MESSAGE-ID, such as "
		"lore:20250101120000.1234-1-a@example.org\n"
		"test.yaml:12:61: patches: 'lore:a@b sha256:12' has something other than sha256: "
		"and 64 hex digits after the message id\n"
		"test.yaml:13:40: base: there is no file none\n"
		"test.yaml:13:60: fragments: there is no file none.config\n"
		"test.yaml:14:6: n wants a mapping such as {key: value}, not a list\n"
		"test.yaml:15:22: ref: '--upload-pack=x' is not a git revision\n"
		"test.yaml:15:51: lore_url: 'http://example.org' is not an https:// address\n"
		"test.yaml:16:17: a package brings its own modules\n"
		"test.yaml:16:46: unknown key 'tre' in a variant; did you mean 'tree'?\n");
}

static void what_is_written_reads_as_the_same(void **state)
{
	struct reader *r = *state, again = {0};
	struct str text = STR_INIT;
	json_t *json;

	assert_int_equal(
		read_text(r,
			"tree: /src/linux\nconfig: {base: tinyconfig, fragments: [/dev/null]}\n"
			"variants:\n"
			"  a: {ref: v6.18.8, revert: [x], about: 'one: two'}\n"
			"  b: {like: a, features: [NO_X], revert: [], against: a}\n"
			"  c: {prebuilt: {package: linux-image-6.1*}, sysctls: {a.b: '1'}}\n"
			"  d: {like: a, patches: ['lore:a@b'], scheduler: [scx, -s, '800']}\n"),
		0);
	json = kernels_json(r->kernels.variants, r->kernels.count);
	opt_write_yaml(json, &text);
	assert_int_equal(kernels_read_node(&again.arena, yaml_of(&again.arena, str_text(&text)),
				 &again.kernels, &again.diag),
		0);
	assert_int_equal(again.kernels.count, r->kernels.count);
	for (size_t i = 0; i < r->kernels.count; i++) {
		struct variant before = r->kernels.variants[i];
		char *one, *two = variant_json(&again.kernels.variants[i]);

		before.like = NULL;
		one = variant_json(&before);
		assert_string_equal(one, two);
		free(one);
		free(two);
	}
	json_decref(json);
	str_release(&text);
	arena_release(&again.arena);
}

static void a_recipe_is_written_as_json(void **state)
{
	struct reader *r = *state;
	char *json;

	assert_int_equal(read_text(r, "variants:\n  A: {prebuilt: {package: linux-image-6.1*}, "
				      "features: [NI_RANDOM]}\n"),
		0);
	json = variant_json(get(r, "A"));
	assert_string_equal(json, "{\"prebuilt\":{\"package\":\"linux-image-6.1*\"},"
				  "\"arch\":\"x86_64\",\"features\":[\"NI_RANDOM\"]}");
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_design_example_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(like_overlays_key_by_key, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_control_is_another_label_of_one_kernel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_control_that_is_none_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(circles_of_like_are_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_long_chain_of_like_is_fine, set_up, tear_down),
		cmocka_unit_test_setup_teardown(prebuilt_kernels_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_recipes_are_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_written_reads_as_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_recipe_is_written_as_json, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
