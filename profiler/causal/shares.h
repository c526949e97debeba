/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CAUSAL_SHARES_H
#define PROF_CAUSAL_SHARES_H

/*
 * Targets that are not entered and left, but learnt from samples: which part of
 * the samples of a handler are in the target is its share of that handler.
 * While the target is faster, virtual time is slower by that share in all of
 * the handler. So the delay grows smoothly. If it grew with each sample, by the
 * sample's period, it would stall all events at once.
 *
 * The time that is not spent waiting consists of segments, each of one kind: of
 * a handler, of a task, of what such a one calls, or of the rest. The samples
 * of a segment are those that came into the sampler's vector in it, which costs
 * the interrupt nothing. A kind that has few samples is taken to be like the
 * average. Where a handler asks for something from outside, a segment ends: it
 * matters whether the target runs before or after that.
 *
 * Contexts: thread, unless it says otherwise; one CPU.
 */

#include <prof/causal.h>
#include <prof/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Samples, not idle, before a target may be faster. */
#define PROF_SHARES_SAMPLES_MIN 500u

/* All kinds beyond these have the share of the rest. */
#define PROF_SHARES_KINDS 64u

#if PROF_WITH_CAUSAL

/* Experiments run with such targets. */
extern uint32_t prof_shares_on;

/* Bytes of memory that prof_shares_init() needs for so many targets. */
size_t prof_shares_bytes(uint32_t targets);

/* Experiments begin with (targets), in (memory), which is aligned to 8 and MUST
 * remain valid. Contexts: interrupts off. */
void prof_shares_init(void *memory, uint32_t targets);

/* A segment of (kind), not NULL, begins, or one of the rest: NULL. */
void prof_shares_switch(const void *kind);

/* The present handler has rung a doorbell: the rest of it is another kind. */
void prof_shares_doorbell(void);

/* The segment of the present kind ends, and with it what is counted; until
 * prof_shares_go_on(). */
void prof_shares_pause(void);
void prof_shares_go_on(void);

/* The share of (target) in the present kind, in 1/65,536. */
uint32_t prof_shares_of(const struct prof_target *target);

/* Samples of all segments so far. */
uint32_t prof_shares_samples(void);

/* Before the vector is drained, and afterwards. */
void prof_shares_drains(void);
void prof_shares_drained(void);

#else
#define prof_shares_drains() ((void)0)
#define prof_shares_drained() ((void)0)
#endif

#endif
