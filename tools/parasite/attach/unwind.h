/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_UNWIND_H
#define ATTACH_UNWIND_H

/*
 * The callers of a stopped CPU.
 *
 * For each frame, the first of these that knows the way:
 *   1. the image's call frame information (.eh_frame, .debug_frame), which is
 *      exact wherever a compiler wrote it (cfi.h)
 *   2. in the innermost frame: the instructions, where the frame pointer is
 *      not the function's own yet, or not any more; where it never is, the
 *      first word on the stack that a call of the function has left
 *   3. the frame pointer
 * Each step must lead up the stack, and to code if it is known what is code.
 * Without an image only frame pointers are left.
 */

#include "attach/registers.h"
#include "image/image.h"

#include <prof/format.h>

#define UNWIND_FRAMES_MAX 128u

/* Reads the word of (bytes) at (address) of the guest, which is stopped. */
struct unwind_memory {
    bool (*word)(void *owner, uint64_t address, unsigned bytes,
                 uint64_t *value);
    void *owner;
};

struct unwind_stack {
    uint64_t addresses[UNWIND_FRAMES_MAX]; /* the innermost first */
    size_t count;
    uint64_t lowest; /* of what was read, half-open; 0, 0 if nothing was */
    uint64_t highest;
    enum prof_walk_stop stopped; /* 0 = at the outermost frame */
};

struct unwinder;

/* Of (image), which may be NULL and must outlive it. */
struct unwinder *unwind_open(const struct image *image);

/* Unwinds at most (depth) callers from (registers). */
void unwind_walk(struct unwinder *unwinder, const struct registers *registers,
                 const struct unwind_memory *memory, unsigned depth,
                 struct unwind_stack *stack);

/* Whether the instruction before (address) is HLT, as far as the image knows.
 */
bool unwind_after_halt(struct unwinder *unwinder, uint64_t address);

/* The range of the image's code; 0 to 0 without an image. */
void unwind_text(const struct unwinder *unwinder, uint64_t *begin,
                 uint64_t *end);

void unwind_close(struct unwinder *unwinder);

#endif
