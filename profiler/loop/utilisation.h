/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_LOOP_UTILISATION_H
#define PROF_LOOP_UTILISATION_H

/*
 * How busy the loop was in the last seconds: the share that was not idle, of
 * what the host has not stolen. For a minute there is a mark for the end of
 * each whole second, with the idle time until then, which is that of the
 * account. It is made at the end of an idle span, or by a reader: so until
 * there is one, nothing is done. Times are of the time stamp counter, after a
 * rebase; contexts: thread, and the drain.
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_UTILISATION_SECONDS 60u
#define PROF_UTILISATION_MARKS (PROF_UTILISATION_SECONDS + 1)

struct prof_utilisation {
    uint64_t second; /* cycles of one */
    uint64_t next;   /* end of the present one */
    uint64_t before; /* idle time until the last reset */
    uint64_t stolen; /* until now, that was taken out of anything */
    uint32_t shift;  /* marks are in 2^shift cycles */
    uint32_t at;     /* of the newest mark */
    uint32_t count;  /* marks, the newest ones */
    /* at the end of whole seconds, both modulo 2^32 */
    uint32_t idle_marks[PROF_UTILISATION_MARKS];
    uint32_t stolen_marks[PROF_UTILISATION_MARKS];
};

/* Begins at (tsc), with (hz) cycles a second. */
void prof_utilisation_open(uint64_t tsc, uint64_t hz);

/* Makes the marks of the seconds that have ended by (tsc). */
void prof_utilisation_mark(uint64_t tsc);

/* All counts of the loop are about to become 0. */
void prof_utilisation_reset(uint64_t tsc);

/* (cycles) before (tsc) were stolen, and have been taken out of what ran, which
 * may be the idle time. All seconds that have ended MUST be marked. */
void prof_utilisation_stolen(uint64_t tsc, uint64_t cycles, bool was_idle);

/* Idle time since the open, up to (tsc). */
uint64_t prof_utilisation_idle(uint64_t tsc);

/* How busy it was in the last (*seconds) whole seconds before (tsc), in
 * thousandths. Lowers (*seconds) to what there was; with 0 returns 0. */
uint32_t prof_utilisation(uint64_t tsc, uint32_t *seconds);

#endif
