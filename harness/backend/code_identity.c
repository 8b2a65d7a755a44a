/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <elf.h>

#include "base/file.h"
#include "base/mem.h"
#include "backend/code_identity.h"

enum { BUG_ENTRY_BYTES = 12, BUG_LINE_AT = 8, BUG_LINE_BYTES = 2 };
#define MAX_ELF_BYTES ((size_t)1 << 30)

struct elf_file {
	struct str bytes;
	Elf64_Ehdr head;
};

static bool is_inside(const struct elf_file *file, uint64_t at, uint64_t len)
{
	return at <= file->bytes.len && len <= file->bytes.len - at;
}

static bool read_section(const struct elf_file *file, unsigned index, Elf64_Shdr *section)
{
	uint64_t at = file->head.e_shoff + (uint64_t)index * sizeof(*section);

	if (!is_inside(file, at, sizeof(*section)))
		return false;
	memcpy(section, file->bytes.text + at, sizeof(*section));
	return section->sh_type == SHT_NOBITS ||
	       is_inside(file, section->sh_offset, section->sh_size);
}

/* A section's name; "" when it cannot be read. */
static const char *name_of(
	const struct elf_file *file, const Elf64_Shdr *names, const Elf64_Shdr *section)
{
	const char *name = file->bytes.text + names->sh_offset + section->sh_name;

	if (section->sh_name >= names->sh_size ||
		!memchr(name, '\0', names->sh_size - section->sh_name))
		return "";
	return name;
}

static void mask_text(char *bytes, size_t len, const char *text)
{
	size_t size = strlen(text);
	char *at = bytes, *end = bytes + len;

	while (size && (at = memmem(at, (size_t)(end - at), text, size))) {
		memset(at, 0, size);
		at += size;
	}
}

static size_t pad4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void mask_build_id(char *bytes, size_t len)
{
	while (len >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, desc;

		memcpy(&note, bytes, sizeof(note));
		name = pad4(note.n_namesz);
		desc = pad4(note.n_descsz);
		bytes += sizeof(note);
		len -= sizeof(note);
		if (name > len || desc > len - name)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			!memcmp(bytes, "GNU", 4))
			memset(bytes + name, 0, desc);
		bytes += name + desc;
		len -= name + desc;
	}
}

/* include/asm-generic/bug.h: two relative pointers, line, flags. */
static void mask_bug_lines(char *bytes, size_t len)
{
	for (size_t at = 0; at + BUG_ENTRY_BYTES <= len; at += BUG_ENTRY_BYTES)
		memset(bytes + at + BUG_LINE_AT, 0, BUG_LINE_BYTES);
}

static void add_section(struct sha256 *hash, const struct elf_file *file, const char *name,
	const Elf64_Shdr *section, const char *release, bool bug_lines)
{
	uint64_t facts[] = {
		section->sh_type, section->sh_flags, section->sh_addr, section->sh_size};
	char *copy;

	sha256_add_field(hash, name);
	sha256_add(hash, facts, sizeof(facts));
	if (section->sh_type == SHT_NOBITS)
		return;
	copy = xmalloc(section->sh_size + 1);
	memcpy(copy, file->bytes.text + section->sh_offset, section->sh_size);
	mask_text(copy, section->sh_size, release);
	if (section->sh_type == SHT_NOTE)
		mask_build_id(copy, section->sh_size);
	if (bug_lines && !strcmp(name, "__bug_table"))
		mask_bug_lines(copy, section->sh_size);
	sha256_add(hash, copy, section->sh_size);
	free(copy);
}

/* In a module, which function is called stands in relocations and symbols. */
static bool counts(const struct elf_file *file, const Elf64_Shdr *section)
{
	if (section->sh_flags & SHF_ALLOC)
		return true;
	return file->head.e_type == ET_REL &&
	       (section->sh_type == SHT_RELA || section->sh_type == SHT_SYMTAB ||
		       section->sh_type == SHT_STRTAB);
}

static int add_sections(
	struct sha256 *hash, const struct elf_file *file, const char *release, bool bug_lines)
{
	Elf64_Shdr names, section;

	if (!read_section(file, file->head.e_shstrndx, &names) || names.sh_type == SHT_NOBITS)
		return -1;
	for (unsigned i = 0; i < file->head.e_shnum; i++) {
		if (!read_section(file, i, &section))
			return -1;
		if (counts(file, &section))
			add_section(hash, file, name_of(file, &names, &section), &section, release,
				bug_lines);
	}
	return 0;
}

int code_identity_add(
	struct sha256 *hash, const char *path, const char *release, bool bug_lines, struct err *err)
{
	struct elf_file file = {.bytes = STR_INIT};
	int ret = file_read(path, MAX_ELF_BYTES, &file.bytes, err);

	if (ret)
		return ret;
	if (file.bytes.len >= sizeof(file.head))
		memcpy(&file.head, file.bytes.text, sizeof(file.head));
	if (memcmp(file.head.e_ident, ELFMAG, SELFMAG) != 0 ||
		file.head.e_ident[EI_CLASS] != ELFCLASS64 ||
		file.head.e_ident[EI_DATA] != ELFDATA2LSB ||
		file.head.e_shentsize != sizeof(Elf64_Shdr) ||
		add_sections(hash, &file, release, bug_lines) != 0)
		ret = err_set(err, ERR_INVALID, "%s is not an ELF file that can be read", path);
	str_release(&file.bytes);
	return ret;
}
