/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROF_WAYS_H
#define KERNEL_PROF_WAYS_H

/*
 * Makes the way out ready that prof.out asks for, or the next one in the order
 * virtio, uart2, e9, serial. Contexts: boot, after prof_init().
 */
void prof_ways_start(void);

/* Sends the rest of the stream; the image ends with (code). May be repeated. */
void prof_ways_end(int code);

#endif
