/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_H
#define SESSION_H

/*
 * One client's life: it connects, registers, joins a channel, says something
 * there, quits, and waits for the server to hang up. Each step waits for the
 * server's answer to the one before, as a client of flesh would.
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum session_state {
    SESSION_CONNECTING,
    SESSION_REGISTERING, /* until 001 */
    SESSION_JOINING,     /* until 366, the end of the names */
    SESSION_LEAVING,     /* until the server has hung up */
    SESSION_DONE,
    SESSION_FAILED,
};

/* Why a session failed. */
enum session_failure {
    FAILURE_NONE,
    FAILURE_CONNECT, /* refused, or no address to come from */
    FAILURE_CLOSED,  /* the server hung up early, or reset */
    FAILURE_REFUSED, /* an error reply, or one that is no IRC */
    FAILURE_TIMEOUT, /* given up by whoever runs it */
    FAILURES,
};

struct session {
    int socket; /* -1 = none */
    enum session_state state;
    enum session_failure failure;
    uint64_t due_us;         /* when it was to begin */
    uint64_t begin_us;       /* when it did */
    uint32_t number;         /* makes its name */
    size_t held;             /* bytes in line */
    char line[600];          /* of the server's, as far as it came */
    struct session *earlier; /* the list of those that run, by begin_us */
    struct session *later;
};

/*
 * Begins to connect to (server), from a loopback address of its own choice, so
 * that ports do not run out. channels: over how many channels the sessions
 * are spread. The state says whether it failed.
 */
void session_begin(struct session *session, const struct sockaddr_in *server,
                   uint32_t channels);

/* The socket can be read or written, or has ended. Goes on as far as it can
 * without waiting. */
void session_step(struct session *session, uint32_t channels);

/* Ends it for (failure), unless it is over. */
void session_fail(struct session *session, enum session_failure failure);

static inline bool session_over(const struct session *session)
{
    return session->state == SESSION_DONE || session->state == SESSION_FAILED;
}

#endif
