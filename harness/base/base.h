/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BASE_BASE_H
#define KB_BASE_BASE_H

/*
 * The first include of every source file: attributes, small macros, and the
 * names that must not be called in this project.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define KB_MUST_CHECK __attribute__((warn_unused_result))
#define KB_NORETURN __attribute__((noreturn))
#define KB_UNUSED __attribute__((unused))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The impossible happened: a mistake in kbracket itself. Prints and aborts. */
#define BUG(...) kb_bug(__FILE__, __LINE__, __VA_ARGS__)
KB_NORETURN KB_PRINTF(3, 4) void kb_bug(const char *file, int line, const char *fmt, ...);

#define KB_BANNED(name) kb_sorry_##name##_is_a_banned_function
#define strcpy(d, s) KB_BANNED(strcpy)
#define strcat(d, s) KB_BANNED(strcat)
#define sprintf(...) KB_BANNED(sprintf)
#define vsprintf(...) KB_BANNED(vsprintf)
#define gets(s) KB_BANNED(gets)
#define strtok(s, d) KB_BANNED(strtok)
#define atoi(s) KB_BANNED(atoi)
#define atol(s) KB_BANNED(atol)
#define atof(s) KB_BANNED(atof)
#define localtime(t) KB_BANNED(localtime)
#define gmtime(t) KB_BANNED(gmtime)
#define system(c) KB_BANNED(system)
#define popen(c, m) KB_BANNED(popen)

#endif
