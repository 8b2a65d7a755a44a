/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/strv.h"
#include "sys/ssh.h"

enum { SSH_FAILED = 255 }; /* ssh's own exit code for a connection that failed */

struct ssh {
	struct strv options; /* "ssh" and everything before the destination */
	char *destination;
	char *socket;
	struct proc *master;
	bool sudo;
	bool refused; /* the last connection failed and its reason was an answer */
};

void ssh_add_quoted(struct str *out, const char *word)
{
	str_add_char(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			str_add(out, "'\\''");
		else
			str_add_char(out, *word);
	}
	str_add_char(out, '\'');
}

int ssh_open(const struct ssh_spec *spec, struct ssh **out, struct err *err)
{
	struct ssh *ssh;
	int ret;

	if (spec->destination[0] == '-' || spec->destination[0] == '\0')
		return err_set(err, ERR_USAGE, "'%s' is no ssh destination", spec->destination);
	ret = file_mkdirs(spec->socket_dir, 0700, err);
	if (ret)
		return ret;
	ssh = xcalloc(1, sizeof(*ssh));
	ssh->destination = xstrdup(spec->destination);
	ssh->socket = xasprintf("%s/ssh-%ld-%p", spec->socket_dir, (long)getpid(), (void *)ssh);
	strv_add_many(&ssh->options, "ssh", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=0",
		"-o", "TCPKeepAlive=no", "-o", "ConnectTimeout=10", "-o", "ForwardX11=no", "-o",
		"ClearAllForwardings=yes", "-o", "ControlPersist=no", "-o", "EscapeChar=none", "-o",
		"LogLevel=ERROR", NULL);
	strv_addf(&ssh->options, "-oControlPath=%s", ssh->socket);
	if (spec->config)
		strv_add_many(&ssh->options, "-F", spec->config, NULL);
	if (spec->known_hosts) {
		strv_add_many(&ssh->options, "-F", "none", "-o", "StrictHostKeyChecking=yes", "-o",
			"IdentitiesOnly=yes", "-o", "GlobalKnownHostsFile=/dev/null", NULL);
		strv_addf(&ssh->options, "-oUserKnownHostsFile=%s", spec->known_hosts);
	}
	if (spec->address) {
		const char *at = strrchr(spec->destination, '@');

		strv_addf(&ssh->options, "-oHostName=%s", spec->address);
		strv_addf(&ssh->options, "-oHostKeyAlias=%s", at ? at + 1 : spec->destination);
	}
	if (spec->identity)
		strv_addf(&ssh->options, "-oIdentityFile=%s", spec->identity);
	if (spec->port)
		strv_addf(&ssh->options, "-oPort=%d", spec->port);
	*out = ssh;
	return 0;
}

static const char key_changed[] = "REMOTE HOST IDENTIFICATION HAS CHANGED";

/* What stands in text after the mark, up to the end of the line. */
static void add_rest_of_line(const char *text, const char *mark, struct str *out)
{
	const char *at = strstr(text, mark);
	size_t len = at ? strcspn(at + strlen(mark), "\r\n") : 0;

	if (at)
		str_add_safe(out, at + strlen(mark), len > 300 ? 300 : len);
}

/* In place of a page of warnings. */
static int key_error(const struct ssh *ssh, const char *said, struct err *err)
{
	const char *offending = strstr(said, "Offending ");
	struct str seen = STR_INIT, known = STR_INIT;

	add_rest_of_line(said, "SHA256:", &seen);
	if (offending)
		add_rest_of_line(offending, " key in ", &known);
	(void)err_set(err, ERR_INFRA,
		"ssh %s: REMOTE HOST IDENTIFICATION HAS CHANGED: the host that answers has another "
		"key (SHA256:%s) than is known (%s). If the machine was installed anew, take that "
		"line out and log in once by hand; else find out who answers there",
		ssh->destination, str_text(&seen), str_text(&known));
	str_release(&seen);
	str_release(&known);
	return ERR_INFRA;
}

/* What ssh printed, for the error text. */
static int connection_error(
	const struct ssh *ssh, const struct proc_result *result, struct err *err)
{
	struct str text = STR_INIT;
	size_t len = result->err_out.len > 400 ? 400 : result->err_out.len;
	int ret;

	if (strstr(str_text(&result->err_out), key_changed))
		return key_error(ssh, str_text(&result->err_out), err);
	while (len && strchr("\r\n ", result->err_out.text[len - 1]))
		len--;
	if (result->err_out.text)
		str_add_safe(&text, result->err_out.text, len);
	ret = err_set(err, ERR_INFRA, "ssh %s: %s", ssh->destination,
		text.len ? str_text(&text) : "the connection was lost");
	str_release(&text);
	return ret;
}

static bool master_answers(const struct ssh *ssh)
{
	struct strv argv = STRV_INIT;
	struct proc_spec spec = {.timeout_ns = 5 * NS_PER_S};
	struct proc_result result = PROC_RESULT_INIT;
	struct err ignored;
	bool good;

	strv_add_all(&argv, strv_argv(&ssh->options));
	strv_add_many(&argv, "-O", "check", ssh->destination, NULL);
	spec.argv = strv_argv(&argv);
	good = proc_run(&spec, &result, &ignored) == 0 && result.exit_code == 0;
	proc_result_release(&result);
	strv_release(&argv);
	return good;
}

/* What OpenSSH says when it has talked to a host and does not get in. */
static bool is_refusal(const char *text)
{
	static const char *const parts[] = {key_changed, "Host key verification failed",
		"Permission denied", "Too many authentication failures", "no matching host key"};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(text, parts[i]))
			return true;
	return false;
}

/* The master says why it failed only on its stderr, which a file keeps for us. */
static int master_error(struct ssh *ssh, const char *log, struct err *err)
{
	struct proc_result result = PROC_RESULT_INIT;
	struct err ignored;
	int ret;

	(void)!file_read(log, 65536, &result.err_out, &ignored);
	ssh->refused = is_refusal(str_text(&result.err_out));
	ret = connection_error(ssh, &result, err);
	proc_result_release(&result);
	return ret;
}

static int wait_for_master(struct ssh *ssh, const char *log, int64_t deadline_ns, struct err *err)
{
	for (;;) {
		if (stop_check(err))
			return ERR_INTERRUPTED;
		if (!proc_alive(ssh->master, NULL))
			return master_error(ssh, log, err);
		if (file_exists(ssh->socket) && master_answers(ssh))
			return 0;
		if (clock_now_ns() >= deadline_ns)
			return err_set(err, ERR_TIMEOUT, "ssh %s: no connection in time",
				ssh->destination);
		clock_sleep_ns(20 * NS_PER_MS);
	}
}

static int start_master(struct ssh *ssh, int64_t timeout_ns, struct err *err)
{
	struct strv argv = STRV_INIT;
	struct proc_spec spec = {0};
	char *log = xasprintf("%s.log", ssh->socket);
	int ret;

	(void)unlink(ssh->socket);
	(void)unlink(log);
	strv_add_all(&argv, strv_argv(&ssh->options));
	strv_add_many(&argv, "-M", "-N", ssh->destination, NULL);
	spec.argv = strv_argv(&argv);
	spec.output_path = log;
	ret = proc_start(&spec, &ssh->master, err);
	if (ret == 0)
		ret = wait_for_master(ssh, log, clock_now_ns() + timeout_ns, err);
	if (ret)
		ssh_drop(ssh);
	(void)unlink(log);
	strv_release(&argv);
	free(log);
	return ret;
}

/* One session; argv is quoted into the one string that the far shell gets. */
static int run_session(struct ssh *ssh, bool sudo, const struct proc_spec *spec,
	struct proc_result *result, struct err *err)
{
	struct strv argv = STRV_INIT;
	struct str command = STR_INIT;
	struct proc_spec session = *spec;
	int ret;

	if (sudo)
		str_add(&command, "sudo -n --");
	for (const char *const *word = spec->argv; *word; word++) {
		if (command.len)
			str_add_char(&command, ' ');
		ssh_add_quoted(&command, *word);
	}
	strv_add_all(&argv, strv_argv(&ssh->options));
	strv_add_many(
		&argv, "-o", "ControlMaster=no", "-T", ssh->destination, str_text(&command), NULL);
	session.argv = strv_argv(&argv);
	session.env = NULL;
	session.cwd = NULL;
	ret = proc_run(&session, result, err);
	strv_release(&argv);
	str_release(&command);
	if (ret == 0 && result->exit_code == SSH_FAILED)
		ret = connection_error(ssh, result, err);
	return ret;
}

/* sudo's first line says why: no such program, a password, a terminal that it wants. */
static int no_root(struct ssh *ssh, const struct proc_result *result, struct err *err)
{
	const char *said = str_text(&result->err_out);
	size_t len = strcspn(said, "\n");
	struct str text = STR_INIT;

	str_add_safe(&text, said, len > 200 ? 200 : len);
	ssh->refused = true;
	(void)err_set(err, ERR_INFRA,
		"ssh %s: the login is not root and 'sudo -n' does not make it root%s%s%s: put a "
		"line 'USER ALL=(ALL) NOPASSWD: ALL' into /etc/sudoers.d there, or log in as root",
		ssh->destination, text.len ? " (" : "", str_text(&text), text.len ? ")" : "");
	str_release(&text);
	return ERR_INFRA;
}

static int find_root(struct ssh *ssh, int64_t timeout_ns, struct err *err)
{
	static const char *const argv[] = {"id", "-u", NULL};
	struct proc_spec spec = {.argv = argv, .timeout_ns = timeout_ns};
	struct proc_result result = PROC_RESULT_INIT;
	int ret = run_session(ssh, false, &spec, &result, err);

	if (ret == 0)
		ssh->sudo = strcmp(str_text(&result.out), "0\n") != 0;
	proc_result_release(&result);
	if (ret || !ssh->sudo)
		return ret;
	ret = run_session(ssh, true, &spec, &result, err);
	if (ret == 0 && strcmp(str_text(&result.out), "0\n") != 0)
		ret = no_root(ssh, &result, err);
	proc_result_release(&result);
	return ret;
}

int ssh_connect(struct ssh *ssh, int64_t timeout_ns, struct err *err)
{
	int ret;

	if (ssh->master && proc_alive(ssh->master, NULL))
		return 0;
	ssh_drop(ssh);
	ssh->refused = false;
	ret = start_master(ssh, timeout_ns, err);
	if (ret == 0)
		ret = find_root(ssh, timeout_ns, err);
	if (ret)
		ssh_drop(ssh);
	return ret;
}

int ssh_run(
	struct ssh *ssh, const struct proc_spec *spec, struct proc_result *result, struct err *err)
{
	int64_t timeout_ns = spec->timeout_ns && spec->timeout_ns < 30 * NS_PER_S ? spec->timeout_ns
										  : 30 * NS_PER_S;
	int ret = ssh_connect(ssh, timeout_ns, err);

	return ret ? ret : run_session(ssh, ssh->sudo, spec, result, err);
}

bool ssh_was_refused(const struct ssh *ssh)
{
	return ssh->refused;
}

void ssh_drop(struct ssh *ssh)
{
	proc_free(ssh->master);
	ssh->master = NULL;
	(void)unlink(ssh->socket);
}

void ssh_close(struct ssh *ssh)
{
	if (!ssh)
		return;
	ssh_drop(ssh);
	strv_release(&ssh->options);
	free(ssh->destination);
	free(ssh->socket);
	free(ssh);
}
