/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <elf.h>

#include "base/built.h"

enum { COMPILERS_MAX = 3, COMPILER_LEN = 100, OPTIONS_LEN = 300 };

/* Of the file. */
struct bytes {
	const char *start;
	size_t len;
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { OWN_ORDER = ELFDATA2LSB };
#else
enum { OWN_ORDER = ELFDATA2MSB };
#endif

static bool slice(struct bytes file, uint64_t offset, uint64_t size, struct bytes *out)
{
	if (offset > file.len || size > file.len - offset)
		return false;
	*out = (struct bytes){file.start + offset, size};
	return true;
}

static bool read_head(struct bytes file, Elf64_Ehdr *head)
{
	if (file.len < sizeof(*head))
		return false;
	memcpy(head, file.start, sizeof(*head));
	return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_ident[EI_DATA] == OWN_ORDER &&
	       head->e_shentsize == sizeof(Elf64_Shdr);
}

static bool read_section(
	struct bytes file, const Elf64_Ehdr *head, size_t index, Elf64_Shdr *section)
{
	struct bytes row, table;

	if (index >= head->e_shnum ||
		!slice(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*section), &table) ||
		!slice(table, index * sizeof(*section), sizeof(*section), &row))
		return false;
	memcpy(section, row.start, sizeof(*section));
	return true;
}

static bool is_named(struct bytes names, const Elf64_Shdr *section, const char *name)
{
	struct bytes seen;

	return slice(names, section->sh_name, strlen(name) + 1, &seen) &&
	       memcmp(seen.start, name, seen.len) == 0;
}

/* Compressed ones are not looked into. */
static bool find_section(
	struct bytes file, const Elf64_Ehdr *head, const char *name, struct bytes *out)
{
	Elf64_Shdr section;
	struct bytes names;

	if (!read_section(file, head, head->e_shstrndx, &section) ||
		!slice(file, section.sh_offset, section.sh_size, &names))
		return false;
	for (size_t i = 0; read_section(file, head, i, &section); i++)
		if (section.sh_type != SHT_NOBITS && !(section.sh_flags & SHF_COMPRESSED) &&
			is_named(names, &section, name))
			return slice(file, section.sh_offset, section.sh_size, out);
	return false;
}

/* Takes the next of the texts, each of which a NUL ends; false when there is none. */
static bool next_text(struct bytes *rest, struct bytes *text)
{
	const char *end = rest->len ? memchr(rest->start, '\0', rest->len) : NULL;

	if (!end)
		return false;
	*text = (struct bytes){rest->start, (size_t)(end - rest->start)};
	rest->start = end + 1;
	rest->len -= text->len + 1;
	return true;
}

static bool starts(struct bytes text, const char *start)
{
	return text.len >= strlen(start) && memcmp(text.start, start, strlen(start)) == 0;
}

static void add_compilers(struct bytes comment, struct str *out)
{
	struct bytes text;

	for (int i = 0; i < COMPILERS_MAX && next_text(&comment, &text);) {
		if (!text.len)
			continue;
		str_add(out, i++ ? ", " : "");
		str_add_safe(out, text.start, text.len < COMPILER_LEN ? text.len : COMPILER_LEN);
	}
}

/* Where the options begin in what a compiler says of itself; NULL for any other text. */
static const char *options_in(struct bytes text, bool all_are)
{
	bool compiler = all_are || starts(text, "GNU C") ||
			memmem(text.start, text.len, "clang version", strlen("clang version"));
	const char *at = compiler ? memmem(text.start, text.len, " -", 2) : NULL;

	return at ? at + 1 : NULL;
}

static bool add_options(struct bytes texts, bool all_are, struct str *out)
{
	struct bytes text;

	while (next_text(&texts, &text)) {
		const char *options = options_in(text, all_are);
		size_t len = options ? (size_t)(text.start + text.len - options) : 0;

		if (!options)
			continue;
		str_add(out, out->len ? "; " : "");
		str_add_safe(out, options, len < OPTIONS_LEN ? len : OPTIONS_LEN);
		return true;
	}
	return false;
}

void built_of(const void *bytes, size_t len, struct str *out)
{
	struct bytes file = {bytes, len}, section;
	Elf64_Ehdr head;

	if (!read_head(file, &head))
		return;
	if (find_section(file, &head, ".comment", &section))
		add_compilers(section, out);
	if (find_section(file, &head, ".GCC.command.line", &section) &&
		add_options(section, true, out))
		return;
	if (find_section(file, &head, ".debug_str", &section))
		(void)add_options(section, false, out); /* without: they were not recorded */
}
