/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_WATCH_H
#define PROF_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Looks whether somebody else has changed the timer's gate or the PIT, says so
 * in one line and takes it back; and keeps the kernel's tick true by what the
 * drained samples say about the length of a period. Contexts: the drain.
 */
void prof_watch(void);

/* Whether (handler), found in the timer's gate, is our stub or goes to it. */
bool prof_watch_has_stub(uintptr_t handler);

/*
 * Cycles between two of the kernel's ticks by the best knowledge there is; 0
 * where every tick is the kernel's.
 */
uint64_t prof_watch_pass_period(void);

#endif
