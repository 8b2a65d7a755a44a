/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program's file says of how it was built, from small files made here. */
#include "base/base.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/built.h"
#include "base/mem.h"

enum { SECTIONS_MAX = 5 };

struct part {
	const char *name, *bytes;
	size_t len;
	uint64_t flags;
};

#define PART(name, text)                    \
	{                                   \
		name, text, sizeof(text), 0 \
	}

/* Sections one after the other, then their names, then the table. */
static void make(struct str *file, const struct part *parts, size_t count)
{
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_shentsize = sizeof(Elf64_Shdr)};
	Elf64_Shdr table[SECTIONS_MAX + 2] = {{0}};
	struct str names = STR_INIT;

	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		head.e_ident[EI_DATA] = ELFDATA2MSB;
	str_add_bytes(file, &head, sizeof(head));
	str_add_char(&names, '\0');
	for (size_t i = 0; i < count; i++) {
		table[i + 1] = (Elf64_Shdr){.sh_name = (Elf64_Word)names.len,
			.sh_type = SHT_PROGBITS,
			.sh_flags = parts[i].flags,
			.sh_offset = file->len,
			.sh_size = parts[i].len};
		str_add_bytes(&names, parts[i].name, strlen(parts[i].name) + 1);
		str_add_bytes(file, parts[i].bytes, parts[i].len);
	}
	table[count + 1] =
		(Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = file->len, .sh_size = names.len};
	str_add_bytes(file, names.text, names.len);
	head.e_shoff = file->len;
	head.e_shnum = (Elf64_Half)(count + 2);
	head.e_shstrndx = (Elf64_Half)(count + 1);
	memcpy(file->text, &head, sizeof(head));
	str_add_bytes(file, table, (count + 2) * sizeof(*table));
	str_release(&names);
}

static void expect(const struct part *parts, size_t count, const char *wanted)
{
	struct str file = STR_INIT, seen = STR_INIT;

	make(&file, parts, count);
	built_of(file.text, file.len, &seen);
	assert_string_equal(str_text(&seen), wanted);
	str_release(&file);
	str_release(&seen);
}

static void compilers_and_options_are_told(void **state KB_UNUSED)
{
	static const struct part gcc[] = {
		PART(".text", "code"), PART(".comment", "GCC: (Debian 12.2.0-14) 12.2.0")};
	static const struct part debug[] = {PART(".comment", "GCC: (GNU) 12\0\0clang version 14"),
		PART(".debug_str", "main\0GNU AS 2.40 -x\0no -option\0GNU C17 12.2.0 -march=x86-64 "
				   "-g -O2\0GNU C17 12.2.0 -O0")};
	static const struct part recorded[] = {PART(".debug_str", "GNU C17 12.2.0 -O0"),
		PART(".GCC.command.line", "GNU C17 12.2.0 -O3 -frecord-gcc-switches")};
	static const struct part clang[] = {
		PART(".debug_str", "Debian clang version 14.0.6 /usr/bin/clang -O2 -g")};
	static const struct part compressed[] = {
		{".debug_str", "GNU C17 -O2", sizeof("GNU C17 -O2"), SHF_COMPRESSED}};
	static const struct part hostile[] = {PART(".comment", "\x1b[1mred\n")};
	static const struct part unended[] = {{".comment", "GCC: (GNU) 12", 13, 0}};

	expect(gcc, ARRAY_SIZE(gcc), "GCC: (Debian 12.2.0-14) 12.2.0");
	expect(debug, ARRAY_SIZE(debug), "GCC: (GNU) 12, clang version 14; -march=x86-64 -g -O2");
	expect(recorded, ARRAY_SIZE(recorded), "-O3 -frecord-gcc-switches");
	expect(clang, ARRAY_SIZE(clang), "-O2 -g");
	expect(compressed, ARRAY_SIZE(compressed), "");
	expect(hostile, ARRAY_SIZE(hostile), "\\x1b[1mred\\x0a");
	expect(unended, ARRAY_SIZE(unended), "");
	expect(gcc, 1, "");
}

/* Cut anywhere, and with any byte of its headers changed. */
static void damaged_files_are_survived(void **state KB_UNUSED)
{
	static const struct part parts[] = {
		PART(".comment", "GCC: (GNU) 12"), PART(".debug_str", "GNU C17 12.2.0 -O2")};
	struct str file = STR_INIT, seen = STR_INIT;

	make(&file, parts, ARRAY_SIZE(parts));
	for (size_t len = 0; len < file.len; len++) {
		char *copy = xmalloc(len ? len : 1);

		memcpy(copy, file.text, len);
		built_of(copy, len, &seen);
		assert_int_equal(seen.len, 0); /* the table is at the end */
		free(copy);
	}
	for (size_t i = 0; i < file.len; i++) {
		file.text[i] = (char)(file.text[i] ^ 0xff);
		built_of(file.text, file.len, &seen);
		file.text[i] = (char)(file.text[i] ^ 0xff);
		assert_true(seen.len < 1000);
		str_reset(&seen);
	}
	built_of("#!/bin/sh\n", 10, &seen);
	built_of("", 0, &seen);
	assert_int_equal(seen.len, 0);
	str_release(&file);
	str_release(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compilers_and_options_are_told),
		cmocka_unit_test(damaged_files_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
