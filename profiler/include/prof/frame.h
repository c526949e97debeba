/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FRAME_H
#define PROF_FRAME_H

/*
 * A walk over the frames of code compiled with -fno-omit-frame-pointer; that of
 * a sample is in assembly (sample/ARCH/walk.asm). Contexts: any. Reads nothing
 * outside the bounds that it is given.
 *
 *     struct prof_frame_walk walk = {fp, begin, last};
 *     while (prof_frame_step(&walk, &caller))
 *         ...
 */

#include <stdbool.h>
#include <stdint.h>

struct prof_frame_walk {
    uintptr_t fp;    /* the next frame, whatever it may be */
    uintptr_t begin; /* no frame is read below this, which follows the walk */
    uintptr_t last;  /* nor above this */
};

/* The return address of the next frame, and the frame above it is the next one.
 * False: the next one is not aligned, not in the bounds, or not above the last;
 * then nothing has changed. */
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
