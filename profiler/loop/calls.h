/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_CALLS_H
#define PROF_LOOP_CALLS_H

/*
 * Calls: the self time of each task over its life, and how long primitive
 * futures are pending (prof.loop_calls).
 *
 * What is pending has a record in a hash table of a fixed size, found by its
 * site and its number; so tasks have no room for it, which most programs would
 * not use. While calls are counted every run of a task is notable, so that a
 * pause takes the way of long runs (switch.c), and costs nobody else anything.
 *
 * Contexts: thread.
 */

#include "loop/sites.h"

#include <stdbool.h>
#include <stdint.h>

/* A task or future, (object) of (site), is pending since (created), which is 0
 * for a task. Returns false if it is refused. */
bool prof_calls_begin(const struct prof_loop_site *site, uint32_t object,
                      uint64_t created);

/* A frame of the task was left after (own) cycles. */
void prof_calls_add(struct prof_loop_site *site, uint32_t object, uint64_t own);

/* (cycles) of what was added were stolen. */
void prof_calls_shorten(const struct prof_loop_site *site, uint32_t object,
                        uint64_t cycles);

/* The task has ended. What runs for it is still its own. */
void prof_calls_end(struct prof_loop_site *site, uint32_t object);

/* A call of (row) took (cycles), until (tsc). */
void prof_calls_raise(struct prof_loop_row *row, uint64_t cycles, uint64_t tsc,
                      uint32_t object);

/* Sets site->oldest_future of all sites of futures. */
void prof_calls_find_oldest(void);

#if PROF_CPUS_MAX > 1
/* What the first CPU's records take, 0 if none are kept; and the same for the
 * current CPU, in (memory) of that size. */
size_t prof_calls_bytes(void);
void prof_calls_open_here(void *memory);
#endif

/* How many were refused since the last reset; and that. */
uint64_t prof_calls_refused(void);
void prof_calls_reset(void);

#endif
