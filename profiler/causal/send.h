/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAUSAL_SEND_H
#define CAUSAL_SEND_H

/*
 * Experiments in the stream. The next drain sends those that have ended; sums
 * of all go to each new reader, a few a drain, and again when experiments end.
 * So whenever it begins, and if it has missed packets, a reader can compute the
 * same table. Contexts: thread.
 */

#include "causal/experiments.h"

#include <prof/config.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of memory that prof_causal_log_init() needs for so many points, a
 * multiple of 8. */
size_t prof_causal_log_bytes(uint32_t points);

/* (memory) is aligned to 8, and MUST remain valid until the next call. Another
 * run of experiments begins, with what prof_causal has. */
void prof_causal_log_init(void *memory, uint32_t points);

/* An experiment has ended. */
void prof_causal_log(const struct prof_experiment_record *record,
                     const uint32_t *visits);

/* Where causal profiling is left out, these are nothing. The drain has passed
 * all samples on, and (stolen_cycles) were stolen by the host so far: a bounded
 * amount of work. There is a new reader or stream. The image ends. */
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
