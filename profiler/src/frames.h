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
 *   0, 1   what lay in the two words at the stack pointer, where it points
 *          into the code: in a prologue, an epilogue or a function without a
 *          frame, one of them is the caller (caller.h); else PROF_WORD_NONE
 *   2...   the return addresses found by frame pointers, innermost first
 *
 * each as its distance from the code's second byte: no call returns to the
 * first one, and a word looked up as it is lies inside the call.
 * tests/model/frames.pml proves the protocol.
 */

#include <stdint.h>

#define PROF_FRAMES_HEAD 2u /* words before the first frame */
#define PROF_DEPTH_MAX 127u
#define PROF_FRAMES_MARGIN (PROF_FRAMES_HEAD + PROF_DEPTH_MAX)
#define PROF_WORD_NONE UINT32_MAX

/* Reasons of enum prof_walk_stop, and 0. */
#define PROF_WALK_REASONS 7u

struct prof_frames {
    uint32_t *words;   /* capacity + PROF_FRAMES_MARGIN; never changes */
    uint32_t capacity; /* a power of two; never changes */
    uint32_t head;     /* words written since the start; the producer's */
    uint32_t tail;     /* words read since the start; the consumer's */
};

/*
 * Producer: walks the stack of the code that was interrupted with (sp) and
 * (fp), hands its words over and returns how many there are, 0 where there was
 * no room or (sp) lies in no known stack. <width>/walk.asm.
 *
 * Contexts: interrupt. At most twelve instructions for a frame, which is read
 * only after it was found to be aligned, in the present stack and above the
 * one before. Why a walk ended early is counted in prof_hot.stopped.
 */
uint32_t prof_walk(uintptr_t sp, uintptr_t fp);

/* Consumer: the words that begin with the one numbered (at). */
static inline const uint32_t *prof_frames_at(const struct prof_frames *frames,
                                             uint32_t at)
{
    return frames->words + (at & (frames->capacity - 1));
}

/* Consumer: gives back everything before the word numbered (tail). */
static inline void prof_frames_release(struct prof_frames *frames,
                                       uint32_t tail)
{
    __atomic_store_n(&frames->tail, tail, __ATOMIC_RELEASE); /* (B) */
}

#endif
