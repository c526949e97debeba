/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_EMBEDDED_H
#define STORE_EMBEDDED_H

/*
 * The embedded store: a process that owns a folder, in which chDB keeps tables,
 * and answers ClickHouse's HTTP on a unix socket in it and, if asked to, at a
 * port of 127.0.0.1.
 *
 * In the folder: db/ is the engine's; `socket`; `lock`, locked as long as the
 * process lives, with its number; `log`, what a process started by
 * embedded_start() says; incoming/, where bodies of requests are kept without a
 * name.
 *
 * A request is a GET or POST of "/", its query in the parameter `query`, in the
 * body, or in both, one after the other. GET changes nothing, nor does POST
 * with a readonly that is not 0: such requests have connections to the engine
 * of their own, so that inserts wait for none of them. Parameters: database,
 * default_format, insert_deduplication_token, async_insert, query_id, readonly
 * and wait_end_of_query (answers are always whole), user, password; any other
 * is refused with code 115, as ClickHouse does. "/ping" answers "Ok.".
 *
 * SQL may read and write files, so whoever is answered can do what the owner of
 * the process can. The socket is as private as its folder. By the port, where
 * any user and any page of a browser may come from, a request needs the
 * password, a Host that is localhost, and no Origin.
 */

#include <stdbool.h>
#include <stddef.h>

struct embedded_options {
    const char *path;     /* of the folder, made if it is missing */
    unsigned port;        /* 0 = the socket only */
    const char *password; /* asked for at the port, which needs one */
    double idle_seconds;  /* without a request, then it ends; 0 = never */
    bool is_started; /* by a command: another owner that answers is no error */
};

/* Runs it until a signal is caught; returns the exit status. */
int embedded_run(const struct embedded_options *options);

/* Has a process of its own run it, unless one does, and waits until it answers,
 * at most (seconds). False, and a line in (why) of (room) bytes, if it does
 * not. */
bool embedded_start(const char *path, double seconds, char *why, size_t room);

/* Whether somebody takes connections there. */
bool embedded_listens(const char *path);

/* Has the process that owns (path) end, and waits until it has. */
void embedded_stop(const char *path);

/* The socket of the store in (path), a name that fits into struct sockaddr_un,
 * to be freed. If the path is too long for that, the name leads through
 * (folder), a file to be closed when the socket is bound or connected; else
 * that is -1. NULL: there is no folder. */
char *embedded_socket(const char *path, int *folder);

#endif
