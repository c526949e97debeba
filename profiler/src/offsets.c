/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where the assembly stubs find what. Compiled to assembly only; the build
 * turns each line "->NAME VALUE" of it into a nasm "%define NAME VALUE" in
 * prof_offsets.inc.
 */

#include "state.h"

#include <prof/format.h>
#include <stddef.h>

#define EMIT(name, value) __asm__ volatile("\n->" #name " %c0" : : "i"(value))

void prof_offsets(void);

void prof_offsets(void)
{
    EMIT(HOT_HEAD, offsetof(struct prof_hot, ring.head));
    EMIT(HOT_TAIL, offsetof(struct prof_hot, ring.tail));
    EMIT(HOT_BEGIN, offsetof(struct prof_hot, ring.begin));
    EMIT(HOT_END, offsetof(struct prof_hot, ring.end));
    EMIT(HOT_PASS_DUE, offsetof(struct prof_hot, pass_due));
    EMIT(HOT_PASS_PERIOD, offsetof(struct prof_hot, pass_period));
    EMIT(HOT_INTERRUPT_CYCLES, offsetof(struct prof_hot, interrupt_cycles));
    EMIT(HOT_NEXT_HANDLER, offsetof(struct prof_hot, next_handler));
    EMIT(HOT_TICKS_LEFT, offsetof(struct prof_hot, jitter.ticks_left));
    EMIT(ENTRY_PC, offsetof(struct prof_entry, pc));
    EMIT(ENTRY_TSC, offsetof(struct prof_entry, tsc_low));
    EMIT(ENTRY_FRAMES, offsetof(struct prof_entry, frames));
    EMIT(ENTRY_BYTES, sizeof(struct prof_entry));
    EMIT(HOT_DEPTH, offsetof(struct prof_hot, depth));
    EMIT(HOT_STACK, offsetof(struct prof_hot, stack));
    EMIT(FRAMES_WORDS, offsetof(struct prof_hot, frames.words));
    EMIT(FRAMES_MASK, offsetof(struct prof_hot, frames.mask));
    EMIT(FRAMES_MOST, offsetof(struct prof_hot, frames.most));
    EMIT(FRAMES_WRITTEN, offsetof(struct prof_hot, frames.head));
    EMIT(FRAMES_READ, offsetof(struct prof_hot, frames.tail));
    EMIT(FRAMES_HEAD, PROF_FRAMES_HEAD);
    EMIT(FRAMES_KEPT, PROF_FRAMES_KEPT);
    EMIT(STACK_BEGIN, offsetof(struct prof_stack_bounds, begin));
    EMIT(STACK_LAST_KEPT, offsetof(struct prof_stack_bounds, last_kept));
    EMIT(STACK_LAST_FRAME, offsetof(struct prof_stack_bounds, last_frame));
    EMIT(WALK_DEPTH, PROF_WALK_DEPTH);
    EMIT(WALK_ROOM, PROF_WALK_ROOM);
    EMIT(WALK_UNALIGNED, PROF_WALK_UNALIGNED);
    EMIT(WALK_OUTSIDE, PROF_WALK_OUTSIDE);
    EMIT(WALK_FALLING, PROF_WALK_FALLING);
    EMIT(WALK_STOP_SHIFT, PROF_WALK_STOP_SHIFT);
}
