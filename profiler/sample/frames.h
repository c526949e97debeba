/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FRAMES_H
#define PROF_FRAMES_H

/*
 * The frame vector: a ring in which the interrupt stores the callers of each
 * sample. The words of a sample are contiguous: after (capacity) words the
 * memory has a margin, in which a sample that begins before the end continues.
 * Both sides count words since the start, modulo 2^32:
 *
 *      words                                    + capacity    + margin
 *        |   free    |  unread       |  free        |            |
 *        +-----------+===============+--------------+------------+
 *                    ^ tail          ^ head   (each & capacity - 1)
 *
 * The protocol is that of the vector of entries (ring.h):
 *
 *   (A) the producer's store to head releases the words it has just written;
 *       the store to the entries' head follows.
 *   (B) the consumer's store to tail releases the words it has read.
 *
 * A sample's words:
 *
 *   first    the five words at the stack pointer, in full: in a prologue, an
 *            epilogue or a function without a frame, one of them is the return
 *            address (unwind/prologue.h); five, because newlib's memcpy pushes
 *            four registers. 0 beyond the end of the stack
 *   then     the return addresses of the frames, innermost first; on x86_64
 *            only their low halves
 *
 * The consumer checks which of them point into the code (aggregate/resolve.c).
 * The interrupt only follows frame pointers, and reads nothing outside the
 * stack. tests/model/frames.pml proves the protocol.
 */

#include "base/cpu.h"

#include <prof/config.h>
#include <prof/format.h>
#include <stdbool.h>
#include <stdint.h>

#define PROF_FRAMES_KEPT 5u /* words stored from the stack pointer on */
/* Words before the first frame. */
#define PROF_FRAMES_HEAD                                                       \
    ((uint32_t)(PROF_FRAMES_KEPT * sizeof(uintptr_t) / sizeof(uint32_t)))
#define PROF_DEPTH_MAX 127u
#define PROF_FRAMES_MARGIN (PROF_FRAMES_HEAD + PROF_DEPTH_MAX)

struct prof_frames {
    uint32_t *words; /* capacity + PROF_FRAMES_MARGIN; never changes */
    uint32_t mask;   /* capacity - 1; capacity is a power of two */
    uint32_t most;   /* frames that fit: capacity - PROF_FRAMES_HEAD */
    uint32_t head;   /* words written since the start; the producer's */
    PROF_OWN_LINE uint32_t tail; /* words read since the start; the
                                    consumer's */
};

/* Initialises (frames) with (capacity) + PROF_FRAMES_MARGIN words at (words);
 * (capacity) is a power of two. Contexts: boot. */
static inline void prof_frames_open(struct prof_frames *frames, uint32_t *words,
                                    uint32_t capacity)
{
    frames->words = words;
    frames->mask = capacity - 1;
    frames->most = capacity - PROF_FRAMES_HEAD;
}

/*
 * Producer: walks the stack of the interrupted code, from its (sp) and (fp),
 * and publishes the words. Returns their number in bits 0 to 7, which is 0 if
 * there was no room or (sp) is in no known stack; and from bit 8 on the reason
 * why the walk ended early (enum prof_walk_stop), or 0. <width>/walk.asm
 *
 * Contexts: interrupt. At most nine instructions per frame, of which `loop`,
 * `lods` and `movs` are slower on some CPUs, by a few cycles. A frame is read
 * only if it is aligned, in the current stack, and above the previous one. To
 * test this, its pointer is rotated right by the alignment bits, so that a
 * misaligned one becomes huge. If left is the number of words from this frame
 * to the last possible one, and step = next - this, then left + (this - next)
 * carries exactly if 1 <= step <= left.
 */
uint32_t prof_walk(uintptr_t sp, uintptr_t fp);

#define PROF_WALK_STOP_SHIFT 8

_Static_assert(PROF_FRAMES_MARGIN < 1u << PROF_WALK_STOP_SHIFT,
               "a sample's words are counted in eight bits");

/* Return the two parts of the result of prof_walk(). */
static inline uint32_t prof_walk_words(uint32_t walk)
{
    return walk & ((1u << PROF_WALK_STOP_SHIFT) - 1);
}

static inline uint32_t prof_walk_reason(uint32_t walk)
{
    return walk >> PROF_WALK_STOP_SHIFT;
}

/* Consumer: returns the words from count (at) on. */
static inline const uint32_t *prof_frames_at(const struct prof_frames *frames,
                                             uint32_t at)
{
    return frames->words + (at & frames->mask);
}

/* Consumer: returns stack word (number) of the sample at (words). */
static inline uintptr_t prof_frames_kept(const uint32_t *words, uint32_t number)
{
    uintptr_t kept;

    __builtin_memcpy(&kept, words + number * (sizeof kept / sizeof *words),
                     sizeof kept);
    return kept;
}

/* Returns whether the words from count (from) on fill more than half of the
 * vector; false without callers, as there is no vector. */
static inline bool prof_frames_half_full(const struct prof_frames *frames,
                                         uint32_t from)
{
    return PROF_WITH_CALLERS && frames->head - from > (frames->mask + 1) / 2;
}

/* Consumer: releases all words before count (tail). */
static inline void prof_frames_release(struct prof_frames *frames,
                                       uint32_t tail)
{
    if (PROF_WITH_CALLERS)
        __atomic_store_n(&frames->tail, tail, __ATOMIC_RELEASE); /* (B) */
}

#endif
