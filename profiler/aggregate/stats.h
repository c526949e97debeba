/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_AGGREGATE_STATS_H
#define PROF_AGGREGATE_STATS_H

/* The snapshots and counts of prof_stats() (<prof/stats.h>). */

#include <prof/cpus.h>
#include <stdbool.h>
#include <stdint.h>

/* TSC cycles spent in prof_report() since prof_init(); it adds them itself. */
extern uint64_t prof_report_cycles;

/* Clears the snapshot: all counts begin at 0. Contexts: boot. */
void prof_stats_open(void);

/* Takes a snapshot of all counts, which prof_stats() subtracts from now on.
 * Contexts: thread, after prof_drain_clear() and prof_drain_discard(). */
void prof_stats_reset(void);

#if PROF_CPUS_MAX > 1
/* Like prof_cpu_stats(), as of the last prof_stats(), so that the ticks of all
 * CPUs add up to those of prof_stats(). Contexts: as prof_stats(), with no
 * drain in between. */
bool prof_stats_of_cpu(uint32_t number, struct prof_cpu_stats *stats);
#endif

#endif
