/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_ELF_H
#define KB_SYS_ELF_H

#include "base/base.h"

#include "base/err.h"

/* The little that is read of 64-bit little-endian ELF files, from hostile bytes. */

enum { ELF_BUILD_ID_MAX = 64 }; /* bytes; SHA-1 has 20 */

/* Finds the GNU build-id note in the program's or the sections' notes and writes it as hex.
 * ERR_NOT_FOUND when the file has none, ERR_INVALID when it is no ELF file that can be read. */
KB_MUST_CHECK int elf_build_id(
	const void *bytes, size_t len, char hex[2 * ELF_BUILD_ID_MAX + 1], struct err *err);

/* The same in a bare sequence of notes, such as /sys/kernel/notes. */
KB_MUST_CHECK int elf_notes_build_id(
	const void *bytes, size_t len, char hex[2 * ELF_BUILD_ID_MAX + 1], struct err *err);

#endif
