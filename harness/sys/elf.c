/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <elf.h>

#include "sys/elf.h"

static size_t pad4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static void write_hex(const unsigned char *bytes, size_t len, char *hex)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*hex++ = digits[bytes[i] >> 4];
		*hex++ = digits[bytes[i] & 15];
	}
	*hex = '\0';
}

/* Walks notes: name size, description size and type, then both, each padded to 4 bytes. */
static bool find_in_notes(const unsigned char *bytes, size_t len, char *hex)
{
	while (len >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, desc;

		memcpy(&note, bytes, sizeof(note));
		bytes += sizeof(note);
		len -= sizeof(note);
		name = pad4(note.n_namesz);
		desc = pad4(note.n_descsz);
		if (name > len || desc > len - name)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			!memcmp(bytes, "GNU", 4) && note.n_descsz &&
			note.n_descsz <= ELF_BUILD_ID_MAX) {
			write_hex(bytes + name, note.n_descsz, hex);
			return true;
		}
		bytes += name + desc;
		len -= name + desc;
	}
	return false;
}

/* A range inside the file; NULL when it is not. */
static const unsigned char *slice(
	const unsigned char *bytes, size_t len, uint64_t offset, uint64_t size)
{
	return offset <= len && size <= len - offset ? bytes + offset : NULL;
}

static bool find_in_segments(
	const unsigned char *bytes, size_t len, const Elf64_Ehdr *head, char *hex)
{
	for (unsigned i = 0; i < head->e_phnum; i++) {
		const unsigned char *at = slice(bytes, len,
			head->e_phoff + (uint64_t)i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
		Elf64_Phdr segment;

		if (!at)
			return false;
		memcpy(&segment, at, sizeof(segment));
		at = slice(bytes, len, segment.p_offset, segment.p_filesz);
		if (segment.p_type == PT_NOTE && at && find_in_notes(at, segment.p_filesz, hex))
			return true;
	}
	return false;
}

static bool find_in_sections(
	const unsigned char *bytes, size_t len, const Elf64_Ehdr *head, char *hex)
{
	for (unsigned i = 0; i < head->e_shnum; i++) {
		const unsigned char *at = slice(bytes, len,
			head->e_shoff + (uint64_t)i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
		Elf64_Shdr section;

		if (!at)
			return false;
		memcpy(&section, at, sizeof(section));
		at = slice(bytes, len, section.sh_offset, section.sh_size);
		if (section.sh_type == SHT_NOTE && at && find_in_notes(at, section.sh_size, hex))
			return true;
	}
	return false;
}

int elf_build_id(const void *bytes, size_t len, char hex[2 * ELF_BUILD_ID_MAX + 1], struct err *err)
{
	Elf64_Ehdr head;

	if (len < sizeof(head) || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return err_set(err, ERR_INVALID, "this is not an ELF file");
	memcpy(&head, bytes, sizeof(head));
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
		(head.e_phnum && head.e_phentsize != sizeof(Elf64_Phdr)) ||
		(head.e_shnum && head.e_shentsize != sizeof(Elf64_Shdr)))
		return err_set(err, ERR_INVALID, "this is not a 64-bit little-endian ELF file");
	if (find_in_segments(bytes, len, &head, hex) || find_in_sections(bytes, len, &head, hex))
		return 0;
	return err_set(err, ERR_NOT_FOUND, "the ELF file has no GNU build-id note");
}

int elf_notes_build_id(
	const void *bytes, size_t len, char hex[2 * ELF_BUILD_ID_MAX + 1], struct err *err)
{
	if (find_in_notes(bytes, len, hex))
		return 0;
	return err_set(err, ERR_NOT_FOUND, "there is no GNU build-id note");
}
