/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROFILE_SERVER_H
#define KERNEL_PROFILE_SERVER_H

/*
 * The profiler over the network, for whoever has the token:
 *
 *     GET /profile?seconds=10&hz=997&format=folded
 *         a line per call stack, sent at the end
 *     GET /profile?...&format=trace
 *         the profiler's stream, sent meanwhile
 *     POST /tell?command=rate+99
 *         a command, answered by what the profiler prints
 *     GET /stream, with Upgrade: HTTP_UPGRADE
 *         the profiler's stream and, on the same connection, lines of commands
 *         and their answers
 *     GET /commands, with the same
 *         lines of commands, answered by what the profiler prints
 *
 * The image's own port for it is that of prof.port= and prof.token=; a service
 * with HTTP can have them on its port, too.
 *
 * Nothing waits for who reads: packets that a connection has no room for are
 * refused, and what they would have held counts as discarded in the stream.
 */

#include <kernel/http.h>

/*
 * Answers (request), if it is for one of these paths, after comparing (token);
 * NULL: none is needed. False: it is for another. Contexts: thread, in answer()
 * of a server.
 */
bool profile_server_answer(struct http_client *client,
                           const struct http_request *request,
                           const char *token);

#endif
