/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_BUSY_H
#define PROF_BUSY_H

/*
 * Brackets calls of the profiler that use data which the drain changes. While
 * one is in progress, prof_poll() in an interrupt and the drain in the tick do
 * nothing. Counting needs no atomic instruction, as it happens on one CPU, and
 * an interrupt leaves the count as it was. But the compiler MUST NOT move code
 * out of the bracket, as it may with a volatile count alone.
 */

#include <prof/config.h>
#include <stdint.h>

extern volatile uint32_t prof_busy; /* nesting depth of such calls */

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
