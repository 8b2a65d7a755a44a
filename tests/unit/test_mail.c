/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "sys/mail.h"

static void check(const char *mail, const char *expected)
{
	struct str out = STR_INIT;
	struct err err = ERR_INIT;

	if (mail_add_text(mail, strlen(mail), &out, &err))
		fail_msg("%s", err.text);
	assert_string_equal(str_text(&out), expected);
	str_release(&out);
}

static void plain_text_stays(void **state KB_UNUSED)
{
	check("", "");
	check("--- a/x\n+++ b/x\n", "--- a/x\n+++ b/x\n");
	check("Subject: one\n two\nFrom: a\n\nbody\n", "Subject: one two\n\nbody\n");
	check("From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: a\nSubject: s\n\nbody\n",
		"Subject: s\n\nbody\n");
	check("From: a\r\nSubject: s\r\n\r\nbody\r\n more\r\n", "Subject: s\n\nbody\n more\n");
}

static void encodings_are_decoded(void **state KB_UNUSED)
{
	check("Content-Transfer-Encoding: quoted-printable\n\n+a =3D b;=\n c\n=E2=82=AC=zz\n",
		"+a = b; c\n\xe2\x82\xac=zz\n");
	check("content-transfer-encoding: BASE64\n\nLS0tIGEv\neAorKysg\nYi94Cg==\n",
		"--- a/x\n+++ b/x\n");
}

static void text_parts_are_taken(void **state KB_UNUSED)
{
	check("Subject: s\nContent-Type: multipart/mixed;\n boundary=\"=_x\"\n\npreamble\n"
	      "--=_x\nContent-Type: text/plain; charset=utf-8\n\nhello\n"
	      "--=_x\nContent-Type: text/html\n\n<p>hello\n"
	      "--=_x\nContent-Type: text/x-patch; name=\"a.patch\"\n"
	      "Content-Transfer-Encoding: base64\n\nLS0tIGEveAo=\n"
	      "--=_x--\nepilogue\n",
		"Subject: s\n\nhello\n--- a/x\n");
	check("Content-Type: multipart/signed; boundary=o\n\n"
	      "--o\nContent-Type: multipart/mixed; boundary=i\n\n"
	      "--i\n\ninner\n--i--\n"
	      "--o\nContent-Type: application/pgp-signature\n\nxyz\n--o--\n",
		"inner\n");
}

static void every_message_of_an_mbox_is_taken(void **state KB_UNUSED)
{
	check("From 0123456789abcdef Mon Sep 17 00:00:00 2001\nSubject: 1\n\none\n\n"
	      "From 0123456789abcdef Mon Sep 17 00:00:00 2001\nSubject: 2\n"
	      "Content-Transfer-Encoding: quoted-printable\n\ntwo=21\n",
		"Subject: 1\n\none\n\nSubject: 2\n\ntwo!\n");
}

static void bad_mails_are_refused(void **state KB_UNUSED)
{
	static const char *const bad[] = {
		"Content-Transfer-Encoding: base64\n\n%%%%\n",
		"Content-Type: multipart/mixed\n\nx\n",
	};
	struct str out = STR_INIT, nested = STR_INIT;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(mail_add_text(bad[i], strlen(bad[i]), &out, &err), ERR_USAGE);
	for (int i = 0; i < 20; i++)
		str_addf(&nested, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i);
	assert_int_equal(mail_add_text(str_text(&nested), nested.len, &out, &err), ERR_USAGE);
	assert_non_null(strstr(err.text, "nested deeper"));
	str_release(&nested);
	str_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_stays),
		cmocka_unit_test(encodings_are_decoded),
		cmocka_unit_test(text_parts_are_taken),
		cmocka_unit_test(every_message_of_an_mbox_is_taken),
		cmocka_unit_test(bad_mails_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
