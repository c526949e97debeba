/* SPDX-License-Identifier: Apache-2.0 */

#include "storm.h"

#include "guest/entry.h"
#include "guest/guest.h"
#include "unit/single_step.h"

#include <arch/cpu.h>
#include <prof/trace.h>
#include <stddef.h>

#define FAST_DIVISOR 12u /* of the PIT: 99,432 interrupts a second */
#define KERNEL_DIVISOR 11932u
#define NESTING 16u /* every so many interrupts */
#define STEP_VECTOR 1u
#define PIC 0x20
#define PIC_END 0x20 /* of an interrupt */

volatile uint32_t storm_count[STORM_DEPTH + 1];
volatile bool storm_is_noisy;
volatile uint32_t storm_at;
void (*volatile storm_then)(void);

static volatile uint32_t depth, entered, steps;
static volatile bool over;
static uintptr_t kernels_handler;

static PROF_TRACE_NAME(of_thread, "thread");
static PROF_TRACE_NAME(of_depth_1, "depth 1");
static PROF_TRACE_NAME(of_depth_2, "depth 2");
static PROF_TRACE_NAME(of_depth_3, "depth 3");
static PROF_TRACE_NAME(of_depth_4, "depth 4");
static struct prof_trace_name *const names[STORM_DEPTH + 1] = {
    &of_thread, &of_depth_1, &of_depth_2, &of_depth_3, &of_depth_4};

HANDLER static void record(uint32_t who)
{
    storm_count[who]++;
    prof_trace_counter(names[who], STORM_VALUE(storm_count[who]));
}

static PROF_TRACE_COUNTER(of_all, "all contexts");
volatile uint32_t storm_added;
static volatile bool adds;

void storm_add(void)
{
    if (!adds)
        prof_trace_counter_add(&of_all, STORM_BELOW);
    adds = true;
    prof_trace_counter_add(&of_all, 1);
}

HANDLER static void once(uint32_t number)
{
    void (*then)(void) = storm_then;

    if (then == NULL || number < storm_at)
        return;
    storm_then = NULL;
    then();
}

void storm_thread(void)
{
    record(0);
}

/* Some wait for the next one within them, until they are STORM_DEPTH deep. */
static inline bool waits(uint32_t number)
{
    return depth < STORM_DEPTH && (depth > 1 || number % NESTING == 0) && !over;
}

HANDLER static void on_timer(uintptr_t *pushed)
{
    uint32_t number = ++entered, before;

    (void)pushed;
    arch_out8(PIC, PIC_END);
    depth++;
    prof_trace_irq_enter(GUEST_TIMER_VECTOR);
    record(depth);
    if (depth == 1)
        once(storm_count[1]);
    before = number;
    if (waits(number)) {
        arch_interrupts_on();
        while (entered == before && !over)
            if (storm_is_noisy)
                record(depth);
        arch_interrupts_off();
    }
    record(depth);
    prof_trace_irq_exit(GUEST_TIMER_VECTOR);
    depth--;
}

void storm_begin(void)
{
    kernels_handler = guest_handler();
    over = false;
    guest_set_handler(guest_entry(0, on_timer));
    guest_set_pit(FAST_DIVISOR);
}

void storm_end(void)
{
    bool on = arch_interrupts_save();

    guest_set_pit(KERNEL_DIVISOR);
    over = true;
    arch_interrupts_restore(on);
    guest_set_handler(kernels_handler);
}

/* ---- step by step */

HANDLER static void on_step(uintptr_t *pushed)
{
    (void)pushed;
    steps++;
    prof_trace_irq_enter(STEP_VECTOR);
    record(1);
    if (adds) {
        prof_trace_counter_add(&of_all, 1);
        storm_added++;
    }
    once(steps);
    prof_trace_irq_exit(STEP_VECTOR);
}

/* The first and the last instructions around the call are steps, too. */
uint32_t storm_steps(void (*function)(void))
{
    uint32_t before = steps;
    bool on = arch_interrupts_save();

    guest_set_gate(STEP_VECTOR, guest_entry(1, on_step));
    STEP_ON();
    function();
    STEP_OFF();
    arch_interrupts_restore(on);
    return steps - before;
}
