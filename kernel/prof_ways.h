/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROF_WAYS_H
#define KERNEL_PROF_WAYS_H

#include <stddef.h>

/*
 * Makes the way out ready that prof.out asks for, or the next one in the order
 * virtio, uart2, e9, serial. Contexts: boot, after prof_init().
 */
void prof_ways_start(void);

/*
 * Is told all that the profiler prints. An answer to a command that came in on
 * the stream's own line goes out there as well, best effort: a way that takes
 * nothing at the moment leaves it to the console. Contexts: thread.
 */
void prof_ways_wrote(const char *text, size_t bytes);

/* Sends the rest of the stream; the image ends with (code). May be repeated. */
void prof_ways_end(int code);

#endif
