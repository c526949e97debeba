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
 *   lapic  The profiler takes the gate of the local APIC's timer, which it has
 *         for itself; or (lapic_shared) shares with a kernel that arms it for
 *         one deadline after the other (<prof/lapic.h>). Any rate that own pit
 *         has; the period varies as with the PIT.
 *   nmi   The profiler takes the PIT, which the kernel does not use, has the
 *         I/O APIC deliver it as an NMI, and takes the gate of NMIs. So code
 *         that runs with interrupts off is sampled like any other. Any rate
 *         that own pit has. While it samples every NMI is the profiler's.
 *   auto  The PIT, as pit or own pit, where it is there and repeats; lapic
 *         otherwise, as a line then says. The option prof.tick=pit, lapic, nmi
 *         or auto chooses so instead of pit, own pit, lapic, nmi and auto.
 *         Where what was chosen is missing, another is taken, and a line says
 *         why. auto takes nmi only where several CPUs may be sampled.
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

#include <prof/config.h>
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

/* The kernel's description of the source. Only members of (kind) are read. */
struct prof_tick {
    enum prof_tick_kind kind;

    /* pit; own pit: only the vector */
    uint32_t kernel_divisor; /* PIT counts per kernel tick, 59 to 65536; auto:
                                or 0, where the kernel does not use the PIT */

    /* hook, gate */
    uint32_t rate_mhz; /* interrupts in 1000 s, that is 1/1000 Hz: from 1 Hz to
                          PROF_HZ_MAX; 0 = as measured */
    bool irregular;    /* the timer is set anew for each interrupt, to any
                          time: none is ever missed */

    /* gate; with pit: of the PIT's interrupt, behind any controller; auto: or
     * 0, where the profiler must not use the PIT */
    uint8_t vector; /* IDT vector of the timer's interrupt, from 32 on */

    /* lapic, auto; with pit and own pit for prof.tick=lapic (PROF_WITH_LAPIC)
     */
    uint8_t
        lapic_vector;   /* IDT vector of its timer, from 32 on; 0: the profiler
                             must not use it (not with lapic) */
    bool lapic_shared;  /* the kernel arms it, by prof_lapic_arm() */
    uintptr_t lapic_at; /* address that its registers are mapped at; 0: their
                             physical one. In x2APIC mode not used */

    /* nmi; auto, and with pit, own pit and lapic for prof.tick=nmi
     * (PROF_WITH_NMI); lapic_at, too */
    bool nmi;            /* the kernel can do without NMIs while the profiler
                            samples; with nmi that is so */
    uint8_t nmi_input;   /* of the I/O APIC, which the PIT is at; 0: 2, as on
                            every PC */
    uintptr_t ioapic_at; /* address that its registers are mapped at; 0: their
                            physical one, 0xfec00000 */
};

/* How often the kernel interfered with the source since prof_init() or
 * prof_reset(). */
struct prof_tick_stats {
    uint32_t gate_taken_back; /* times that the IDT gate had been replaced */
    uint32_t pit_taken_back;  /* times that the PIT had been reprogrammed */
    uint32_t pit_given_up;    /* times that sampling stopped, because the kernel
                                 uses the PIT in one-shot mode */
#if PROF_WITH_LAPIC
    uint32_t lapic_taken_back; /* times that the local APIC's timer was not as
                                  the profiler had set it, or was armed without
                                  prof_lapic_arm() */
#endif
#if PROF_WITH_NMI
    uint32_t nmi_taken_back; /* times that the I/O APIC no longer delivered the
                                PIT as an NMI, or a local APIC no longer took
                                it */
    uint32_t nmi_again;      /* times that none came for a second, since when
                                the PIT is programmed at each one */
    uint32_t nmi_slowed;     /* times that the rate was halved, because a sample
                                took longer than a period */
    uint32_t nmi_duplicates; /* NMIs so soon after a sample that they were none
                                of their own */
#endif
};

#ifdef __cplusplus
}
#endif

#endif
