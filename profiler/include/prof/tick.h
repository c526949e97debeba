/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TICK_H
#define PROF_TICK_H

/*
 * Sources of ticks: the interrupts in which samples are taken.
 *
 *   pit   The profiler takes the PIT's interrupt gate and programs the PIT to
 *         any rate from the kernel's own up to PROF_HZ_MAX. The kernel's
 *         handler still runs at the kernel's own rate. With a kernel that uses
 *         the PIT in one-shot mode, prof_start() returns PROF_EONE_SHOT, or
 *         sampling stops when the profiler finds out later; use gate or hook
 *         there, with (irregular).
 *   own pit  Like pit, for a kernel that does not use the PIT: the handler in
 *         the gate is never called. The kernel routes the PIT's line to
 *         (vector) and unmasks it.
 *   lapic  The profiler takes the gate of the local APIC's timer. It has the
 *         timer for itself, or, with (lapic_shared), shares it with a kernel
 *         that arms it for one deadline after the other (<prof/lapic.h>). Same
 *         rates and jitter as own pit.
 *   nmi   The profiler takes the PIT, which the kernel does not use, programs
 *         the I/O APIC to deliver its interrupt as an NMI, and takes the NMI's
 *         gate. So code that runs with interrupts off is sampled, too. Same
 *         rates as own pit. While sampling, every NMI is the profiler's.
 *   auto  The first source in this list that the machine and the kernel allow:
 *         the PIT, as pit or own pit, then lapic; if PROF_CPUS_MAX is more than
 *         1: nmi, lapic, then the PIT. Prints a line if it is not the PIT.
 *   gate  The profiler takes the gate of any timer of the kernel: a local APIC,
 *         HPET or RTC, or a PIT that must not be programmed. It does not touch
 *         the timer: the rate is the kernel's, as with hook.
 *   hook  The kernel calls prof_sample() from a timer interrupt of its own. The
 *         rate cannot be changed: prof_set_rate() returns PROF_EFIXED, and
 *         prof.hz and prof.jitter have no effect, as prof_init() prints. The
 *         rate is measured, and a line is printed if it differs from the one
 *         stated.
 *
 * The option prof.tick=pit, lapic, nmi or auto overrides the configuration,
 * except for gate and hook. If the source requested is missing, another one is
 * taken, with a line that gives the reason.
 */

#include <prof/config.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Input clock of the PIT in Hz (Intel 8254 on a PC/AT board). */
#define PROF_PIT_HZ 1193182u

enum prof_tick_kind {
    PROF_TICK_PIT,
    PROF_TICK_HOOK,
    PROF_TICK_OWN_PIT,
    PROF_TICK_GATE,
    PROF_TICK_LAPIC,
    PROF_TICK_AUTO,
    PROF_TICK_NMI,
};

/* The option prof.tick. */
enum prof_tick_choice {
    PROF_TICK_CHOICE_KERNEL, /* config.tick.kind */
    PROF_TICK_CHOICE_PIT,
    PROF_TICK_CHOICE_LAPIC,
    PROF_TICK_CHOICE_AUTO,
    PROF_TICK_CHOICE_NMI,
};

/* The kernel's description of the source. Only the members that a comment lists
 * for (kind) are read. */
struct prof_tick {
    enum prof_tick_kind kind;

    /* pit, auto */
    uint32_t kernel_divisor; /* PIT counts per kernel tick, 59 to 65536; auto: 0
                                if the kernel does not use the PIT */

    /* hook, gate */
    uint32_t rate_mhz; /* interrupts in 1000 s, that is 1/1000 Hz: from 1 Hz to
                          PROF_HZ_MAX; 0 = as measured */
    bool irregular;    /* the kernel arms the timer for each interrupt, for any
                          time: no tick ever counts as missed */

    /* pit, own pit, auto: of the PIT's interrupt, with any interrupt
     * controller; gate: of the timer's. auto: 0 if the profiler must not use
     * the PIT */
    uint8_t vector; /* IDT vector of the interrupt, from 32 on */

    /* lapic, auto; pit and own pit for prof.tick=lapic (PROF_WITH_LAPIC) */
    uint8_t
        lapic_vector;   /* IDT vector of the local APIC's timer, from 32 on; 0:
                             the profiler must not use it (not with lapic) */
    bool lapic_shared;  /* the kernel arms the timer, by prof_lapic_arm() */
    uintptr_t lapic_at; /* address at which the local APIC's registers are
                             mapped; 0: the physical one. Not used in x2APIC
                             mode */

    /* nmi, auto; pit, own pit and lapic for prof.tick=nmi (PROF_WITH_NMI).
     * These need (lapic_at), too */
    bool nmi;            /* the kernel can do without NMIs while the profiler
                            samples; implied by (kind) nmi */
    uint8_t nmi_input;   /* input of the I/O APIC that the PIT is wired to; 0:
                            2, as on every PC */
    uintptr_t ioapic_at; /* address at which the I/O APIC's registers are
                            mapped; 0: the physical one, 0xfec00000 */
};

/* Problems with the source since prof_init() or prof_reset(): how many times */
struct prof_tick_stats {
    uint32_t gate_taken_back; /* the kernel had replaced the IDT gate */
    uint32_t pit_taken_back;  /* the kernel had reprogrammed the PIT */
    uint32_t pit_given_up;    /* sampling stopped, because the kernel uses the
                                 PIT in one-shot mode */
#if PROF_WITH_LAPIC
    uint32_t lapic_taken_back; /* the kernel had reprogrammed the local APIC's
                                  timer, or armed it without
                                  prof_lapic_arm() */
#endif
#if PROF_WITH_NMI
    uint32_t nmi_taken_back; /* the I/O APIC no longer delivered the PIT's
                                interrupt as an NMI, or a local APIC no longer
                                accepted it */
    uint32_t nmi_again;      /* no NMI came for a second; since then the PIT is
                                programmed at each one */
    uint32_t nmi_slowed;     /* the rate was halved, because a sample took
                                longer than half a period */
    uint32_t nmi_duplicates; /* an NMI came so soon after a sample that it was
                                not counted as a tick */
#endif
};

#ifdef __cplusplus
}
#endif

#endif
