/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_CPUS_H
#define PROF_LOOP_CPUS_H

/*
 * The statistics of several CPUs. Each CPU counts in a state of its own, which
 * no other one reads or writes, but for its time in interrupts, which the first
 * CPU reports. Numbers of sites are those of all, since a site has room for
 * one. For a reader, who is on the first CPU, each other one makes
 * a copy of its state in a turn of its loop, where nothing changes meanwhile:
 *
 *     RESTS   the copy is the first CPU's, which asks
 *     ASKED   either takes this back, or the other one begins, by a compare
 *             and exchange
 *     FILLS   the copy is the other CPU's, which makes it RESTS with its last
 *             store
 *
 * So a CPU that does not come to a turn holds up nobody, and there is an older
 * copy of it.
 */

#include "sample/cpu_state.h"

#include <prof/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The states, reached by the following: with several CPUs state 0 is for CPUs
 * that do not count. */
#define PROF_LOOP_STATES (PROF_CPUS_MAX == 1 ? 1 : PROF_CPUS_MAX + 1)

#if PROF_CPUS_MAX == 1

static inline uint32_t prof_loop_slot(void)
{
    return 0;
}

/* Whether the current CPU is the one that reads, sends and resets. */
static inline bool prof_loop_is_first(void)
{
    return true;
}

#else

/* By what identifies CPUs, as prof_cpu_keys; and kept when one leaves, for it
 * goes on to count. */
extern uint8_t prof_loop_slots[PROF_CPU_KEYS];

static inline uint32_t prof_loop_slot(void)
{
#ifdef PROF_HOSTED
    return prof_loop_slots[prof_cpu_number(prof_cpu_here())];
#else
    return prof_loop_slots[prof_cpu_key_here()];
#endif
}

static inline bool prof_loop_is_first(void)
{
    return prof_loop_slot() == 1;
}

/* One at a time, with interrupts off: who gives a number to a site. */
bool prof_loop_lock(void);
void prof_loop_unlock(bool interrupts);

/* A number for a site that has none. False: there is no room for more. Under
 * the lock. */
bool prof_loop_next_number(uint32_t *number);

/* ---- the first CPU. Contexts: thread */

/* Asks CPU (number) for a copy, unless that is under way. */
void prof_loop_ask(uint32_t number);

/* Waits until those of (count) CPUs from (first) on that were asked have
 * answered, for 1/(part) of a second in all, and takes back what was asked of
 * the others of them. Who is making a copy then has none meanwhile. The guard
 * does not take this for a freeze. */
void prof_loop_wait(uint32_t first, uint32_t count, uint32_t part);

/* As prof_loop_view(), for a further CPU's copy that may be from before a
 * reset: then what has happened once is in it, but no counts (which is what
 * prof_loop_copy_counts() says of the one that is read). */
bool prof_loop_view_copy(uint32_t number);
bool prof_loop_copy_counts(void);

/* The others are to follow: a reset; or limits. */
void prof_loop_reset_others(void);
void prof_loop_limit_others(uint64_t held_cycles, uint64_t freeze_cycles);

/* Whether CPU (number) has memory to count with; and for how many of those that
 * may join there is none. */
bool prof_loop_may_count(uint32_t number);
uint32_t prof_loop_without_memory(void);

/* Whether any CPU was given memory. */
bool prof_loop_others_begun(void);

/* Sends the copy of CPU (number), if there is a new one (send.c); whether
 * there is, and that it was sent. */
void prof_loop_send_copy(uint32_t number);
bool prof_loop_is_unsent(uint32_t number);
void prof_loop_set_sent(uint32_t number);

/* The first CPU begins to count, with (bytes) of memory. */
void prof_loop_first(size_t bytes, uint64_t tsc_hz);

#ifdef PROF_HOSTED
void prof_loop_forget_others(void);
#endif

#endif

#endif
