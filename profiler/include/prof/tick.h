/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TICK_H
#define PROF_TICK_H

/*
 * The sources of ticks: what interrupts the code so that it is sampled.
 *
 *   pit   The profiler takes the PIT's interrupt gate and programs the PIT to
 *         any rate from the kernel's own up to PROF_HZ_MAX. The kernel's
 *         handler still runs at the kernel's own rate. A kernel that uses
 *         the PIT in one-shot mode has no rate: prof_start() returns
 *         PROF_EONE_SHOT, and sampling stops when it turns out later; gate and
 *         hook work there (irregular).
 *   own pit  The same where the kernel does not use the PIT: the handler in the
 *         gate is never called. The kernel lets the PIT's line through to
 *         (vector).
 *   gate  The profiler takes the gate of any timer of the kernel's: a local
 *         APIC, HPET or RTC, or a PIT that must not be programmed. It does not
 *         touch the timer: the rate is the kernel's, as with hook.
 *   hook  The kernel calls prof_sample() from a timer interrupt of its own. The
 *         rate cannot be changed: prof_set_rate() returns PROF_EFIXED, and
 *         prof.hz and prof.jitter have no effect, as prof_init() prints. It is
 *         measured; if it is not as stated, that is printed.
 */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* PIT input clock, shared by every PC (Intel 8254 on a PC/AT board). */
#define PROF_PIT_HZ 1193182u

enum prof_tick_kind {
    PROF_TICK_PIT,
    PROF_TICK_HOOK,
    PROF_TICK_OWN_PIT,
    PROF_TICK_GATE,
};

/* The kernel's description of the source. Only members of (kind) are read. */
struct prof_tick {
    enum prof_tick_kind kind;

    /* pit; own pit: only the vector */
    uint32_t kernel_divisor; /* PIT counts per kernel tick, 59 to 65536 */

    /* gate; with pit: of the PIT's interrupt, behind any controller */
    uint8_t vector; /* IDT vector of the timer's interrupt, from 32 on */

    /* hook, gate */
    uint32_t rate_mhz; /* interrupts in 1000 s, that is 1/1000 Hz: from 1 Hz to
                          PROF_HZ_MAX; 0 = as measured */
    bool irregular;    /* the timer is set anew for each interrupt, to any
                          time: none is ever missed */
};

/* How often the kernel interfered with the source since prof_init() or
 * prof_reset(). */
struct prof_tick_stats {
    uint32_t gate_taken_back; /* times that the IDT gate had been replaced */
    uint32_t pit_taken_back;  /* times that the PIT had been reprogrammed */
    uint32_t pit_given_up;    /* times that sampling stopped, because the kernel
                                 uses the PIT in one-shot mode */
};

#ifdef __cplusplus
}
#endif

#endif
