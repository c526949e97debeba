/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

/*
 * The callers of a stopped CPU.
 *
 * For each frame, the first of these that knows the way:
 *   1. the image's call frame information (.eh_frame, .debug_frame), which is
 *      exact wherever a compiler wrote it (cfi.h)
 *   2. in the innermost frame: the instructions, where the frame pointer is
 *      not the function's own yet, or not any more; where it never is, the
 *      first word on the stack that a call of the function has left
 *   3. the frame pointer, unless the function is known not to set it up
 *   4. in an image most of which does not: a scan of the stack for words that
 *      a call has left. What is found so may be wrong, and NAMES_SCANNED
 *      precedes the first of it
 * Each step must lead up the stack, and to code if it is known what is code.
 * Without an image only frame pointers are left. Addresses that are found are
 * those of a trace (image_location.h).
 */

#include "unwind/image_location.h"
#include "image/image.h"

#include <prof/format.h>

#define UNWIND_FRAMES_MAX 128u

/* Reads (bytes) of the stopped guest's stack at (address). */
struct unwind_memory {
    bool (*word)(void *owner, uint64_t address, unsigned bytes,
                 uint64_t *value);
    struct places_memory any; /* besides the stack */
    void *owner;
};

struct unwind_stack {
    uint64_t addresses[UNWIND_FRAMES_MAX]; /* the innermost first */
    size_t count;
    uint64_t lowest; /* of what was read, half-open; 0, 0 if nothing was */
    uint64_t highest;
    enum prof_walk_stop stopped; /* 0 = at the outermost frame */
    bool scanned;                /* some were found by a scan */
};

struct unwinder;

/* Of (image) and those that follow it; it may be NULL and must outlive it. */
struct unwinder *unwind_open(const struct image *image);

/* Unwinds at most (depth) callers from (registers). */
void unwind_walk(struct unwinder *unwinder, const struct registers *registers,
                 const struct unwind_memory *memory, unsigned depth,
                 struct unwind_stack *stack);

/* Whether the instruction before (address) is HLT; -1 if no image is there. */
int unwind_after_halt(struct unwinder *unwinder, uint64_t address);

/* Whether (address) is in an image and the instruction before it is a call, so
 * that a word on the stack with this value seems to be a return address. */
bool unwind_after_call(struct unwinder *unwinder,
                       const struct unwind_memory *memory, uint64_t address);

/* Where the images are. */
struct places *unwind_places(struct unwinder *unwinder);

void unwind_close(struct unwinder *unwinder);

#endif
