/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_BACKEND_QMP_H
#define KB_BACKEND_QMP_H

#include "base/base.h"

#include "base/err.h"

/* QEMU's machine protocol on its private socket: the one thing that a running guest is told. */

/* Lets the character device `id` write to another file from here on. */
KB_MUST_CHECK int qmp_change_file(
	const char *socket_path, const char *id, const char *file, struct err *err);

#endif
