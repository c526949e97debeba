/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROFILE_SERVER_H
#define KERNEL_PROFILE_SERVER_H

/*
 * Access to the profiler over HTTP, for clients that have the token:
 *
 *     GET /profile?seconds=10&hz=997&format=folded
 *         one line for each call stack, sent at the end
 *     GET /profile?...&format=trace
 *         the profiler's stream, sent while sampling
 *     POST /tell?command=rate+99
 *         a command; the response is what the profiler prints
 *     GET /stream, with Upgrade: HTTP_UPGRADE
 *         the profiler's stream and, on the same connection, command lines and
 *         their answers
 *     GET /commands, with Upgrade: HTTP_UPGRADE
 *         command lines, answered by what the profiler prints
 *
 * The image serves these paths on the port prof.port=, with prof.token=. A
 * service with an HTTP server can serve them on its own port, too.
 *
 * A slow client does not block: packets for which a connection has no room are
 * refused, and their samples count as discarded in the stream.
 */

#include <kernel/http.h>

/*
 * Answers (request) if it is for one of these paths, after comparing (token);
 * NULL: no token is required. Returns false if it is for another path.
 * Contexts: thread, in answer() of a server.
 */
bool profile_server_answer(struct http_client *client,
                           const struct http_request *request,
                           const char *token);

#endif
