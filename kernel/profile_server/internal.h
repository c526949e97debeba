/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_SERVER_INTERNAL_H
#define PROFILE_SERVER_INTERNAL_H

/*
 * Interfaces between the files of this folder.
 *
 *     server.c    the port: options, beginning, paths
 *     profile.c   a profile for a time
 *     stream.c    the stream, for as long as a reader is connected
 *     commands.c  commands, one by one or on a connection of their own
 *
 * Contexts: thread, everywhere.
 */

#include <kernel/profile_server.h>

/* ---- server.c, for kernel/main.c */

/* Listens, if prof.port says so, from the first turn of the loop on. */
void profile_server_start(void);

/* The image ends with (code). */
void profile_server_end(int code);

/* A panic: nothing is sent any more, as that needs the heap and the stack.
 * Contexts: any. */
void profile_server_panic(void);

/* ---- profile.c */

/*
 * Takes a profile and sends it. (query) may contain seconds (1 to 3600, default
 * 10), hz (1 to PROF_HZ_MAX, default 997) and format: "folded" or "trace".
 *
 * The profiler is reset before; afterwards it continues as before, without the
 * earlier counts. One profile at a time.
 */
void profile_take(struct http_client *client, const char *query);

/* Whether one is being taken. */
bool profile_is_taken(void);

/* Forgets it. Contexts: any. */
void profile_forget(void);

/* ---- stream.c */

/* Sends the stream to (client), until it disconnects; sampling goes on as it
 * is. One reader at a time. */
void profile_stream(struct http_client *client);

/* Whether the stream has a reader. */
bool profile_stream_is_read(void);

/* Forgets its reader. Contexts: any. */
void profile_stream_forget(void);

/* Ends the stream, with the image's exit code (code). */
void profile_stream_end(int code);

/* ---- commands.c */

/* Executes the command in (query), and sends what the profiler prints. */
void profile_tell(struct http_client *client, const char *query);

/* Executes each line that comes on the connection. */
void profile_commands(struct http_client *client);

/* The length of the command that (bytes) begin with, its end included; 0: its
 * end has not come. A line that is too long ends where it is. */
size_t profile_command_bytes(const char *bytes, size_t count);

#endif
