/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What <prof/port.h> states: the stack that drains and reports need, painted
 * before and looked at afterwards, and the largest block that they ask for.
 */

#include "guest/entry.h"
#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <prof/port.h>
#include <prof/transport.h>

#define PAINT 0xa5u
#define STACKS 2000u
#define NOWHERE 0x80000000u /* no function of the table is there */

static size_t largest;
static _Alignas(16) unsigned char stack[4 * PROF_STACK_BYTES];

void *__wrap_prof_port_alloc(size_t bytes)
{
    if (bytes > largest)
        largest = bytes;
    return __real_prof_port_alloc(bytes);
}

/* Calls (function) on the painted stack, without interrupts, which would use
 * it, too; returns the bytes of it that were used. */
static size_t used_by(void (*function)(void))
{
    size_t unused = 0;
    bool on = arch_interrupts_save();

    for (size_t i = 0; i < sizeof stack; i++)
        stack[i] = PAINT;
    guest_call_on(stack + sizeof stack, 0, function);
    arch_interrupts_restore(on);
    while (unused < sizeof stack && stack[unused] == PAINT)
        unused++;
    return sizeof stack - unused;
}

/* Samples of new stacks, so that a drain has all to do that it can have. */
static void feed(uint32_t first, uint32_t samples)
{
    for (uint32_t i = first; i < first + samples; i++)
        prof_sample(NOWHERE + i, 0, 0);
}

static void drain_all(void)
{
    do
        prof_drain();
    while (prof_drain_ms() == 1);
}

static void report(void)
{
    prof_report();
}

static void report_tree(void)
{
    prof_option("prof.report=tree");
    prof_option("prof.callers=service_main");
    prof_report();
}

static void report_folded(void)
{
    prof_option("prof.report=folded");
    prof_report();
}

static void poll(void)
{
    guest_spin(GUEST_MS * 1100);
    prof_poll();
}

static void restart(void)
{
    prof_stop();
    prof_start();
    prof_set_rate(3000);
    prof_reset();
}

static void test_stack(void (*function)(void), const char *what)
{
    size_t used;

    guest_spin(GUEST_MS * 100);
    used = used_by(function);
    tap_ok(used <= PROF_STACK_BYTES, what);
    tap_note("%u bytes of stack", (unsigned)used);
}

int service_main(void)
{
    tap_plan(8);
    prof_option("prof.out=serial");
    prof_transport_choose(NULL, 0);
    prof_start();
    test_stack(drain_all, "a drain with a stream needs so much stack");
    test_stack(report, "  a report");
    test_stack(report_tree, "  one of a call tree and of callers");
    test_stack(report_folded, "  one of folded stacks");
    prof_option("prof.every=1000");
    test_stack(poll, "  prof_poll()");
    test_stack(restart, "  a change of the rate, a reset");
    prof_transport_end(0);
    prof_stop();
    prof_transport_use(NULL);
    prof_start();
    guest_spin(GUEST_MS * 100); /* until the timer's period is measured */
    drain_all();
    for (uint32_t i = 0; i < STACKS; i += 200) {
        feed(i, 200);
        drain_all();
    }
    tap_ok(guest_stats().stacks >= STACKS, "thousands of stacks");
    tap_is_between((int64_t)largest, 1, PROF_BLOCK_BYTES,
                   "no block is larger than promised");
    tap_note("%u bytes", (unsigned)largest);
    return tap_end();
}
