/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Where the assembly stubs find what. Compiled to assembly only; the build
 * turns each line "->NAME VALUE" of it into a nasm "%define NAME VALUE" in
 * prof_offsets.inc.
 */

#include "state.h"

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
    EMIT(ENTRY_PC, offsetof(struct prof_entry, pc));
    EMIT(ENTRY_TSC, offsetof(struct prof_entry, tsc_low));
    EMIT(ENTRY_BYTES, sizeof(struct prof_entry));
}
