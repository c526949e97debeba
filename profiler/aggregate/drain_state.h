/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DRAIN_STATE_H
#define PROF_DRAIN_STATE_H

/* How far the drain has come. For drain.c, drain_entries.c and queued.c alone;
 * others use drain.h. Contexts: thread, and the drain in the interrupt. */

#include "sample/cpu_state.h"
#include "tick/clock.h"

#include <prof/config.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_drain_state {
    bool open;               /* prof_drain_open() was called */
    bool draining;           /* inside prof_drain() */
    bool dying;              /* the image panics: nothing is allocated */
    bool behind;             /* the last drain has left samples for the next */
    struct prof_entry *read; /* next entry of the vector */
    uint32_t frames_read;    /* words of the frame vector read so far */
    uint64_t ticks;          /* the producer's count, extended to 64 bits */
    struct prof_overflow_half *taken; /* that is being emptied, or NULL */
    uint32_t taken_at;                /* slots of it that are done with */
    uint64_t ended_tsc;               /* when the last drain ended */
    uint64_t taken_gap; /* cycles of its time that may have been stolen */
    uint64_t longest;   /* cycles between two drains, while sampling */
    uint32_t most;      /* samples that one drain takes */
};

/* More samples than these wait for the next drain. */
#define PROF_DRAIN_ENTRIES 1000u

extern struct prof_drain_state prof_drain_state;

/* Whether anything is queued. */
static inline bool prof_drain_is_more(void)
{
    return prof_drain_state.taken != NULL ||
           prof_drain_state.read != prof_ring_head(&prof_cpus[0].ring);
}

_Static_assert(offsetof(struct prof_entry, divisor) ==
                   offsetof(struct prof_entry, frames) + sizeof(uint16_t),
               "two halves of a word");

/* Advances to the next entry. Clears this one, as the producer relies on it
 * (ring.h). */
static inline void prof_drain_pass(void)
{
    struct prof_entry *entry = prof_drain_state.read;
    uint32_t both = 0; /* frames and divisor, in one load */

    if (PROF_WITH_CALLERS || PROF_WITH_PIT) /* else they are always 0 */
        __builtin_memcpy(&both, &entry->frames, sizeof both);
    if (both != 0) {
        prof_drain_state.frames_read += prof_walk_words(both);
        if (PROF_WITH_PIT && both > UINT16_MAX)
            prof_timebase_change(&prof_clock, both >> 16);
        entry->frames = entry->divisor = 0;
    }
    prof_drain_state.read = prof_ring_next(&prof_cpus[0].ring, entry);
}

/* Drains the vector and the overflow table, or as much of them as one drain
 * may: (most), then it sets (behind), and what resolve.h allows. */
void prof_drain_entries(void);

/* Emits the addresses in the vector, for a panic that has interrupted a drain,
 * so that no other state can be trusted. PROF_WITH_STREAM. */
void prof_drain_emit_vector(void);

/* Releases the entries read so far, and takes the next half of the overflow
 * table, if there is one. All of its samples are newer than these entries. */
void prof_drain_hand_over(void);

#endif
