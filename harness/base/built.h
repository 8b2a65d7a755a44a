/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_BUILT_H
#define KB_BASE_BUILT_H

#include "base/base.h"

#include "base/str.h"

/*
 * How a program was built, as far as its file says: a 64-bit ELF file of this byte order, from
 * hostile bytes. Appends the compilers that .comment names and, where the compiler recorded them
 * (gcc -g, -frecord-gcc-switches, clang -grecord-command-line), the options of the first file that
 * has some: "GCC: (Debian 12.2.0-14) 12.2.0; -O2 -g". Safe to print, a few hundred bytes at most;
 * nothing for scripts, and for programs whose packagers have taken it out.
 */
void built_of(const void *bytes, size_t len, struct str *out);

#endif
