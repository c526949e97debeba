/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DRAIN_H
#define PROF_DRAIN_H

#include <stdint.h>

/* What prof_drain() does, without its guards and accounts. */
void prof_drain_all(void);

/* Interrupts off: forgets what is in the vector and the small table. */
void prof_drain_discard(void);

/* Samples that are in the vector or the small table now. Contexts: thread. */
uint64_t prof_queued(void);

#endif
