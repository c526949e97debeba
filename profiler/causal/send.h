/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAUSAL_SEND_H
#define CAUSAL_SEND_H

/*
 * Sends experiments to the stream. The next drain sends those that have ended.
 * The sums of all are sent to each new reader, some in each drain, and again
 * when experiments end. So a reader can compute the same table even if it joins
 * late or has missed packets. Contexts: thread.
 */

#include "causal/experiments.h"

#include <prof/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes that prof_causal_log_init() needs for (points) progress
 * points, a multiple of 8. */
size_t prof_causal_log_bytes(uint32_t points);

/* Begins a new run of experiments, as described by prof_causal. (memory) is
 * aligned to 8 bytes, and MUST remain valid until the next call. */
void prof_causal_log_init(void *memory, uint32_t points);

struct prof_regimes;

/* Logs an experiment that has ended. */
void prof_causal_log(const struct prof_experiment_record *record,
                     const uint32_t *visits);

/* Returns whether progress has two rates in the experiments so far. */
bool prof_causal_regimes(struct prof_regimes *found);

/* The first is called when the drain has passed all samples, with the cycles
 * stolen by the host so far, and does a bounded amount of work; the second for
 * a new reader or stream; the third when the image ends. Nothing if causal
 * profiling is left out. */
#if PROF_WITH_CAUSAL
void prof_causal_drained(uint64_t tsc, uint64_t stolen_cycles);
void prof_causal_send_again(void);
void prof_causal_send_last(void);
#else
#define prof_causal_drained(tsc, stolen_cycles) ((void)0)
#define prof_causal_send_again() ((void)0)
#define prof_causal_send_last() ((void)0)
#endif

#endif
