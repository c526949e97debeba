/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_WATCH_H
#define PROF_WATCH_H

/*
 * Looks whether somebody else has changed the timer's gate or the PIT, says so
 * in one line and takes it back; and keeps the kernel's tick true by what the
 * drained samples say about the length of a period. Contexts: the drain.
 */
void prof_watch(void);

/*
 * Cycles between two of the kernel's ticks by the best knowledge there is; 0
 * where every tick is the kernel's.
 */
#include <stdint.h>
uint64_t prof_watch_pass_period(void);

#endif
