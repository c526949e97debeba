/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROF_TRANSPORTS_H
#define KERNEL_PROF_TRANSPORTS_H

#include <prof/text.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Opens the transport that prof.out names or, if it is missing, the next one in
 * the order vsock, virtio, uart2, e9, serial. (commanded) is called after each
 * command, which may have changed what runs. Contexts: boot, after prof_init().
 */
void prof_transports_start(void (*commanded)(void));

/* Whether the stream goes to one of them. Contexts: thread. */
bool prof_transports_in_use(void);

/*
 * Executes the command (line), of (count) bytes. What the profiler prints
 * meanwhile is also given to (text), unless that is NULL, and the answer, a
 * whole line, to (answer). A line that is being typed on the console ends
 * before it. Contexts: thread.
 */
void prof_transports_command(const char *line, size_t count,
                             prof_text_sink *text,
                             bool (*answer)(const void *line, size_t count));

/*
 * To be called with all that the profiler prints. Responses to a command that
 * came in through the transport are also sent there, best effort: if the
 * transport is busy they appear only on the console. Contexts: thread.
 */
void prof_transports_wrote(const char *text, size_t bytes);

/* Flushes the stream; the image ends with (code). May be called again. */
void prof_transports_end(int code);

#endif
