/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Others who think that the timer is theirs: a driver that puts its handler
 * into the timer's gate, in the kernel's place or on top of ours, and code
 * that reprograms the PIT. Each must be noticed, said in one line, and taken
 * back; the driver's handler must still be called, and the kernel's, too.
 */

#include "guest/guest.h"
#include "guest/hook.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <arch/cpu.h>
#include <kernel/service.h>
#include <string.h>

static unsigned gate_lines, pit_lines, lines;
static uintptr_t kernels_handler, parasite;

void __wrap_prof_port_write(const char *text, size_t bytes)
{
    lines += memchr(text, '\n', bytes) != NULL;
    gate_lines += bytes > 22 && memcmp(text, "prof: the timer's IDT ", 22) == 0;
    pit_lines += bytes > 14 && memcmp(text, "prof: the PIT ", 14) == 0;
    __real_prof_port_write(text, bytes);
}

/* The driver's handler: counts, and goes on to the one that it was given. */
static uintptr_t driver(void)
{
    return guest_entry(0, hook_count);
}

/* Samples, ticks of the kernel's and calls of the driver in one second, and in
 * what a drain and the statistics at its end take longer. */
static void test_a_second(uint32_t calls_wanted)
{
    uint64_t samples = guest_stats().ticks, begin = arch_tsc();
    uint64_t ticks = clock_ticks();
    uint32_t calls = hook_ticks, ms;

    guest_poll(GUEST_TSC_HZ);
    samples = guest_stats().ticks - samples;
    ms = (uint32_t)((arch_tsc() - begin) / GUEST_MS);
    ticks = clock_ticks() - ticks;
    calls = hook_ticks - calls;
    tap_note("%u samples, %u ticks, %u calls of the driver's handler in %u ms",
             (unsigned)samples, (unsigned)ticks, (unsigned)calls, (unsigned)ms);
    if (calls_wanted == 1000)
        calls_wanted = ms;
    tap_ok(samples + 2 >= ms && samples <= ms + 2 && ticks >= 98 &&
               ticks <= 102 && calls + 2 >= calls_wanted &&
               calls <= calls_wanted + 2,
           "  a thousand samples, a hundred ticks of the kernel's, and the "
           "driver's");
}

/* The driver puts itself into the gate and goes on to (next). */
static void take_gate(uintptr_t next)
{
    hook_timer(hook_count, next);
    guest_poll(GUEST_TSC_HZ / 2);
}

static void test_gate(void)
{
    take_gate(kernels_handler);
    tap_ok(guest_handler() == parasite, "the gate is taken back");
    tap_is_equal(gate_lines, 1, "  said in one line");
    tap_is_equal(guest_stats().tick.gate_taken_back, 1, "  and counted");
    test_a_second(100);
    prof_stop();
    tap_ok(guest_handler() == driver(), "  stopped: the gate is the driver's");
    guest_set_handler(kernels_handler);
    prof_start();
}

/* The same of a driver that goes on to ours, where no tick comes for twenty
 * periods: taking the gate back would make a circle of the two handlers, and
 * nothing would ever run again. */
static void take_gate_without_ticks(void)
{
    bool on = arch_interrupts_save();
    uint64_t begin;

    hook_timer(hook_count, parasite);
    prof_drain();
    begin = arch_tsc();
    while (arch_tsc() - begin < 20ull * GUEST_MS)
        arch_pause();
    prof_drain();
    arch_interrupts_restore(on);
    guest_poll(GUEST_TSC_HZ / 2);
}

/* A driver that goes on to the handler it found, which is the parasite. */
static void test_gate_on_top(void)
{
    lines = 0;
    take_gate_without_ticks();
    tap_is_equal(lines, 1,
                 "a handler before ours, which goes on to it: one "
                 "line");
    tap_ok(guest_handler() == driver(), "  left as it is");
    test_a_second(1000);
    prof_stop();
    lines = hook_ticks = 0;
    guest_poll(GUEST_TSC_HZ);
    tap_is_between(hook_ticks, 98, 102, "  stopped: the PIT is the kernel's");
    prof_start();
    test_a_second(1000);
    tap_is_equal(lines, 0, "  started again: nothing more to say");
    guest_set_handler(parasite);
    test_a_second(0);
}

static void test_pit(uint32_t mode, uint32_t divisor, const char *what)
{
    uint32_t before = guest_stats().tick.pit_taken_back;

    pit_lines = lines = 0;
    guest_program_pit(mode, divisor);
    guest_poll(2 * GUEST_TSC_HZ);
    /* a count is too high for a fifth of its time only */
    for (int i = 0; i < 10 && guest_stats().tick.pit_taken_back == before; i++)
        guest_poll(GUEST_TSC_HZ);
    tap_is_equal(guest_stats().tick.pit_taken_back - before, 1, what);
    tap_ok(pit_lines == 1 && lines == 1, "  said in one line");
    test_a_second(0);
}

int service_main(void)
{
    tap_plan(36);
    parasite = guest_handler();
    prof_stop();
    kernels_handler = guest_handler();
    prof_start();
    guest_poll(GUEST_TSC_HZ);
    test_gate();
    test_gate_on_top();
    test_pit(GUEST_PIT_REPEATS, 11932, "the PIT ten times slower: set again");
    test_pit(GUEST_PIT_REPEATS, 1500, "a quarter slower: set again");
    test_pit(GUEST_PIT_REPEATS, 0, "as slow as can be: set again");
    test_pit(GUEST_PIT_REPEATS, 600, "twice as fast: set again");
    test_pit(GUEST_PIT_REPEATS, 1000, "a fifth faster: set again");
    test_pit(GUEST_PIT_SQUARE, 1193, "as a square wave: set again");
    test_pit(GUEST_PIT_ONCE, 1193, "as a single shot: set again");
    test_pit(GUEST_PIT_REPEATS, 120, "ten times faster: set again");
    return tap_end();
}
