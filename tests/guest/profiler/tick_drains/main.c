/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A program that never yields keeps its callers, because the interrupt drains.
 * With try=none it loses them. With try=hook the kernel's own interrupt takes
 * the samples, at a rate that is measured. With try=deep nearly each sample has
 * a stack of its own, and there are 20,000 a second.
 */

#include "guest/guest.h"
#include "guest/hook.h"
#include "guest/tap.h"
#include "guest/word.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <prof/port.h>
#include <string.h>

#define SECONDS 6u
#define DEPTH 24u
#define MARKED __attribute__((noinline, noclone))

/* With QEMU's icount=2 an instruction takes four cycles. */
#define CYCLES_OF(instructions) ((instructions)*4u)
#define HOLD_TURNS 250000000u /* of two instructions: 2 s */

uint32_t hold(uint32_t turns);

static _Alignas(16) unsigned char pool[8u << 20];
static bool spinning; /* nobody calls the profiler */
static uint32_t written_in_tick, refusals, complaints;
static uint64_t longest; /* between two looks at the TSC */

void __wrap_prof_port_write(const char *text, size_t bytes)
{
    static const char complaint[] = "prof: config.";
    static const char refusal[] = "prof: config.tick_drains needs ";

    written_in_tick += spinning;
    complaints += bytes > sizeof complaint &&
                  memcmp(text, complaint, sizeof complaint - 1) == 0;
    refusals += bytes > sizeof refusal &&
                memcmp(text, refusal, sizeof refusal - 1) == 0;
    __real_prof_port_write(text, bytes);
}

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    tap_plan(14);
    own.tick_drains = PROF_TICK_DRAINS_ON;
    tap_is_equal(__real_prof_init(memory, bytes, &own), PROF_ECONFIG,
                 "without a pool it is refused");
    tap_is_equal(refusals, 1, "  by a line that says why");
    own.pool = pool;
    own.pool_bytes = sizeof pool;
    own.tick_drains =
        guest_is("none") ? PROF_TICK_DRAINS_OFF : PROF_TICK_DRAINS_ON;
    if (guest_is("hook"))
        own.tick = (struct prof_tick){.kind = PROF_TICK_HOOK};
    return __real_prof_init(memory, bytes, &own);
}

MARKED void inner(uint64_t cycles);
MARKED void outer(uint64_t cycles);
MARKED void left(uint32_t way, uint32_t depth);
MARKED void right(uint32_t way, uint32_t depth);

void inner(uint64_t cycles)
{
    uint64_t begin = arch_tsc(), now = begin, before;

    do {
        before = now;
        now = arch_tsc();
        if (now - before > longest)
            longest = now - before;
    } while (now - begin < cycles);
}

void outer(uint64_t cycles)
{
    inner(cycles);
    __asm__ volatile("");
}

static void down(uint32_t way, uint32_t depth)
{
    if (depth == 0)
        outer(GUEST_MS / 20);
    else if (way & 1)
        left(way >> 1, depth - 1);
    else
        right(way >> 1, depth - 1);
    __asm__ volatile("");
}

void left(uint32_t way, uint32_t depth)
{
    down(way, depth);
    __asm__ volatile("");
}

void right(uint32_t way, uint32_t depth)
{
    down(way, depth);
    __asm__ volatile("");
}

static void work(void)
{
    uint64_t begin = arch_tsc();
    uint32_t way = 1;

    if (!guest_is("deep")) {
        outer((uint64_t)SECONDS * GUEST_TSC_HZ);
        return;
    }
    while (arch_tsc() - begin < GUEST_TSC_HZ / 4) {
        way = way * 1664525u + 1013904223u;
        down(way >> (32 - DEPTH), DEPTH);
    }
}

struct found {
    uint64_t inner, complete;
};

static bool lies_in(uintptr_t address, void (*function)(uint64_t))
{
    return address - (uintptr_t)function < 160;
}

static void look(const struct prof_stack_row *row, void *context)
{
    struct found *found = context;

    if (!lies_in(row->addresses[0], inner))
        return;
    found->inner += row->samples;
    if (row->count > 1 && lies_in(row->addresses[1], outer))
        found->complete += row->samples;
}

/* What the interrupt has done between (before) and (after). */
static void test_costs(const struct prof_stats *before,
                       const struct prof_stats *after)
{
    uint64_t ticks = after->ticks - before->ticks;
    uint64_t interrupt = after->interrupt_cycles - before->interrupt_cycles;
    uint64_t drained = after->drain_cycles - before->drain_cycles;

    tap_ok(ticks > SECONDS * 100 - 20, "it ran for long");
    tap_is_equal(drained > 0, !guest_is("none"), "the interrupt has drained");
    tap_ok(interrupt > 0 && interrupt < ticks * CYCLES_OF(2000),
           "  which is not the interrupt's own time");
    tap_is_equal(written_in_tick, 0, "  and printed nothing");
    tap_ok(longest < CYCLES_OF(700000), "  and was never long");
    tap_note("%u ticks, interrupt %u, drains %u, longest %u cycles",
             (unsigned)ticks, (unsigned)interrupt, (unsigned)drained,
             (unsigned)longest);
}

int service_main(void)
{
    bool hook = guest_is("hook"), none = guest_is("none");
    bool deep = guest_is("deep");
    struct prof_stats before, after, stats;
    struct found found = {0};
    volatile uint32_t guard = 0x5a5a5a5a;

    if (hook)
        hook_timer(hook_sample, guest_handler());
    if (deep)
        prof_set_rate(PROF_HZ_MAX);
    tap_is_equal(prof_start(), 0, "started");
    tap_is_equal(hold(HOLD_TURNS), 0, "no register has changed");
    prof_reset();
    before = guest_stats();
    spinning = true;
    work();
    spinning = false;
    after = guest_stats();
    test_costs(&before, &after);
    prof_stop();
    prof_drain();
    stats = guest_stats();
    prof_visit_stacks(look, &found);
    tap_is_equal(found.complete * 100 >= found.inner * (deep ? 25 : 99), !none,
                 "samples have their callers");
    tap_note("%u of %u, %u overflowed, %u dropped", (unsigned)found.complete,
             (unsigned)found.inner, (unsigned)stats.overflowed,
             (unsigned)stats.dropped);
    tap_is_equal(stats.overflowed > 0, none,
                 "nothing went to the overflow table");
    tap_is_equal((int64_t)guest_accounted(&stats), (int64_t)stats.ticks,
                 "each tick is in one account");
    tap_is_equal(complaints, refusals, "nothing is wrong with the clock");
    tap_is_equal(guard, 0x5a5a5a5a, "the program's stack is as it was");
    return tap_end();
}
