/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_SYS_SSH_H
#define KB_SYS_SSH_H

#include "base/base.h"

#include "base/err.h"
#include "sys/proc.h"

/*
 * A host reached with OpenSSH's ssh(1). One connection is kept open (a control master that is our
 * child and dies with us) and every command is one session in it: nothing is sent on an idle
 * connection. The user's ssh configuration, agent and known_hosts are used unless known_hosts is
 * given. Commands run as root: by sudo -n where the login is not root.
 */
struct ssh_spec {
	const char *destination; /* as for ssh(1) */
	const char *config;	 /* ssh's configuration file; NULL: the user's */
	int port;		 /* 0: the configuration's */
	const char
		*address; /* where it is, when the destination is only the name of its host key */
	const char *identity;	 /* private key file; NULL: the configuration's */
	const char *known_hosts; /* our own file, and no other configuration; NULL: the user's */
	const char *socket_dir;	 /* a private folder with a short path */
};

struct ssh;

/* No contact is made yet. The texts of the spec are copied. */
KB_MUST_CHECK int ssh_open(const struct ssh_spec *spec, struct ssh **out, struct err *err);

/* Makes the connection and finds out whether sudo is needed. ERR_INFRA with what ssh said:
 * refused, a changed host key, no key accepted, no root. */
KB_MUST_CHECK int ssh_connect(struct ssh *ssh, int64_t timeout_ns, struct err *err);

/* Runs spec->argv there (env and cwd of the spec are not used), connecting first when needed. As
 * proc_run; a lost or refused connection is ERR_INFRA. At the deadline only our end is ended: what
 * runs there is the agent's business. */
KB_MUST_CHECK int ssh_run(
	struct ssh *ssh, const struct proc_spec *spec, struct proc_result *result, struct err *err);

/* True when the last connection that was tried failed although a host answered: it has another host
 * key than is known, or lets nobody in. Waiting or a power cycle does not mend that. */
bool ssh_was_refused(const struct ssh *ssh);

/* Drops the connection at once, without a farewell: the host is gone. */
void ssh_drop(struct ssh *ssh);
void ssh_close(struct ssh *ssh); /* NULL is fine */

/* Appends one word quoted for a POSIX shell. */
void ssh_add_quoted(struct str *out, const char *word);

#endif
