/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_MAIL_H
#define KB_SYS_MAIL_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"

/*
 * Mails as archives hand them out (mbox, or one raw message). Appends the subject line and the text
 * of every message to *out: quoted-printable and base64 are decoded, of multipart messages the text
 * parts are taken, one after the other. Text that is no mail is appended as it is. Hostile input:
 * at most 16 MiB, parts nested at most 8 deep. ERR_USAGE for what can't be decoded.
 */
KB_MUST_CHECK int mail_add_text(const char *bytes, size_t len, struct str *out, struct err *err);

#endif
