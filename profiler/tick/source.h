/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SOURCE_H
#define PROF_SOURCE_H

/*
 * The internal interface of a source of ticks. There are five (<prof/tick.h>);
 * prof_source_open() chooses one.
 *
 * Contexts of all calls: thread, interrupts off. (on): interrupts were on in
 * the caller, and the source may let them in for moments while it waits. If not
 * (on), it does not wait.
 */

#include "sample/cpus.h"

#include <prof/port.h>
#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

/* Limits of configurations. */
#define PROF_DIVISOR_MIN (PROF_PIT_HZ / PROF_HZ_MAX)
#define PROF_DIVISOR_MAX 65536u
#define PROF_VECTOR_MIN 32u /* lower vectors are exceptions */
#define PROF_PERIOD_BITS 31 /* of a period in cycles */
/* Periods are calculated as 24.8 numbers of cycles, in 64 bits. */
#define PROF_TSC_HZ_BITS 36

struct prof_source {
    /* Starts sampling. Returns PROF_OK, or an error, without effect. */
    int (*start)(bool on);

    /* Called after start(), when all is set up: enables ticks that are not held
     * back while interrupts are off. NULL: there are none. */
    void (*let_through)(void);

    /* Stops sampling, and restores the kernel's timer. Waits for up to two of
     * the kernel's ticks, so that its clock loses nothing. */
    void (*stop)(bool on);

    /*
     * Sets the period nearest to 1/(hz) s that the source can keep, at once if
     * it runs, and prof_clock.rate_mhz. Returns PROF_OK; or, without effect,
     * PROF_EFIXED (its only period is another one) or PROF_ESTATE (it must be
     * stopped first).
     */
    int (*set_period)(uint32_t hz, bool on);

    /* Points to the function that acknowledges ticks which are not the
     * kernel's; the function may change while ticks come. NULL: every tick is
     * the kernel's. */
    void (**acknowledge)(void);

#if PROF_CPUS_MAX > 1
    /*
     * Join or leave another CPU (<prof/cpus.h>): called on that CPU, with
     * interrupts off, whether the source runs or not. join() returns PROF_OK,
     * or an error.
     */
    int (*join)(struct prof_cpu *cpu);
    void (*leave)(struct prof_cpu *cpu);

    /* Does what another CPU must do itself when the source has started or
     * stopped: called on that CPU, with interrupts off, repeatedly. */
    void (*look)(struct prof_cpu *cpu);

    /* Returns the TSC at which look() last started sampling on that CPU: no
     * sample covers the time before. Written before its first sample. 0: look()
     * has nothing to start. */
    uint64_t (*begun)(const struct prof_cpu *cpu);

    /* Called on the first CPU when the drain has found that a CPU has joined,
     * or left. The source runs if the first CPU is enabled. */
    void (*taken)(struct prof_cpu *cpu);
    void (*let_go)(struct prof_cpu *cpu);

    /* Returns whether the source still needs a CPU that has left, so that it
     * must not be let go yet. */
    bool (*is_leaving)(const struct prof_cpu *cpu);

    /* Any of these may be NULL, which has no effect. */
#endif
};

#if PROF_CPUS_MAX > 1
/* Call these functions of the source in use. */
int prof_source_join(struct prof_cpu *cpu);
void prof_source_leave(struct prof_cpu *cpu);
void prof_source_look(struct prof_cpu *cpu);
uint64_t prof_source_begun(const struct prof_cpu *cpu);
void prof_source_taken(struct prof_cpu *cpu);
void prof_source_let_go(struct prof_cpu *cpu);
bool prof_source_is_leaving(const struct prof_cpu *cpu);

/* Calls prof_source_look() for the calling CPU, if it has joined. Contexts:
 * thread. */
void prof_source_poll(void);
#endif

/*
 * Validates (config), prepares the source that it names, at the rate prof.hz or
 * the source's only one, and returns it; NULL if (config) is invalid. Contexts:
 * boot, once.
 */
const struct prof_source *prof_source_open(const struct prof_config *config);

/* Like prof_source_open(), without a new clock, for a change of sources by
 * control. PROF_WITH_NMI. Contexts: thread, vector drained, the previous source
 * stopped. */
const struct prof_source *prof_source_of(const struct prof_config *config);

/*
 * Replaces (config)->tick.kind by the kind of an existing timer, if it is auto,
 * if the option prof.tick requests another one, or if its timer is missing.
 * Probes the machine if necessary, and prints the choice and its reason, unless
 * it is the expected one. PROF_WITH_LAPIC. Contexts: boot, once, before
 * prof_source_open(). Returns PROF_OK or PROF_ETIMER.
 */
int prof_source_choose(struct prof_config *config);

/* Prints the result of prof_config_problem() for (config) in one line, if there
 * is one. PROF_WITH_BUILTIN. Contexts: boot. */
void prof_config_print_problem(const struct prof_config *config);

/* Prints (line), a literal that ends with a newline, in one call. */
#define prof_message(line) prof_port_write(line, sizeof(line) - 1)

/* The sources, and the functions that prepare them. These return false if the
 * source cannot be used. Contexts: boot. */
extern const struct prof_source prof_source_pit, prof_source_hook,
    prof_source_gate, prof_source_lapic, prof_source_nmi;
bool prof_source_pit_open(const struct prof_config *config);
bool prof_source_hook_open(const struct prof_config *config);
bool prof_source_gate_open(const struct prof_config *config);
bool prof_source_lapic_open(const struct prof_config *config);
bool prof_source_nmi_open(const struct prof_config *config);

/*
 * More of the source `pit`. Contexts: thread; all but the first two while it
 * runs.
 */

struct prof_pit_rate; /* pit.h */

/* Returns the rates in force while it runs; else NULL. */
const struct prof_pit_rate *prof_source_pit_running(void);

/* Returns whether it was given up since the last start: prof_stop() must
 * follow. */
bool prof_source_pit_given_up(void);

/* Returns the cycles between two of the kernel's ticks, by the best estimate; 0
 * if every tick is the kernel's. */
uint64_t prof_source_pit_pass_period(void);

/* Reports that the PIT was seen in one-shot mode. Returns whether the kernel
 * uses this mode, which is the third time within seconds: then the PIT is left
 * to the kernel, and the source must be stopped. */
bool prof_source_pit_one_shot(void);

/* Programs the PIT to the rate in force again, and restarts the measurement of
 * its period. The vector must be drained. */
void prof_source_pit_program(void);

/* ---- More of the source `lapic`, PROF_WITH_LAPIC. */

/* Checks whether other code has programmed or armed the timer. If so, programs
 * it again, and prints a line once. Contexts: the drain. */
void prof_source_lapic_check(void);

/* Handles an interrupt of a timer that is shared with the kernel, and arms the
 * timer for the next deadline. (sampled): a sample was taken. Returns true if
 * the kernel's deadline has come, so that its handler must run; otherwise
 * acknowledges the interrupt. Contexts: interrupt, called by the stub. */
bool prof_lapic_turn(bool sampled);

/* ---- More of the source `nmi`, PROF_WITH_NMI. */

enum prof_nmi_trouble {
    PROF_NMI_FINE,
    PROF_NMI_SLOW,   /* the interrupt takes longer than a period */
    PROF_NMI_SILENT, /* no NMIs come, or will come soon, whatever is done */
};

/* Returns why the source cannot be used, by (tick) and the machine; NULL: it
 * can. Contexts: boot, thread. */
const char *prof_source_nmi_missing(const struct prof_tick *tick);

/* Returns a problem that control must solve: on SLOW it halves the rate, and
 * calls the second function; on SILENT it stops, and takes another source.
 * Contexts: thread, while it runs. */
enum prof_nmi_trouble prof_source_nmi_trouble(void);
void prof_source_nmi_slowed_down(void);

/* As for the source `pit`. If the kernel uses the one-shot mode, the problem is
 * PROF_NMI_SILENT. */
const struct prof_pit_rate *prof_source_nmi_running(void);
void prof_source_nmi_program(void);
bool prof_source_nmi_one_shot(void);

/* Checks whether NMIs come, and whether they can be handled in time. Writes the
 * entry of the I/O APIC again, with a line, or records the problem. Contexts:
 * the drain. */
void prof_source_nmi_check(void);

/* ---- watchdog.c */

/*
 * While the source `pit` or `nmi` runs: checks whether other code has changed
 * the gate or the PIT. If so, takes it again, and prints a line. Corrects the
 * kernel's tick by the period that the drained samples show. Contexts: the
 * drain.
 */
void prof_watchdog(void);

/* What was taken back or given up since prof_init(). Written by tick/. */
extern struct prof_tick_stats prof_tick_counts;

#endif
