/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CAUSAL_SHARES_H
#define PROF_CAUSAL_SHARES_H

/*
 * Targets whose time is estimated from samples, instead of entries and exits.
 * The fraction of a handler's samples that are in the target is the target's
 * share of that handler. While the target is faster, virtual time is slowed
 * down by that share throughout the handler: if the delay grew with each sample
 * instead, it would stall all events.
 *
 * Time that is not spent waiting consists of segments, each of one kind: of a
 * handler, of a task, of their callees, or of the rest. A segment's samples are
 * those added to the sample vector during it, which costs the interrupt
 * nothing; those in the profiler are not counted, as virtual time stands still
 * there (own.h). A kind with few samples is assumed to be like the average. A
 * segment ends when a handler sends a request outside, as it matters whether
 * the target runs before or after that.
 *
 * Contexts: thread on the first CPU, unless stated otherwise.
 */

#include <prof/causal.h>
#include <prof/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Samples, without idle ones and the profiler's own, needed before a target may
 * be sped up. */
#define PROF_SHARES_SAMPLES_MIN 500u

/* Number of kinds; further ones have the share of the rest. */
#define PROF_SHARES_KINDS 64u

#if PROF_WITH_CAUSAL

/* Not 0 while experiments with such targets run. */
extern uint32_t prof_shares_on;

/* Returns the bytes that prof_shares_init() needs for (targets) targets. */
size_t prof_shares_bytes(uint32_t targets);

/* Begins experiments, with state in (memory), which is aligned to 8 bytes and
 * MUST remain valid. Contexts: interrupts off. */
void prof_shares_init(void *memory, uint32_t targets);

/* Begins a segment of (kind); NULL: of the rest. */
void prof_shares_switch(const void *kind);

/* Reports that the current handler has rung a doorbell: its rest is of another
 * kind. */
void prof_shares_doorbell(void);

/* End the segment, and count nothing until prof_shares_go_on(). */
void prof_shares_pause(void);
void prof_shares_go_on(void);

/* Returns the share of (target) in the current kind, in 1/65,536. */
uint32_t prof_shares_of(const struct prof_target *target);

/* Return the samples of all segments so far, and those in (target). */
uint32_t prof_shares_samples(void);
uint32_t prof_shares_hits(const struct prof_target *target);

/* Called before the vector is drained, and afterwards. */
void prof_shares_drains(void);
void prof_shares_drained(void);

#else
#define prof_shares_drains() ((void)0)
#define prof_shares_drained() ((void)0)
#endif

#endif
