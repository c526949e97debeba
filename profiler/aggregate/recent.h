/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RECENT_H
#define PROF_RECENT_H

/*
 * A cache of recent samples, so that a sample equal to an earlier one is
 * counted without resolving it. There are two caches, each with one entry per
 * slot:
 *
 *      frames of the sample --hash--> callers: a copy of the words, their stack
 *      (pc, that stack)     --hash--> leaf:    the sample's stack
 *
 * There are two, because most new addresses are called by known callers. Stacks
 * are never removed (stacks.h), so an entry remains valid until another one
 * takes its slot. A sample that is not found here is resolved (resolve.h), and
 * added.
 *
 * The copies are in a ring of words, so that a stack takes memory for its
 * frames only. New copies overwrite the oldest:
 *
 *        | this lap: newer |      | last lap: older      |
 *        +-----------------+------+======================+-----+
 *        begin             head   oldest                 end   words
 *
 * Inline, since this is most of what the drain does. Contexts: the drain.
 */

#include "sample/frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_stack;

/* The callers of a sample. In the ring the frames follow. */
struct prof_callers {
    uint32_t stack; /* stack of the innermost caller, 0 = none */
    uint8_t count;  /* frames before the first that is not code */
    uint8_t frames; /* all frames; PROF_RECENT_NONE = matches no sample */
    uint16_t slot;  /* in the ring: the slot for their hash */
};

#define PROF_RECENT_NONE UINT8_MAX

/* Bits of the hash of callers; there is a slot for each hash. */
#define PROF_RECENT_BITS 12u

/* Its size in words of the ring. */
#define PROF_CALLERS_WORDS (sizeof(struct prof_callers) / sizeof(uint32_t))

/* How the caller of a leaf's function is found: it has none recorded; by the
 * frame pointer; or, from PROF_LEAF_KEPT on, in kept word (value -
 * PROF_LEAF_KEPT). */
#define PROF_LEAF_FLAT 0u
#define PROF_LEAF_FRAME 1u
#define PROF_LEAF_KEPT 2u

struct prof_recent_leaf {
    uintptr_t pc;   /* UINTPTR_MAX: the slot is free */
    uintptr_t kept; /* the word that was kept, from PROF_LEAF_KEPT on */
    struct prof_stack *stack; /* NULL: the CPU was idle */
    uint32_t callers; /* stack of the innermost caller by frames, 0 = none */
    uint32_t found_by : 3; /* PROF_LEAF_* */
    uint32_t number : 29;  /* of the stack */
};

_Static_assert(PROF_LEAF_KEPT + PROF_FRAMES_KEPT <= 1u << 3, "found_by");

struct prof_recent {
    uint16_t *slots; /* where in the ring callers are, 0 = none */
    uint32_t *ring;  /* at 0 there are none */
    struct prof_recent_leaf *leaves;
    uint32_t slots_mask;  /* slots - 1 */
    uint32_t leaves_mask; /* leaves - 1 */
    uint32_t head;        /* where the next callers will be */
    uint32_t oldest;      /* of the last lap: these follow the head */
    uint32_t end;         /* of that lap */
};

extern struct prof_recent prof_recent;

/* Initialises empty caches without memory. Contexts: boot. */
void prof_recent_open(void);

/* Allocates the caches, unless that was done. Until it succeeds, there is room
 * for one leaf and no callers. */
void prof_recent_reserve(void);

/* Adds (callers), with their (callers->frames) frames and the (hash) of
 * these. */
void prof_recent_note_callers(const uint32_t *frames, uint32_t hash,
                              const struct prof_callers *callers);

/* Adds (leaf). */
void prof_recent_note_leaf(const struct prof_recent_leaf *leaf);

/* Returns why a walk that stored (count) words ended early, enum
 * prof_walk_stop, or 0: the (reason) of the walk itself, or that only (callers)
 * of the words are code. A walk without a reason is complete without its last
 * word: a task's first function has no caller, and the word above its frame may
 * have any value. */
static inline uint32_t prof_callers_stop(uint32_t count, uint32_t callers,
                                         uint32_t reason)
{
    if (callers == count || (reason == 0 && callers + 1 == count))
        return reason;
    return PROF_WALK_NOT_CODE;
}

/*
 * Compute a hash of the (count) words at (at), and whether the (count) words at
 * (a) and at (b) are equal; eight words at a time, in machine words, as stacks
 * may be deep.
 */
#ifdef __x86_64__

#define PROF_RECENT_FACTOR 0x9e3779b97f4a7c15

static inline uintptr_t prof_recent_mix(uintptr_t hash, const uint32_t *at)
{
    uint64_t two;

    __builtin_memcpy(&two, at, sizeof two);
    return (hash ^ two) * PROF_RECENT_FACTOR;
}

/* Of two words. */
static inline bool prof_recent_same(const uint32_t *a, const uint32_t *b)
{
    uint64_t two, others;

    __builtin_memcpy(&two, a, sizeof two);
    __builtin_memcpy(&others, b, sizeof others);
    return two == others;
}

#else

#define PROF_RECENT_FACTOR 0x9e3779b1

static inline uintptr_t prof_recent_mix(uintptr_t hash, const uint32_t *at)
{
    return (((hash ^ at[0]) * PROF_RECENT_FACTOR) ^ at[1]) * PROF_RECENT_FACTOR;
}

static inline bool prof_recent_same(const uint32_t *a, const uint32_t *b)
{
    return a[0] == b[0] && a[1] == b[1];
}

#endif

static inline uint32_t prof_recent_hash(const uint32_t *at, uint32_t count)
{
    uintptr_t hash = PROF_RECENT_FACTOR;

    for (; count >= 8; at += 8, count -= 8) {
        hash = prof_recent_mix(prof_recent_mix(hash, at), at + 2);
        hash = prof_recent_mix(prof_recent_mix(hash, at + 4), at + 6);
    }
    for (; count >= 2; at += 2, count -= 2)
        hash = prof_recent_mix(hash, at);
    if (count != 0)
        hash = (hash ^ *at) * PROF_RECENT_FACTOR;
    return (uint32_t)(hash >> (8 * sizeof hash - PROF_RECENT_BITS));
}

static inline bool prof_recent_equal(const uint32_t *a, const uint32_t *b,
                                     uint32_t count)
{
    for (; count >= 8; a += 8, b += 8, count -= 8)
        if (!prof_recent_same(a, b) || !prof_recent_same(a + 2, b + 2) ||
            !prof_recent_same(a + 4, b + 4) || !prof_recent_same(a + 6, b + 6))
            return false;
    for (; count >= 2; a += 2, b += 2, count -= 2)
        if (!prof_recent_same(a, b))
            return false;
    return count == 0 || *a == *b;
}

static inline struct prof_recent_leaf *prof_recent_leaf_slot(uintptr_t pc,
                                                             uint32_t callers)
{
    uint32_t hash = ((uint32_t)pc ^ callers << 16) * 0x9e3779b1u;

    return &prof_recent.leaves[hash >> 16 & prof_recent.leaves_mask];
}

/* Returns the callers with these (count) frames and this hash; NULL if they are
 * not cached. */
static inline const struct prof_callers *
prof_recent_find_callers(const uint32_t *frames, uint32_t count, uint32_t hash)
{
    const uint32_t *at =
        prof_recent.ring + prof_recent.slots[hash & prof_recent.slots_mask];
    const struct prof_callers *callers = (const void *)at;

    if (callers->frames != count ||
        !prof_recent_equal(at + PROF_CALLERS_WORDS, frames, count))
        return NULL;
    return callers;
}

/* Like prof_recent_find_callers(), for callers that were moved to the adjacent
 * slot when others took theirs. */
const struct prof_callers *prof_recent_find_displaced(const uint32_t *frames,
                                                      uint32_t count,
                                                      uint32_t hash);

/* Return the leaf of (pc) below the stack (callers), for a sample with the
 * stack words (kept), or without them; NULL if it is not cached. */
static inline const struct prof_recent_leaf *
prof_recent_find_leaf(uintptr_t pc, uint32_t callers, const uint32_t *kept)
{
    const struct prof_recent_leaf *leaf = prof_recent_leaf_slot(pc, callers);

    if (leaf->pc != pc || leaf->callers != callers)
        return NULL;
    if (leaf->found_by == PROF_LEAF_FRAME)
        return leaf;
    if (leaf->found_by == PROF_LEAF_FLAT ||
        leaf->kept != prof_frames_kept(kept, leaf->found_by - PROF_LEAF_KEPT))
        return NULL;
    return leaf;
}

static inline const struct prof_recent_leaf *
prof_recent_find_flat(uintptr_t pc, uint32_t callers)
{
    const struct prof_recent_leaf *leaf = prof_recent_leaf_slot(pc, callers);

    if (leaf->pc != pc || leaf->callers != callers ||
        leaf->found_by != PROF_LEAF_FLAT)
        return NULL;
    return leaf;
}

#endif
