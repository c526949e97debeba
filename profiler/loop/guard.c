/* SPDX-License-Identifier: Apache-2.0 */

/*
 * In the interrupt everything may be half done: what is read here of the frames
 * was stored before `top`, and no other frame's time is looked at.
 */

#include "loop/loop.h"
#include "sample/cpus.h"
#include "unwind/decode.h"
#include "unwind/prologue.h"

#include <prof/frame.h>
#include <prof/origin.h>
#include <prof/symbols.h>
#include <prof/text.h>

#define NAME_BYTES 96u

void prof_guard_set(uint64_t cycles, void (*trigger)(void))
{
    struct prof_guard *guard = &prof_loop_cpu_here()->guard;

    guard->limit = cycles;
    guard->trigger = trigger;
    guard->held = guard->is_new = false;
}

void prof_guard_shorten(uint64_t tsc, uint64_t cycles)
{
    struct prof_guard *guard = &prof_loop_cpu_here()->guard;

    if (guard->held && tsc - prof_loop_away() > guard->since)
        guard->since += cycles;
}

/* What the loop has called, NULL: it is not held. `*mark`: generation, bumped
 * on each resume of the loop. */
static const struct prof_loop_frame *held_by(uint64_t *mark)
{
    const struct prof_loop_frame *at = prof_loop_cpu_here()->top,
                                 *outermost = NULL;

    for (uint32_t i = 0; i < PROF_LOOP_DEPTH_MAX && at != NULL; i++) {
        if (at->node->site->row.kind == PROF_LOOP_IDLE)
            return NULL;
        if (at->node->site->row.kind == PROF_LOOP_LOOP) {
            *mark = prof_loop_so_far(at, 0);
            return outermost;
        }
        outermost = at;
        at = at->outer;
    }
    return NULL;
}

static inline bool waits_for_others(const struct prof_loop_cpu *cpu)
{
#if PROF_CPUS_MAX > 1
    return cpu->waits != NULL && cpu->top == cpu->waits;
#else
    (void)cpu;
    return false;
#endif
}

static void add_address(struct prof_freeze *freeze, uintptr_t address)
{
    if (freeze->count < PROF_GUARD_FRAMES)
        freeze->addresses[freeze->count++] = prof_origin(address);
}

/* The caller of a function that has no frame yet, or never makes one: the frame
 * pointer is that caller's own. */
static void add_unframed(struct prof_freeze *freeze, uintptr_t sp,
                         const struct prof_stack_bounds *stack)
{
    struct prof_symbol symbol;
    struct prof_range range, text;
    uint32_t words;
    const uintptr_t word = sizeof(uintptr_t);

    if (!prof_symbol_find(freeze->addresses[0], &symbol))
        return;
    range = (struct prof_range){symbol.start, symbol.start + symbol.size};
    text = (struct prof_range){range.begin,
                               range.end + PROF_INSTRUCTION_BYTES_MAX};
    words = prof_prologue_caller(freeze->addresses[0], &range, &text, 0);
    if (words == PROF_PROLOGUE_FRAME || sp % word != 0 || sp < stack->begin ||
        sp / word + words > stack->last_frame + 1)
        return;
    add_address(freeze, ((const uintptr_t *)sp)[words]);
}

/* What has been interrupted, and its callers. */
static void walk(struct prof_freeze *freeze, uintptr_t pc, uintptr_t sp,
                 uintptr_t fp)
{
    const struct prof_stack_bounds *stack = prof_loop_sampled()->stack;
    struct prof_frame_walk frames = {.fp = fp};
    uintptr_t caller;

    add_address(freeze, pc);
    if (stack == NULL)
        return;
    add_unframed(freeze, sp, stack);
    frames.begin = stack->begin;
    frames.last = stack->last_frame * sizeof caller;
    while (freeze->count < PROF_GUARD_FRAMES &&
           prof_frame_step(&frames, &caller) && caller != 0)
        add_address(freeze, caller);
}

static void write_function(struct prof_text *out, uintptr_t address,
                           bool is_caller)
{
    struct prof_symbol symbol;
    char name[NAME_BYTES];

    prof_text_string(out, "loop:   ");
    prof_text_hex(out, address, 8);
    if (prof_symbol_find(address - is_caller, &symbol)) {
        (void)prof_symbol_name(&symbol, name, sizeof name);
        prof_text_format(out, " %s+", name);
        prof_text_hex(out, address - symbol.start, 0);
    }
    prof_text_char(out, '\n');
}

static inline void write_begin(struct prof_text *out)
{
#if PROF_CPUS_MAX > 1
    if (prof_cpu_count() > 1) {
        prof_text_format(out, "\nloop of CPU %u: held for ",
                         prof_loop_slot() - 1);
        return;
    }
#endif
    prof_text_string(out, "\nloop: held for ");
}

static __attribute__((noinline)) void
report_freeze(const struct prof_freeze *freeze, prof_text_sink *write)
{
    struct prof_text out;

    prof_text_open(&out, write);
    write_begin(&out);
    prof_loop_write_time(&out, freeze->held_cycles);
    prof_text_string(&out, " by ");
    prof_loop_write_site(&out, freeze->site);
    if (freeze->object != 0)
        prof_text_format(&out, ", task %u", freeze->object);
    if (freeze->outer != freeze->site) {
        prof_text_string(&out, ", within ");
        prof_loop_write_site(&out, freeze->outer);
    }
    prof_text_string(&out, ", at\n");
    for (uint32_t i = 0; i < freeze->count; i++)
        write_function(&out, freeze->addresses[i], i > 0);
    prof_text_flush(&out);
}

void prof_loop_put_guard(uintptr_t pc, uintptr_t sp, uintptr_t fp,
                         prof_text_sink *write)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    struct prof_guard *guard = &cpu->guard;
    const struct prof_loop_frame *top = cpu->top, *outermost;
    uint64_t now = cpu->enter_tsc - cpu->enter_away;
    uint64_t mark = 0, held, away;

    outermost = waits_for_others(cpu) ? NULL : held_by(&mark);
    if (!guard->held || outermost == NULL || mark != guard->mark) {
        guard->held = outermost != NULL;
        guard->mark = mark;
        guard->since = now;
        guard->reported = false;
    }
    if (outermost == NULL || guard->limit == 0 || guard->reported)
        return;
    held = prof_loop_so_far(top, cpu->enter_tsc);
    away = cpu->enter_away - prof_loop_away_seen();
    held = held > away ? held - away : 0;
    if (held < now - guard->since)
        held = now - guard->since;
    if (held < guard->limit)
        return;
    guard->reported = true;
    cpu->freezes++;
    guard->freeze = (struct prof_freeze){.tsc = cpu->enter_tsc,
                                         .held_cycles = held,
                                         .site = top->node->site,
                                         .outer = outermost->node->site,
                                         .object = top->object};
    walk(&guard->freeze, pc, sp, fp);
    guard->is_new = true;
    if (guard->trigger != NULL)
        guard->trigger();
    if (write != NULL)
        report_freeze(&guard->freeze, write);
}

bool prof_guard_take(struct prof_freeze *freeze)
{
    struct prof_guard *guard = &prof_loop_cpu_here()->guard;
    bool is_new = guard->is_new;

    while (guard->is_new) { /* until no interrupt comes in between */
        guard->is_new = false;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        *freeze = guard->freeze;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
    return is_new;
}
