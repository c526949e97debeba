/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the sampler adds to an interrupt: instructions and stack.
 *
 * One instruction is one cycle of the TSC here. A loop of known length is run
 * with interrupts off, under the kernel's own handler, and under the sampler
 * at the kernel's own rate, where each tick takes both. What it takes longer,
 * divided by the ticks that came, is the cost of a tick.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>

#define ROUNDS 2000000u              /* a fifth of a second */
#define ROUNDS_FULL (5 * ROUNDS / 2) /* long enough to fill the vector */
#define INSTRUCTIONS_MAX 40
#define STACK_MAX 256

/*
 * Executes 100 * (rounds) instructions in a loop, the stack below painted.
 * Returns how many bytes of that somebody has used meanwhile; SPIN_PAINT means
 * that it may have been more. Written in spin.asm, so that no compiler changes
 * what there is to be counted.
 */
uint32_t spin(uint32_t rounds);
#define SPIN_PAINT 1024u

static uint32_t stack_most; /* bytes, since it was last set to 0 */

/* Cycles that the loop takes. */
static uint64_t run(uint32_t rounds)
{
    uint64_t begin = arch_tsc();
    uint32_t stack = spin(rounds);

    begin = arch_tsc() - begin;
    if (stack > stack_most)
        stack_most = stack;
    return begin;
}

/* Instructions for each tick, in hundredths. (alone): what the loop takes
 * without any. */
static uint32_t cost_of_tick(uint64_t alone, uint64_t (*ticks)(void))
{
    uint64_t before = ticks();
    uint64_t cycles = run(ROUNDS);

    return (uint32_t)((cycles - alone) * 100 / (ticks() - before));
}

static uint64_t samples(void)
{
    return guest_stats().ticks;
}

static void note(const char *what, uint32_t hundredths)
{
    tap_note("%s: %u.%02u instructions", what, (unsigned)(hundredths / 100),
             (unsigned)(hundredths % 100));
}

static void test_instructions(void)
{
    bool on = arch_interrupts_save();
    uint64_t alone = run(ROUNDS);
    uint32_t without, with;

    arch_interrupts_restore(on);
    without = cost_of_tick(alone, clock_ticks);
    prof_set_rate(1);
    prof_start();
    with = cost_of_tick(alone, clock_ticks);
    note("a tick of the kernel's", without);
    note("the same with a flat sample", with);
    note("so the flat sample takes", with - without);
    tap_is_equal((int64_t)samples(), (int64_t)guest_stats().queued,
                 "the vector holds every sample");
    tap_is_between(with - without, 100, INSTRUCTIONS_MAX * 100,
                   "a flat sample takes 40 instructions at most");
    prof_set_rate(1000);
    prof_reset();
    note("a tick at 1 kHz", cost_of_tick(alone, samples));
    prof_stop();
}

/* The most that the loop's interrupts use at (hz), vector drained or not. */
static uint32_t stack_at(uint32_t hz, uint32_t rounds, const char *what)
{
    stack_most = 0;
    prof_set_rate(hz);
    prof_reset();
    prof_start();
    run(rounds);
    prof_stop();
    tap_note("%s: %u bytes of stack", what, (unsigned)stack_most);
    return stack_most;
}

static void test_stack(void)
{
    uint32_t kernels, passed, own, full;

    stack_most = 0;
    run(ROUNDS);
    kernels = stack_most;
    tap_note("the kernel's own handler: %u bytes of stack", (unsigned)kernels);
    passed = stack_at(1, ROUNDS, "each tick passed on");
    own = stack_at(10000, ROUNDS / 2, "ticks of the sampler's own");
    tap_ok(guest_stats().overflowed == 0, "the vector was never full");
    full = stack_at(10000, ROUNDS_FULL, "vector full");
    tap_ok(guest_stats().overflowed > 500, "the vector was full");
    tap_ok(kernels > 0 && passed < SPIN_PAINT && own < SPIN_PAINT &&
               full < SPIN_PAINT,
           "the paint was thick enough");
    tap_is_between(passed, kernels, kernels > STACK_MAX ? kernels : STACK_MAX,
                   "passed on: 256 bytes at most");
    tap_is_between(own, kernels, STACK_MAX,
                   "acknowledged by the sampler: 256 bytes at most");
    tap_is_between(full, own, STACK_MAX, "vector full: 256 bytes at most");
}

int service_main(void)
{
    tap_plan(8);
    test_instructions();
    test_stack();
    return tap_end();
}
