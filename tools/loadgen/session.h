/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_H
#define SESSION_H

/* One client: it connects, registers, joins a channel, says something there,
 * quits, and waits for the server to close the connection. Each step waits for
 * the server's answer to the one before, as a human user would. */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What all sessions of a load have in common. */
struct session_plan {
    uint32_t channels;    /* that they are spread over */
    const char *password; /* of an operator, who ends the server instead of
                             joining a channel; NULL = an ordinary client */
};

enum session_state {
    SESSION_CONNECTING,
    SESSION_REGISTERING, /* until 001 */
    SESSION_JOINING,     /* until 366, the end of the names */
    SESSION_LEAVING,     /* until the server has closed */
    SESSION_DONE,
    SESSION_FAILED,
};

/* Why a session failed. */
enum session_failure {
    FAILURE_NONE,
    FAILURE_CONNECT, /* refused, or no address to come from */
    FAILURE_CLOSED,  /* closed early, or reset */
    FAILURE_REFUSED, /* an error reply, or not IRC */
    FAILURE_TIMEOUT, /* given up by the caller */
    FAILURES,
};

struct session {
    int socket; /* -1 = none */
    enum session_state state;
    enum session_failure failure;
    uint64_t due_us;         /* planned start */
    uint64_t begin_us;       /* actual start */
    uint32_t number;         /* makes its nickname */
    size_t held;             /* bytes in line */
    char line[600];          /* from the server, incomplete */
    struct session *earlier; /* running ones, by begin_us */
    struct session *later;
};

/* Begins to connect to (server), from a loopback address of its own, so that
 * ports do not run out. The state says whether it failed. */
void session_begin(struct session *session, const struct sockaddr_in *server,
                   const struct session_plan *plan);

/* The socket is ready or has ended: proceeds as far as possible. */
void session_step(struct session *session, const struct session_plan *plan);

/* Ends it with (failure), unless it has ended. */
void session_fail(struct session *session, enum session_failure failure);

static inline bool session_over(const struct session *session)
{
    return session->state == SESSION_DONE || session->state == SESSION_FAILED;
}

#endif
