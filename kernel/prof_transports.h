/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROF_TRANSPORTS_H
#define KERNEL_PROF_TRANSPORTS_H

#include <stddef.h>

/*
 * Opens the transport that prof.out names or, if it is missing, the next one in
 * the order virtio, uart2, e9, serial. Contexts: boot, after prof_init().
 */
void prof_transports_start(void);

/*
 * To be called with all that the profiler prints. Responses to a command that
 * came in through the transport are also sent there, best effort: if the
 * transport is busy they appear only on the console. Contexts: thread.
 */
void prof_transports_wrote(const char *text, size_t bytes);

/* Flushes the stream; the image ends with (code). May be called again. */
void prof_transports_end(int code);

#endif
