/* SPDX-License-Identifier: Apache-2.0 */

/* Structure offsets and constants for the assembly stubs. Compiled to assembly
 * only; the build makes "%define NAME VALUE" of each line "->NAME VALUE". */

#include "sample/cpu_state.h"

#include <prof/config.h>
#include <prof/format.h>
#include <stddef.h>

#define EMIT(name, value) __asm__ volatile("\n->" #name " %c0" : : "i"(value))

void prof_offsets(void);

void prof_offsets(void)
{
    EMIT(CPUS_MAX, PROF_CPUS_MAX);
    EMIT(CPU_BY_TASK, PROF_CPU_BY == PROF_CPU_BY_TASK);
    EMIT(CPU_KEYS, PROF_CPU_KEYS);
    EMIT(ENTRIES_ARE_CLEARED, PROF_ENTRIES_ARE_CLEARED);
    EMIT(WITH_CALLERS, PROF_WITH_CALLERS);
    EMIT(CPU_HEAD, offsetof(struct prof_cpu, ring.head));
    EMIT(CPU_TICKS, offsetof(struct prof_cpu, ticks));
    EMIT(CPU_LIMIT, offsetof(struct prof_cpu, ring.limit));
    EMIT(CPU_TAIL, offsetof(struct prof_cpu, ring.tail));
    EMIT(CPU_BEGIN, offsetof(struct prof_cpu, ring.begin));
    EMIT(CPU_END, offsetof(struct prof_cpu, ring.end));
    EMIT(CPU_PASS_DUE, offsetof(struct prof_cpu, tick.pass_due));
    EMIT(CPU_PASS_PERIOD, offsetof(struct prof_cpu, tick.pass_period));
    EMIT(CPU_INTERRUPT_CYCLES, offsetof(struct prof_cpu, interrupt_cycles));
    EMIT(CPU_NEXT_HANDLER, offsetof(struct prof_cpu, tick.next_handler));
    EMIT(CPU_TICKS_LEFT, offsetof(struct prof_cpu, tick.jitter.ticks_left));
    EMIT(WITH_LAPIC, PROF_WITH_LAPIC);
#if PROF_WITH_LAPIC
    EMIT(CPU_LAPIC_DUE, offsetof(struct prof_cpu, lapic.sample_due));
    EMIT(CPU_LAPIC_AT, offsetof(struct prof_cpu, lapic.at));
    EMIT(CPU_LAPIC_HANDLER, offsetof(struct prof_cpu, lapic.handler));
#endif
    EMIT(WITH_NMI, PROF_WITH_NMI);
#if PROF_WITH_NMI
    EMIT(NMI_END, offsetof(struct prof_cpu, nmi.end));
    EMIT(NMI_NEAR, offsetof(struct prof_cpu, nmi.near));
    EMIT(NMI_DUPLICATES, offsetof(struct prof_cpu, nmi.duplicates));
    EMIT(NMI_AGAIN, offsetof(struct prof_cpu, nmi.again));
    EMIT(NMI_STOPPED, PROF_NMI_STOPPED);
#endif
    EMIT(ENTRY_PC, offsetof(struct prof_entry, pc));
    EMIT(ENTRY_TSC, offsetof(struct prof_entry, tsc_low));
    EMIT(ENTRY_FRAMES, offsetof(struct prof_entry, frames));
    EMIT(ENTRY_BYTES, sizeof(struct prof_entry));
    EMIT(CPU_DEPTH, offsetof(struct prof_cpu, depth));
    EMIT(WITH_USER, PROF_WITH_USER);
    EMIT(CPU_SPACE, offsetof(struct prof_cpu, space));
    EMIT(CPU_USER_SEEN, offsetof(struct prof_cpu, user_seen));
    EMIT(USER_BASE, (intptr_t)PROF_USER_BASE);
    EMIT(CPU_STACK, offsetof(struct prof_cpu, stack));
    EMIT(FRAMES_WORDS, offsetof(struct prof_cpu, frames.words));
    EMIT(FRAMES_MASK, offsetof(struct prof_cpu, frames.mask));
    EMIT(FRAMES_MOST, offsetof(struct prof_cpu, frames.most));
    EMIT(FRAMES_WRITTEN, offsetof(struct prof_cpu, frames.head));
    EMIT(FRAMES_READ, offsetof(struct prof_cpu, frames.tail));
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
