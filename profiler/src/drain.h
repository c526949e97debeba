/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DRAIN_H
#define PROF_DRAIN_H

#include <stdint.h>

/* What prof_drain() does, without its guards and accounts. */
void prof_drain_all(void);

/*
 * In a panic: tells the stream of what is queued, with no memory to be had.
 * Samples that need some are told as spilled, and so are all where the panic
 * came in a drain, which has left the maps as they happened to be. What is then
 * still in the small table, or fitted nowhere, is counted as discarded. Nobody
 * drains any more.
 */
void prof_drain_last(void);

/* Interrupts off: forgets what is in the vector and the small table. */
void prof_drain_discard(void);

/* Samples that are in the vector or the small table now. Contexts: thread. */
uint64_t prof_queued(void);

/* Samples dropped since the last reset, by the interrupt or for want of memory
 * in the drain. Interrupts off. */
uint64_t prof_dropped(void);

#endif
