/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FRAME_H
#define PROF_FRAME_H

/*
 * Walks the stack frames of code compiled with -fno-omit-frame-pointer. (The
 * walk of a sample is in assembly, sample/ARCH/walk.asm.) Reads nothing outside
 * the given bounds. Contexts: any.
 *
 *     struct prof_frame_walk walk = {fp, begin, last};
 *     while (prof_frame_step(&walk, &caller))
 *         ...
 */

#include <stdbool.h>
#include <stdint.h>

struct prof_frame_walk {
    uintptr_t fp;    /* address of the next frame, not validated */
    uintptr_t begin; /* lowest address of a frame; rises with each step */
    uintptr_t last;  /* highest address of a frame */
};

/* Stores the return address of the next frame in *caller and advances to the
 * frame above it. Returns false, without effect, if the next frame is
 * misaligned, out of bounds, or not above the previous one. */
static inline bool prof_frame_step(struct prof_frame_walk *walk,
                                   uintptr_t *caller)
{
    const uintptr_t *frame = (const uintptr_t *)walk->fp;

    if (walk->fp < walk->begin || walk->fp > walk->last ||
        walk->fp % sizeof *frame != 0)
        return false;
    walk->begin = walk->fp + 1;
    walk->fp = frame[0];
    *caller = frame[1];
    return true;
}

#endif
