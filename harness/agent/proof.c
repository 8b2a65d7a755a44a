/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/file.h"

#include "agent/js.h"
#include "agent/knobs.h"
#include "agent/probe.h"
#include "agent/proof.h"
#include "agent/scheduler.h"

enum { NOTE_GNU_BUILD_ID = 3, NOTE_HEAD_BYTES = 12 };

static uint32_t word_at(const struct str *notes, size_t at)
{
	uint32_t word;

	memcpy(&word, notes->text + at, sizeof(word));
	return word;
}

static size_t padded(uint32_t len)
{
	return ((size_t)len + 3) & ~(size_t)3;
}

/* /sys/kernel/notes is a list of ELF notes (elf(5), Nhdr): name length, descriptor length, type,
 * then name and descriptor, each padded to four bytes. Adds the build-id as hex digits. */
static bool find_build_id(const struct str *notes, struct str *hex)
{
	for (size_t at = 0; at + NOTE_HEAD_BYTES <= notes->len;) {
		uint32_t name_len = word_at(notes, at), len = word_at(notes, at + 4);
		uint32_t type = word_at(notes, at + 8);
		size_t name = at + NOTE_HEAD_BYTES, value = name + padded(name_len);

		if (name_len > notes->len || len > notes->len || value + len > notes->len)
			return false;
		if (type == NOTE_GNU_BUILD_ID && name_len == 4 &&
			memcmp(notes->text + name, "GNU", 4) == 0 && len) {
			for (size_t i = 0; i < len; i++)
				str_addf(hex, "%02x", (unsigned char)notes->text[value + i]);
			return true;
		}
		at = value + padded(len);
	}
	return false;
}

static void set_line(json_t *o, const char *key, const char *root, const char *path)
{
	struct str line = STR_INIT;

	js_text(o, key, probe_line(&line, root, "%s", path) ? str_text(&line) : NULL);
	str_release(&line);
}

json_t *proof_read(const char *root)
{
	json_t *o = json_object(), *sched_ext;
	struct str text = STR_INIT, hex = STR_INIT;

	probe_mount_debugfs(root);
	js_text(o, "build_id",
		probe_text(&text, root, "/sys/kernel/notes") && find_build_id(&text, &hex)
			? str_text(&hex)
			: NULL);
	set_line(o, "release", root, "/proc/sys/kernel/osrelease");
	set_line(o, "version", root, "/proc/version");
	set_line(o, "cmdline", root, "/proc/cmdline");
	set_line(o, "boot_id", root, "/proc/sys/kernel/random/boot_id");
	set_line(o, "cpus_list", root, "/sys/devices/system/cpu/online");
	js_count(o, "cpus_online",
		probe_line(&text, root, "/sys/devices/system/cpu/online")
			? probe_cpu_list(str_text(&text), NULL, 0)
			: -1);
	js_count(o, "taint", probe_int(root, -1, "/proc/sys/kernel/tainted"));
	js_text(o, "features", knobs_features(root, &text) ? str_text(&text) : NULL);
	sched_ext = scheduler_look(root);
	js_set(o, "sched_ext", sched_ext ? sched_ext : json_null());
	js_count(o, "uptime_s", probe_int(root, -1, "/proc/uptime"));
	str_release(&text);
	str_release(&hex);
	return o;
}
