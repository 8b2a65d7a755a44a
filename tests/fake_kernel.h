/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_TESTS_FAKE_KERNEL_H
#define KB_TESTS_FAKE_KERNEL_H

#include "base/base.h"

#include <elf.h>

#include "base/str.h"

/*
 * Files that look like kernels as far as kbracket reads them: an ELF vmlinux with a build-id note
 * and a banner, and a bzImage around a (compressed) payload.
 */
#define FAKE_BANNER(release, number)                                                           \
	"Linux version " release " (kbracket@test) (gcc 12.2.0, GNU ld 2.40) #" number " SMP " \
	"Thu Jan 1 00:00:00 UTC 1970\n"

/* A vmlinux whose build-id is 20 times the byte id (0: no note). */
static inline void fake_vmlinux(struct str *out, unsigned char id, const char *banners)
{
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_phoff = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1};
	Elf64_Nhdr note = {4, 20, NT_GNU_BUILD_ID};
	Elf64_Phdr segment = {.p_type = id ? PT_NOTE : PT_LOAD,
		.p_offset = sizeof(head) + sizeof(segment),
		.p_filesz = sizeof(note) + 24};

	str_add_bytes(out, &head, sizeof(head));
	str_add_bytes(out, &segment, sizeof(segment));
	str_add_bytes(out, &note, sizeof(note));
	str_add_bytes(out, "GNU", 4);
	for (int i = 0; i < 20; i++)
		str_add_char(out, (char)id);
	str_add_bytes(out, banners, strlen(banners) + 1);
	while (out->len < 2048)
		str_add_char(out, '\0');
}

static inline void put_le32(char *at, size_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (char)(value >> (8 * i));
}

/* One setup sector after the boot sector, then the payload. release goes into the header. */
static inline void fake_bzimage(struct str *out, const char *release, const struct str *payload)
{
	char setup[1024] = "";

	setup[0x1f1] = 1;
	memcpy(setup + 0x202, "HdrS", 4);
	setup[0x206] = 0x0f;
	setup[0x207] = 2;
	setup[0x20e] = 0x70; /* minus 0x200 */
	(void)snprintf(setup + 0x270, 64, "%s (kbracket@test) #1", release);
	put_le32(setup + 0x248, 16);
	put_le32(setup + 0x24c, payload->len);
	str_add_bytes(out, setup, sizeof(setup));
	str_add_bytes(out, "0123456789abcdef", 16);
	str_add_bytes(out, str_text(payload), payload->len);
}

#endif
