/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RECENT_H
#define PROF_RECENT_H

/*
 * Recent samples, so that one that is like an earlier one is counted without
 * resolving anything. Two caches, both direct-mapped:
 *
 *      frames of the sample --hash--> callers: a copy of the words, their stack
 *      (pc, that stack)     --hash--> leaf:    the sample's stack
 *
 * They are separate because most new addresses are called by known callers. A
 * copy of the words is compared, not only their hash. Stacks are never removed
 * (stacks.h), so an entry stays true until another takes its slot. What is not
 * found here is resolved (resolve.h), and noted.
 *
 * Inline, since this is most of what the drain does. Contexts: the drain.
 */

#include "profile/amount.h"
#include "sample/frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The callers of a sample: the stack of the innermost, 0 = none, and how many
 * of the frames they are; what follows these is not code. */
struct prof_callers {
    uint32_t stack;
    uint32_t count;
};

/* Frames that are copied; the callers of deeper stacks are not noted. */
#define PROF_RECENT_FRAMES 59u

struct prof_recent_callers {
    uint32_t hash;
    uint32_t count; /* frames, UINT32_MAX = the slot is free */
    struct prof_callers callers;
    uint32_t frames[PROF_RECENT_FRAMES + 1];
};

/* How the caller of a leaf's function is found: it has none recorded; by the
 * frame pointer; or, from PROF_LEAF_KEPT on, in kept word (value -
 * PROF_LEAF_KEPT). */
#define PROF_LEAF_FLAT 0u
#define PROF_LEAF_FRAME 1u
#define PROF_LEAF_KEPT 2u

struct prof_recent_leaf {
    uintptr_t pc;     /* UINTPTR_MAX: the slot is free */
    uintptr_t kept;   /* the word that was kept, from PROF_LEAF_KEPT on */
    uint32_t callers; /* stack of the innermost caller by frames, 0 = none */
    uint32_t stack;
    uint32_t found_by; /* PROF_LEAF_* */
};

struct prof_recent {
    struct prof_recent_callers *callers;
    struct prof_recent_leaf *leaves;
    uint32_t callers_mask; /* slots - 1 */
    uint32_t leaves_mask;
};

extern struct prof_recent prof_recent;

/* Forgets all and owns no memory. Contexts: boot. */
void prof_recent_open(void);

/* Allocates the caches if that was not possible before. Until then they have
 * one slot each. */
void prof_recent_reserve(void);

/* From now on these frames, with their hash, are known to be (callers). */
void prof_recent_note_callers(const uint32_t *frames, uint32_t count,
                              uint32_t hash,
                              const struct prof_callers *callers);

/* The same for a leaf. */
void prof_recent_note_leaf(const struct prof_recent_leaf *leaf);

/*
 * Why a walk that stored (count) words at (frames) ended early, enum
 * prof_walk_stop, or 0: for the (reason) that it gave, or since only (callers)
 * of them are code. A zero as the last word is the regular end of a stack.
 */
static inline uint32_t prof_callers_stop(const uint32_t *frames, uint32_t count,
                                         uint32_t callers, uint32_t reason)
{
    if (callers == count ||
        (reason == 0 && callers + 1 == count && frames[callers] == 0))
        return reason;
    return PROF_WALK_NOT_CODE;
}

/* A hash of the (count) words at (frames). Its upper bits are the good ones. */
static inline uint32_t prof_recent_hash(const uint32_t *frames, uint32_t count)
{
    const uint32_t *at = frames, *end = at + count;
#ifdef __x86_64__
    const uint64_t mix = 0x9e3779b97f4a7c15;
    uint64_t hash = mix, two;

    if (count % 2 != 0)
        hash = (hash ^ *at++) * mix;
    for (; at != end; at += 2) {
        __builtin_memcpy(&two, at, sizeof two);
        hash = (hash ^ two) * mix;
    }
    return (uint32_t)(hash >> 32);
#else
    const uint32_t mix = 0x9e3779b1;
    uint32_t hash = mix;

    if (count % 2 != 0)
        hash = (hash ^ *at++) * mix;
    for (; at != end; at += 2)
        hash = (((hash ^ at[0]) * mix) ^ at[1]) * mix;
    return hash;
#endif
}

static inline struct prof_recent_callers *
prof_recent_callers_slot(uint32_t hash)
{
    return &prof_recent.callers[hash >> 16 & prof_recent.callers_mask];
}

static inline struct prof_recent_leaf *prof_recent_leaf_slot(uintptr_t pc,
                                                             uint32_t callers)
{
    uint32_t hash = ((uint32_t)pc ^ callers << 16) * 0x9e3779b1u;

    return &prof_recent.leaves[hash >> 16 & prof_recent.leaves_mask];
}

/* Whether the (count) words at (a) and at (b) are equal. */
static inline bool prof_recent_equal(const uint32_t *a, const uint32_t *b,
                                     uint32_t count)
{
    uint32_t at = count;

    if (count % 2 != 0) {
        at--;
        if (a[at] != b[at])
            return false;
    }
    for (; at != 0; at -= 2) {
#ifdef __x86_64__
        uint64_t two, others;

        __builtin_memcpy(&two, a + at - 2, sizeof two);
        __builtin_memcpy(&others, b + at - 2, sizeof others);
        if (two != others)
            return false;
#else
        if (a[at - 1] != b[at - 1] || a[at - 2] != b[at - 2])
            return false;
#endif
    }
    return true;
}

/* The callers with these frames and this hash; NULL if they are not here. */
static inline const struct prof_callers *
prof_recent_find_callers(const uint32_t *frames, uint32_t count, uint32_t hash)
{
    const struct prof_recent_callers *slot = prof_recent_callers_slot(hash);

    if (slot->hash != hash || slot->count != count ||
        !prof_recent_equal(slot->frames, frames, count))
        return NULL;
    return &slot->callers;
}

/* The leaf of (pc) below (callers), a stack; NULL if it is not here. (kept) is
 * NULL for a sample without words. */
static inline const struct prof_recent_leaf *
prof_recent_find_leaf(uintptr_t pc, uint32_t callers, const uint32_t *kept)
{
    const struct prof_recent_leaf *leaf = prof_recent_leaf_slot(pc, callers);

    if (leaf->pc != pc || leaf->callers != callers)
        return NULL;
    if (kept == NULL)
        return leaf->found_by == PROF_LEAF_FLAT ? leaf : NULL;
    if (leaf->found_by == PROF_LEAF_FRAME)
        return leaf;
    if (leaf->found_by == PROF_LEAF_FLAT ||
        leaf->kept != prof_frames_kept(kept, leaf->found_by - PROF_LEAF_KEPT))
        return NULL;
    return leaf;
}

#endif
