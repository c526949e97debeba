/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_STATE_H
#define PROF_STATE_H

/*
 * Everything that the profiler remembers, grouped by who may write it.
 *
 *   prof_hot    what the interrupt reads and writes; the assembly stub knows
 *               its layout through offsets.c
 *   prof_state  the thread's: what is drained, what is counted, the settings
 */

#include "frames.h"
#include "map.h"
#include "ring.h"
#include "spill.h"
#include "timebase.h"
#include "tree.h"

#include <prof/prof.h>

/* How the PIT's period varies; see jitter.h. */
struct prof_jitter {
    uint64_t random;     /* the generator's state */
    uint32_t ticks_left; /* of ours, until the next change */
    uint32_t divisor;    /* the PIT's now */
    uint32_t least;      /* the smallest that is chosen */
    uint32_t counts;     /* that many from there on, 0 = it does not vary */
};

/* What the walk compares with; all places are above (begin). */
struct prof_stack_bounds {
    uintptr_t begin;
    uintptr_t last_kept;  /* of a stack pointer with so many words above it as
                             are kept; 0 = no place has */
    uintptr_t last_frame; /* of a frame, in words from address 0 */
};

struct prof_hot {
    struct prof_ring ring;     /* whose is what: ring.h */
    struct prof_frames frames; /* and frames.h */

    /* Written by the interrupt; by the thread with interrupts off. */
    uint64_t pass_due;         /* TSC from which a tick is the kernel's, too */
    uint64_t interrupt_cycles; /* time spent in here since the start */
    struct prof_spill spill;
    struct prof_jitter jitter;

    /* Written by the thread, in one store; what it points at is complete. */
    const struct prof_stack_bounds *stack; /* one of the next two */
    struct prof_stack_bounds stacks[2];

    /* Written by the thread with interrupts off. */
    uint64_t pass_period;   /* cycles between the kernel's ticks; 0 = all */
    uintptr_t next_handler; /* the kernel's own, which comes after us */
    uintptr_t text_base;    /* the code's second byte: see frames.h */
    uintptr_t text_bytes;   /* from there */
    uint32_t depth;         /* frames to be taken, 0 = none */
    uint32_t enabled;       /* prof_sample() records */
};

enum prof_class {
    PROF_CLASS_ATTRIBUTED,
    PROF_CLASS_IDLE,
    PROF_CLASS_UNRESOLVED,
};

struct prof_counts {
    uint64_t count[3];  /* samples by enum prof_class */
    uint64_t cycles[3]; /* the time they stand for */
};

/* The stack that was looked for last; see stacks.c. */
struct prof_last {
    uint32_t words[PROF_DEPTH_MAX + 1]; /* its callers, outermost first */
    uint32_t nodes[PROF_DEPTH_MAX + 1]; /* and their nodes */
    uint32_t length;                    /* of both */
    uint32_t leaf;                      /* node of pc below them, 0 = none */
    uintptr_t pc;
};

struct prof_state {
    bool ready;                /* prof_init() has succeeded */
    bool running;              /* prof_start() is in force */
    bool draining;             /* inside prof_drain() */
    bool dying;                /* the image panics: nothing is allocated */
    struct prof_config config; /* a copy of what prof_init() was told */

    uint32_t divisor; /* PIT counts per sampling tick */
    struct prof_timebase time;

    struct prof_map addresses;  /* by pc; owner = key in functions */
    struct prof_map functions;  /* by function start, or pc where unknown */
    struct prof_tree stacks;    /* distinct call stacks; link = in calls */
    struct prof_tree calls;     /* the same by function; link: stacks.h */
    struct prof_tree callables; /* functions, all children of node 0 */
    struct prof_last last;
    struct prof_entry *read; /* next entry of the vector to be drained */
    uint32_t frames_read;    /* words of the frame vector drained so far */
    struct prof_slot *taken; /* half taken from the spill, or NULL */
    uint32_t taken_at;       /* slots of it that are done with */
    uint64_t taken_tsc;      /* when the last sample in it was taken */
    uint64_t dropped_seen;   /* hot.spill.dropped at the last taking */
    uint64_t dropped_cycles_seen;
    uint64_t dropped_told; /* the same, as the stream was told */
    uint64_t dropped_cycles_told;
    uint64_t stolen_told; /* stolen_cycles, as the stream was told */
    int64_t missed_told;  /* time.missed, as the stream was told */
    uint32_t stopped[PROF_WALK_REASONS]; /* walks, by enum prof_walk_stop */
    uint32_t stopped_told[PROF_WALK_REASONS]; /* of them, likewise */

    struct prof_counts counts; /* what was drained, by class */
    uint64_t overflowed;       /* of those: through the small table */
    uint64_t homeless;         /* dropped by the drain for want of memory */
    uint64_t homeless_cycles;  /* time that they stood for */
    uint64_t stolen_cycles;    /* ticks did not come, and were not masked */
    uint64_t far;              /* of those: caller out of reach */
    uint64_t forgotten;        /* ticks before the last reset */
    uint64_t dropped_before;   /* hot.spill.dropped at the last reset */
    uint64_t dropped_cycles_before;
    uint64_t interrupt_before; /* hot.interrupt_cycles at the last reset */
    uint32_t stopped_before[PROF_WALK_REASONS]; /* stopped, likewise */
    uint64_t drain_cycles;
    uint64_t report_cycles;
    uint32_t gate_taken_back;
    uint32_t pit_taken_back;
    int64_t missed_seen;     /* time.missed at the last close look */
    uint32_t looks_in_vain;  /* close looks since one found something */
    uintptr_t other_handler; /* found in the gate in our place, or 0 */
    uint64_t other_seen_tsc; /* when it was last looked at */
    bool other_is_on_top;    /* and it goes on to our stub */
};

extern struct prof_hot prof_hot;
extern struct prof_state prof_state;

/*
 * Entry of the slow path: the vector is full. Called by the stubs and by
 * prof_sample(), in the interrupt.
 */
void prof_sample_full(uintptr_t pc, uint64_t tsc);

#endif
