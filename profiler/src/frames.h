/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FRAMES_H
#define PROF_FRAMES_H

/*
 * The frame vector: where the interrupt leaves the callers of each sample.
 *
 * A sample's words lie one after the other, so that neither side looks for a
 * corner in the middle: the memory is longer than (capacity) by as many words
 * as one sample may have, and words that begin before the corner run on into
 * this margin. Both sides count words and never wrap what they count:
 *
 *      words                                    + capacity    + margin
 *        |   free    |  unread       |  free        |            |
 *        +-----------+===============+--------------+------------+
 *                    ^ tail          ^ head   (each & capacity - 1)
 *
 * The rules are those of the vector of entries (ring.h), and so are the
 * letters:
 *
 *   (A) the producer's store to head releases the words it has just written.
 *       The store to the entries' head comes after it: whoever sees the entry
 *       sees its words.
 *   (B) the consumer's store to tail releases the words it has read.
 *
 * A sample's words:
 *
 *   first    the five words at the stack pointer, whole: in a prologue, an
 *            epilogue or a function without a frame, one of them is the caller
 *            (caller.h); newlib's memcpy pushes four. 0 beyond the stack's end
 *   behind   the words in the frames' places for return addresses, innermost
 *            first; the low half of each, where it has 64 bits
 *
 * Whether one of them points into the code is for the consumer to find out
 * (place.c), as the interrupt need not know it: it follows frame pointers, and
 * whatever it reads is in the stack.
 * tests/model/frames.pml proves the protocol.
 */

#include <stdbool.h>
#include <stdint.h>

#define PROF_FRAMES_KEPT 5u /* of the stack's words, from its pointer on */
/* Words before the first frame. */
#define PROF_FRAMES_HEAD                                                       \
    ((uint32_t)(PROF_FRAMES_KEPT * sizeof(uintptr_t) / sizeof(uint32_t)))
#define PROF_DEPTH_MAX 127u
#define PROF_FRAMES_MARGIN (PROF_FRAMES_HEAD + PROF_DEPTH_MAX)

/* Reasons of enum prof_walk_stop, and 0. */
#define PROF_WALK_REASONS 7u

struct prof_frames {
    uint32_t *words; /* capacity + PROF_FRAMES_MARGIN; never changes */
    uint32_t mask;   /* capacity - 1, where that is a power of two */
    uint32_t most;   /* frames of one sample: capacity - PROF_FRAMES_HEAD */
    uint32_t head;   /* words written since the start; the producer's */
    uint32_t tail;   /* words read since the start; the consumer's */
};

/* Gives (frames) the memory at (words), capacity + PROF_FRAMES_MARGIN of them,
 * (capacity) a power of two. Before anybody uses it. */
static inline void prof_frames_open(struct prof_frames *frames, uint32_t *words,
                                    uint32_t capacity)
{
    frames->words = words;
    frames->mask = capacity - 1;
    frames->most = capacity - PROF_FRAMES_HEAD;
}

/*
 * Producer: walks the stack of the code that was interrupted with (sp) and
 * (fp) and hands its words over. Returns how many there are, 0 where there was
 * no room or (sp) lies in no known stack; and from bit 8 on why it ended early,
 * by enum prof_walk_stop, or 0. <width>/walk.asm.
 *
 * Contexts: interrupt. At most nine instructions for a frame, which is read
 * only after it was found to be aligned, in the present stack and above the
 * one before.
 */
uint32_t prof_walk(uintptr_t sp, uintptr_t fp);

#define PROF_WALK_STOP_SHIFT 8

_Static_assert(PROF_FRAMES_MARGIN < 1u << PROF_WALK_STOP_SHIFT,
               "a sample's words are counted in eight bits");

/* The two parts of what prof_walk() returns. */
static inline uint32_t prof_walk_words(uint32_t walk)
{
    return walk & ((1u << PROF_WALK_STOP_SHIFT) - 1);
}

static inline uint32_t prof_walk_reason(uint32_t walk)
{
    return walk >> PROF_WALK_STOP_SHIFT;
}

/* Consumer: the words that begin with the one numbered (at). */
static inline const uint32_t *prof_frames_at(const struct prof_frames *frames,
                                             uint32_t at)
{
    return frames->words + (at & frames->mask);
}

/* Consumer: of the stack's words at (words), the one numbered (number). */
static inline uintptr_t prof_frames_kept(const uint32_t *words, uint32_t number)
{
    uintptr_t kept;

    __builtin_memcpy(&kept, words + number * (sizeof kept / sizeof *words),
                     sizeof kept);
    return kept;
}

/* Whether the words from the one numbered (from) on fill more than half. */
static inline bool prof_frames_half_full(const struct prof_frames *frames,
                                         uint32_t from)
{
    return frames->head - from > (frames->mask + 1) / 2;
}

/* Consumer: gives back everything before the word numbered (tail). */
static inline void prof_frames_release(struct prof_frames *frames,
                                       uint32_t tail)
{
    __atomic_store_n(&frames->tail, tail, __ATOMIC_RELEASE); /* (B) */
}

#endif
