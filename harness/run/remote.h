/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KB_RUN_REMOTE_H
#define KB_RUN_REMOTE_H

#include "base/base.h"

#include "base/err.h"
#include "base/str.h"
#include "run/backend_ops.h"
#include "sys/json.h"

/*
 * kbracket-agent on a machine, called over whatever reaches it. What it answers comes from outside:
 * it is bounded and checked here.
 */
struct remote {
	const struct backend_ops *ops;
	struct machine *machine; /* borrowed */
	bool urgent;		 /* all calls go on when a stop was asked for */
};

/* How a call ended when the agent was reached. */
enum remote_end {
	REMOTE_OK,
	REMOTE_FAILED,	  /* could not be done */
	REMOTE_REFUSED,	  /* the agent takes the call as wrong */
	REMOTE_NOT_FOUND, /* what was named does not exist there */
	REMOTE_BUSY,	  /* the run is not over */
};

struct remote_answer {
	enum remote_end end;
	struct str out;	   /* what it answered */
	struct str reason; /* one safe line, when end is not REMOTE_OK */
};

#define REMOTE_ANSWER_INIT                    \
	{                                     \
		REMOTE_OK, STR_INIT, STR_INIT \
	}

void remote_answer_release(struct remote_answer *answer);

/* Runs the agent with arguments (NULL-ended, without its own name) and text on its stdin (NULL:
 * none). 0 when it was reached and ended by itself; else ERR_INFRA (no connection, or lost),
 * ERR_TIMEOUT, ERR_INTERRUPTED. urgent: goes on when a stop was asked for. */
struct remote_call {
	const char *const *arguments;
	const char *input;
	int64_t timeout_ns;
	size_t max_bytes; /* of the answer; 0: 1 MiB */
	bool urgent;
};
KB_MUST_CHECK int remote_call(const struct remote *remote, const struct remote_call *call,
	struct remote_answer *answer, struct err *err);

/* A short call that answers with one JSON value, in 60 s. An end other than REMOTE_OK is ERR_INFRA
 * (REMOTE_NOT_FOUND: ERR_NOT_FOUND) with the reason. The caller ends with json_decref. */
KB_MUST_CHECK int remote_json(
	const struct remote *remote, const char *const *arguments, json_t **out, struct err *err);

/* The same in another time. */
KB_MUST_CHECK int remote_json_in(const struct remote *remote, const char *const *arguments,
	int64_t timeout_ns, json_t **out, struct err *err);

#endif
