/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SOURCE_H
#define PROF_SOURCE_H

/*
 * A source of ticks, as the control of the profiler sees it. There are five
 * (<prof/tick.h>); prof_source_open() chooses.
 *
 * Contexts of all calls: thread, interrupts off. (on): the caller had them on,
 * and the source may let interrupts in for moments while it waits. Where not
 * (on), it does not wait.
 */

#include "sample/cpus.h"

#include <prof/port.h>
#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

/* What configurations may ask for. */
#define PROF_DIVISOR_MIN (PROF_PIT_HZ / PROF_HZ_MAX)
#define PROF_DIVISOR_MAX 65536u
#define PROF_VECTOR_MIN 32u /* those below are the CPU's exceptions */
#define PROF_PERIOD_BITS 31 /* of a period in cycles */
/* Periods are calculated as 24.8 numbers of cycles, in 64 bits. */
#define PROF_TSC_HZ_BITS 36

struct prof_source {
    /* Samples come from now on. PROF_OK, or why not; then nothing changed. */
    int (*start)(bool on);

    /* Called after start(), when all is ready for them: lets samples through
     * that interrupts off do not hold back. NULL: there are none. */
    void (*let_through)(void);

    /* No more samples come, and the kernel has its timer back as it was. Waits
     * for two of its ticks at most, so that its clock loses nothing. */
    void (*stop)(bool on);

    /*
     * The period becomes the one nearest to 1/(hz) s that the source can keep,
     * at once where it runs; prof_clock.rate_mhz says which. PROF_OK;
     * PROF_EFIXED where it has only one and that is another; PROF_ESTATE where
     * it must be stopped for that. Then nothing has changed.
     */
    int (*set_period)(uint32_t hz, bool on);

    /* Points at what acknowledges those ticks which are not the kernel's, and
     * may change while ticks come. NULL: every tick is the kernel's. */
    void (**acknowledge)(void);

#if PROF_CPUS_MAX > 1
    /*
     * Another CPU joins or leaves (<prof/cpus.h>): called on that CPU, with
     * interrupts off, whether the source runs or not. PROF_OK, or why not.
     */
    int (*join)(struct prof_cpu *cpu);
    void (*leave)(struct prof_cpu *cpu);

    /* What another CPU must do itself, now that the source runs, or does not
     * any more: called on that CPU, with interrupts off, again and again. */
    void (*look)(struct prof_cpu *cpu);

    /* When it last began with that by itself: no sample covers the time before.
     * Written before its first sample. 0: it does nothing by itself. */
    uint64_t (*begun)(const struct prof_cpu *cpu);

    /* The drain has found that it did, on the first CPU. The source runs if
     * that CPU is enabled. */
    void (*taken)(struct prof_cpu *cpu);
    void (*let_go)(struct prof_cpu *cpu);

    /* It has left, and the source is not done with it: it is not let go yet. */
    bool (*is_leaving)(const struct prof_cpu *cpu);

    /* Any of them may be NULL: nothing is to be done. */
#endif
};

#if PROF_CPUS_MAX > 1
/* Calls these of the source in use. */
int prof_source_join(struct prof_cpu *cpu);
void prof_source_leave(struct prof_cpu *cpu);
void prof_source_look(struct prof_cpu *cpu);
uint64_t prof_source_begun(const struct prof_cpu *cpu);
void prof_source_taken(struct prof_cpu *cpu);
void prof_source_let_go(struct prof_cpu *cpu);
bool prof_source_is_leaving(const struct prof_cpu *cpu);

/* prof_source_look() for the calling CPU, if it has joined. Contexts:
 * thread. */
void prof_source_poll(void);
#endif

/*
 * Checks (config), prepares the source that it names, at the rate of the
 * options or the only one there is, and returns it; NULL where it cannot work.
 * Contexts: boot, once.
 */
const struct prof_source *prof_source_open(const struct prof_config *config);

/* The same, without a new clock, for a change of sources that control makes.
 * PROF_WITH_NMI. Contexts: thread, vector drained, the source before is
 * stopped. */
const struct prof_source *prof_source_of(const struct prof_config *config);

/*
 * Makes (config)->tick.kind one that names a timer, where it is auto, or the
 * option prof.tick asks for another, or the timer that it names is missing;
 * looks at the machine where one of these may be, and prints what was chosen
 * and why, unless that was to be expected. PROF_OK or PROF_ETIMER.
 * PROF_WITH_LAPIC. Contexts: boot, once, before prof_source_open().
 */
int prof_source_choose(struct prof_config *config);

/* Prints what prof_config_problem() finds in (config), one line, or nothing.
 * Part of PROF_WITH_BUILTIN. Contexts: boot. */
void prof_config_print_problem(const struct prof_config *config);

/* Prints (line), a literal that ends with a newline, in one call. */
#define prof_message(line) prof_port_write(line, sizeof(line) - 1)

/* The sources, and what prepares each; false where it cannot work. Contexts:
 * boot. */
extern const struct prof_source prof_source_pit, prof_source_hook,
    prof_source_gate, prof_source_lapic, prof_source_nmi;
bool prof_source_pit_open(const struct prof_config *config);
bool prof_source_hook_open(const struct prof_config *config);
bool prof_source_gate_open(const struct prof_config *config);
bool prof_source_lapic_open(const struct prof_config *config);
bool prof_source_nmi_open(const struct prof_config *config);

/*
 * The source `pit` beyond that. Contexts: thread; running, but for the first
 * two.
 */

struct prof_pit_rate; /* pit.h */

/* The rates in force while it runs; NULL while it does not. */
const struct prof_pit_rate *prof_source_pit_running(void);

/* Whether it was given up since the last start: prof_stop() must follow. */
bool prof_source_pit_given_up(void);

/* Cycles between two of the kernel's ticks by the best knowledge there is; 0
 * where every tick is the kernel's. */
uint64_t prof_source_pit_pass_period(void);

/* It was seen in one-shot mode. Returns whether the kernel means it, the third
 * time within seconds: then the PIT is the kernel's, and only stopping is
 * left. */
bool prof_source_pit_one_shot(void);

/* Programs the PIT to the rate in force again, and measures its period anew.
 * The vector must be drained. */
void prof_source_pit_program(void);

/* ---- The source `lapic` beyond that, PROF_WITH_LAPIC. */

/* Checks whether somebody else has programmed or armed the timer, takes it
 * back, and prints a line, once. Contexts: the drain. */
void prof_source_lapic_check(void);

/* An interrupt of a timer that is shared with the kernel; (sampled): it was a
 * sample's. Arms the timer for what is next. True: it was the kernel's
 * deadline, and the handler is to run; otherwise it is acknowledged. Contexts:
 * interrupt, called by the stub. */
bool prof_lapic_turn(bool sampled);

/* ---- The source `nmi` beyond that, PROF_WITH_NMI. */

enum prof_nmi_trouble {
    PROF_NMI_FINE,
    PROF_NMI_SLOW,   /* the interrupt takes longer than a period */
    PROF_NMI_SILENT, /* none come, or soon none will, whatever is done */
};

/* Why it cannot be taken, by (tick) and the machine; NULL: it can. Contexts:
 * boot, thread. */
const char *prof_source_nmi_missing(const struct prof_tick *tick);

/* What control is to do something about, while it runs: set half the rate, and
 * call the second; or stop, and take another source. Contexts: thread. */
enum prof_nmi_trouble prof_source_nmi_trouble(void);
void prof_source_nmi_slowed_down(void);

/* As for the source `pit`. Where the kernel means the one-shot mode, that is
 * trouble: PROF_NMI_SILENT. */
const struct prof_pit_rate *prof_source_nmi_running(void);
void prof_source_nmi_program(void);
bool prof_source_nmi_one_shot(void);

/* Whether NMIs come, and whether there is time for them: writes the entry of
 * the I/O APIC again, with a line, or notes what is wrong. Contexts: the
 * drain. */
void prof_source_nmi_check(void);

/* ---- watchdog.c */

/*
 * While the source `pit` or `nmi` runs: checks whether somebody else has
 * changed the gate or the PIT, takes it back, and prints a line. Corrects the
 * kernel's tick by what the drained samples say about the length of a period.
 * Contexts: the drain.
 */
void prof_watchdog(void);

/* What was taken back or given up since prof_init(). Written by tick/. */
extern struct prof_tick_stats prof_tick_counts;

#endif
