/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CAUSAL_SHARES_H
#define PROF_CAUSAL_SHARES_H

/*
 * Targets that are not entered and left, but learnt from samples: the part of a
 * handler's samples that is in the target is its share of that handler. While
 * the target is faster, virtual time is slower by that share in all of the
 * handler: if the delay grew with each sample, it would stall all events.
 *
 * Time that is not spent waiting consists of segments, each of one kind: of a
 * handler, of a task, of what these call, or of the rest. Its samples are those
 * that came into the sampler's vector in it, which costs the interrupt nothing.
 * A kind with few samples is taken to be like the average. A segment ends where
 * a handler asks for something from outside: it matters whether the target runs
 * before or after that.
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

/* Experiments begin, in (memory), which is aligned to 8 and MUST remain valid.
 * Contexts: interrupts off. */
void prof_shares_init(void *memory, uint32_t targets);

/* A segment of (kind), not NULL, begins, or one of the rest: NULL. */
void prof_shares_switch(const void *kind);

/* The present handler has rung a doorbell: the rest of it is another kind. */
void prof_shares_doorbell(void);

/* The segment ends, and nothing is counted until prof_shares_go_on(). */
void prof_shares_pause(void);
void prof_shares_go_on(void);

/* The share of (target) in the present kind, in 1/65,536. */
uint32_t prof_shares_of(const struct prof_target *target);

/* Samples of all segments so far, and those of them in (target). */
uint32_t prof_shares_samples(void);
uint32_t prof_shares_hits(const struct prof_target *target);

/* Before the vector is drained, and afterwards. */
void prof_shares_drains(void);
void prof_shares_drained(void);

#else
#define prof_shares_drains() ((void)0)
#define prof_shares_drained() ((void)0)
#endif

#endif
