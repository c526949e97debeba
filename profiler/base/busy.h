/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_BUSY_H
#define PROF_BUSY_H

/*
 * Calls of the profiler that use what the drain changes. prof_poll() in an
 * interrupt, and the drain in the tick, do nothing while one is in progress.
 * One CPU, and whoever interrupts leaves the count as it was: so counting needs
 * no atomic instruction. But the compiler MUST NOT move what is in between to
 * before or after it, as it may with a volatile count alone.
 */

#include <prof/config.h>
#include <stdint.h>

extern volatile uint32_t prof_busy; /* such calls, one in another */

static inline void prof_enter(void)
{
    if (PROF_WITH_BUILTIN) {
        prof_busy++;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
}

static inline void prof_leave(void)
{
    if (PROF_WITH_BUILTIN) {
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        prof_busy--;
    }
}

#endif
