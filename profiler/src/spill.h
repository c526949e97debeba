/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_SPILL_H
#define PROF_SPILL_H

/*
 * The small fixed table: where samples add up when the vector is full.
 *
 * Two halves in turns. The interrupt adds to the half whose turn it is; the
 * drain gives the turn to the other half, with interrupts off for the three
 * stores that this takes, and then has all the time to empty the first. A half
 * gets its turn only when it is empty, so nothing is added to what is read.
 *
 * What fits nowhere, because PROF_SPILL_PROBES slots in a row hold other
 * addresses, is counted as dropped, with its time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_SPILL_SLOTS 128u /* in each half; a power of two */
#define PROF_SPILL_PROBES 8u  /* slots looked at before a sample is dropped */

struct prof_slot {
    uintptr_t pc;    /* code address; means something where count is not 0 */
    uint32_t count;  /* samples, 0 = free */
    uint32_t unused; /* keeps cycles aligned alike on both widths */
    uint64_t cycles; /* time that these samples stand for */
};

/* Everything here is the producer's, but for what the drain does with
 * interrupts off, and the half that is not in turn, which is the drain's. */
struct prof_spill {
    struct prof_slot *half[2]; /* PROF_SPILL_SLOTS each */
    uint32_t turn;             /* which half the producer adds to */
    uint32_t waiting;          /* samples in the producer's half */
    uint64_t last_tsc;         /* when the newest one here was taken */
    uint64_t dropped;          /* samples that fitted nowhere */
    uint64_t dropped_cycles;   /* the time that they stood for */
};

/* Gives (spill) its two halves and empties them. Contexts: boot. */
void prof_spill_open(struct prof_spill *spill, struct prof_slot *first,
                     struct prof_slot *second);

/*
 * Producer: adds one sample of (pc) that stands for (cycles), or counts it as
 * dropped. Wait-free: PROF_SPILL_PROBES steps at most.
 */
void prof_spill_add(struct prof_spill *spill, uintptr_t pc, uint64_t cycles);

/*
 * Consumer, interrupts off: gives the turn to the other half, which must be
 * empty, and returns the one that is to be read now.
 */
struct prof_slot *prof_spill_take(struct prof_spill *spill);

#endif
