/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOURCES 250u /* loopback addresses to connect from */
#define PORT_FIRST 2048u
#define PORTS 62000u

void session_fail(struct session *session, enum session_failure failure)
{
    if (session_over(session))
        return;
    session->state = SESSION_FAILED;
    session->failure = failure;
    if (session->socket >= 0)
        close(session->socket);
    session->socket = -1;
}

/*
 * All addresses of 127.0.0.0/8 and their ports are available. Each session
 * takes the next port, so that none is reused for a minute even at a thousand a
 * second: behind a QEMU that forwards the port the guest sees one address, and
 * would confuse a client with a previous one from the same port.
 */
static bool choose_source(struct session *session)
{
    struct sockaddr_in source = {.sin_family = AF_INET};
    int yes = 1;

    setsockopt(session->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    for (uint32_t i = 0; i < SOURCES; i++) {
        source.sin_port =
            htons((uint16_t)(PORT_FIRST + session->number % PORTS));
        source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 +
                                       (session->number / PORTS + i) % SOURCES);
        if (bind(session->socket, (struct sockaddr *)&source, sizeof source) ==
            0)
            return true;
    }
    return false;
}

void session_begin(struct session *session, const struct sockaddr_in *server,
                   const struct session_plan *plan)
{
    session->state = SESSION_CONNECTING;
    session->failure = FAILURE_NONE;
    session->held = 0;
    session->socket =
        socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (session->socket < 0 || !choose_source(session)) {
        session_fail(session, FAILURE_CONNECT);
        return;
    }
    if (connect(session->socket, (const struct sockaddr *)server,
                sizeof *server) == 0)
        session_step(session, plan);
    else if (errno != EINPROGRESS)
        session_fail(session, FAILURE_CONNECT);
}

/* A client's messages are shorter than an empty socket buffer, and it is empty:
 * each step waits for an answer. */
static void say(struct session *session, const char *text)
{
    size_t bytes = strlen(text);

    if (send(session->socket, text, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        session_fail(session, FAILURE_CLOSED);
}

static void connected(struct session *session)
{
    char text[128];
    int error = 0;
    socklen_t bytes = sizeof error;

    getsockopt(session->socket, SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0) {
        session_fail(session, FAILURE_CONNECT);
        return;
    }
    session->state = SESSION_REGISTERING;
    snprintf(text, sizeof text, "NICK b%u\r\nUSER loadgen 0 * :Client %u\r\n",
             session->number, session->number);
    say(session, text);
}

static void registered(struct session *session, const struct session_plan *plan)
{
    char text[256];

    if (plan->password != NULL) {
        session->state = SESSION_LEAVING;
        snprintf(text, sizeof text, "OPER loadgen %s\r\nDIE\r\n",
                 plan->password);
    } else {
        session->state = SESSION_JOINING;
        snprintf(text, sizeof text, "JOIN #c%u\r\n",
                 session->number % plan->channels);
    }
    say(session, text);
}

static void joined(struct session *session, const struct session_plan *plan)
{
    char text[128];

    session->state = SESSION_LEAVING;
    snprintf(text, sizeof text,
             "PRIVMSG #c%u :hello from %u\r\nQUIT :and goodbye\r\n",
             session->number % plan->channels, session->number);
    say(session, text);
}

/* Handles a line from the server: only its numeric matters. */
static void heard(struct session *session, const char *line,
                  const struct session_plan *plan)
{
    const char *space = strchr(line, ' ');
    long code = line[0] == ':' && space != NULL ? strtol(space, NULL, 10) : 0;

    if (session->state == SESSION_REGISTERING && code == 1)
        registered(session, plan);
    else if (session->state == SESSION_JOINING && code == 366)
        joined(session, plan);
    else if (code >= 400 && code < 600)
        session_fail(session, FAILURE_REFUSED);
}

/* Handles complete lines; the beginning of the next one is kept. */
static void take_lines(struct session *session, const struct session_plan *plan)
{
    char *from = session->line;
    char *end = session->line + session->held;
    char *newline;

    while (!session_over(session) &&
           (newline = memchr(from, '\n', (size_t)(end - from))) != NULL) {
        *newline = '\0';
        heard(session, from, plan);
        from = newline + 1;
    }
    session->held = (size_t)(end - from);
    memmove(session->line, from, session->held);
    if (session->held == sizeof session->line)
        session_fail(session, FAILURE_REFUSED); /* no line is that long */
}

static void hung_up(struct session *session)
{
    if (session->state != SESSION_LEAVING) {
        session_fail(session, FAILURE_CLOSED);
        return;
    }
    session->state = SESSION_DONE;
    close(session->socket);
    session->socket = -1;
}

void session_step(struct session *session, const struct session_plan *plan)
{
    if (session->state == SESSION_CONNECTING)
        connected(session);
    while (!session_over(session)) {
        ssize_t count = recv(session->socket, session->line + session->held,
                             sizeof session->line - session->held, 0);

        if (count == 0) {
            hung_up(session);
        } else if (count > 0) {
            session->held += (size_t)count;
            take_lines(session, plan);
        } else if (errno == EAGAIN) {
            return;
        } else if (plan->password != NULL) {
            hung_up(session); /* a server that ends may reset */
        } else {
            session_fail(session, FAILURE_CLOSED);
        }
    }
}
