/* SPDX-License-Identifier: Apache-2.0 */

/*
 * In a program that never yields the interrupt drains, unless that is off: the
 * samples keep their callers, and no tick is lost. The command line says what
 * is special, do=NAME, one of the table below.
 *
 * Where it does not drain, a line of the report says what to call; what was
 * sampled is there all the same, and the heap untouched until the report.
 */

#include "guest/guest.h"
#include "guest/hook.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/panic.h>
#include <kernel/service.h>
#include <prof/port.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 4u
#define DIVISOR 1193u
#define FAST_HZ 10000u
#define FAST_DIVISOR 119u
#define PIECES 64u
#define MARKED __attribute__((noinline, noclone))

static const struct way {
    const char *name;
    bool drains;  /* in the interrupt */
    bool own_pit; /* programmed by the test, to 1 kHz */
    bool fast;    /* sampled at FAST_HZ */
} ways[] = {
    {"spin", .drains = true},
    {"fast", .drains = true, .fast = true},
    {"heap", .drains = true},    /* it comes in the middle of malloc() */
    {"console", .drains = true}, /* or of a line */
    {"stream", .drains = true},  /* samples are sent as well */
    {"gate", .drains = true, .own_pit = true}, /* the timer is the kernel's */
    {"hook", .own_pit = true}, /* the kernel samples: its ticks may be NMIs */
    {"loop", .fast = false},   /* statistics: the program's */
    {"off", .fast = true},
};

static const struct way *way = ways;
static bool working; /* nobody calls the profiler */
static bool heap_forbidden;
static uint32_t written_in_tick, hints, allocations;
static uint32_t damaged; /* pieces of the heap */

bool service_option(const char *key, const char *value)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(value, ways[i].name) == 0)
            way = &ways[i];
    heap_forbidden = strcmp(value, "off") == 0;
    return strcmp(key, "do") == 0;
}

static bool is(const char *name)
{
    return strcmp(way->name, name) == 0;
}

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    if (is("hook"))
        own.tick = (struct prof_tick){.kind = PROF_TICK_HOOK};
    if (is("gate"))
        own.tick = (struct prof_tick){.kind = PROF_TICK_GATE,
                                      .vector = GUEST_TIMER_VECTOR};
    return __real_prof_init(memory, bytes, &own);
}

void *__wrap_prof_port_alloc(size_t bytes)
{
    if (heap_forbidden)
        panic("the heap was touched before the drain");
    allocations++;
    return __real_prof_port_alloc(bytes);
}

/* Finds the hint in what a report prints, wherever that is cut. */
void __wrap_prof_port_write(const char *text, size_t bytes)
{
    static const char hint[] = " s; call loop_poll() more often\n";
    static size_t at;

    written_in_tick += working;
    for (size_t i = 0; i < bytes; i++) {
        at = text[i] == hint[at] ? at + 1 : text[i] == hint[0];
        if (at == sizeof hint - 1) {
            hints++;
            at = 0;
        }
    }
    __real_prof_port_write(text, bytes);
}

/* ---- what the program does */

MARKED void inner(uint64_t until);
MARKED void outer(uint64_t until);

/* Blocks that are taken, filled, looked at and given back. */
static void use_heap(void)
{
    static struct {
        uint8_t *at;
        size_t bytes;
        uint8_t filled;
    } pieces[PIECES];
    static uint32_t random = 1;
    uint32_t i;

    random = random * 1664525u + 1013904223u;
    i = random >> 16 & (PIECES - 1);
    for (size_t j = 0; j < pieces[i].bytes; j++)
        damaged += pieces[i].at[j] != pieces[i].filled;
    free(pieces[i].at);
    pieces[i].bytes = 1 + (random >> 22 & 127);
    pieces[i].filled = (uint8_t)(random >> 8);
    pieces[i].at = malloc(pieces[i].bytes);
    damaged += pieces[i].at == NULL;
    if (pieces[i].at != NULL)
        memset(pieces[i].at, pieces[i].filled, pieces[i].bytes);
}

/* A fifth of the time. */
static void write_some(void)
{
    console_write("-", 1);
    for (unsigned i = 0; i < 8; i++)
        guest_pass();
}

void inner(uint64_t until)
{
    bool heap = is("heap"), console = is("console");

    while (arch_tsc() < until) {
        if (heap)
            use_heap();
        else if (console)
            write_some();
        else
            guest_pass_few();
    }
}

void outer(uint64_t until)
{
    inner(until);
    __asm__ volatile("");
}

/* Runs undrained; returns for how many cycles. */
static uint64_t work(void)
{
    uint64_t begin = arch_tsc();

    working = true;
    outer(begin + (uint64_t)SECONDS * GUEST_TSC_HZ);
    working = false;
    return arch_tsc() - begin;
}

/* ---- what the profiler makes of it */

struct found {
    uint64_t all, complete;
};

/* Samples of all; and those below outer(). */
static void look(const struct prof_stack_row *row, void *context)
{
    struct found *found = context;

    found->all += row->samples;
    for (uint32_t i = 0; i < row->count; i++)
        if (row->addresses[i] - (uintptr_t)outer < 64) {
            found->complete += row->samples;
            return;
        }
}

static void test_samples(void)
{
    struct found found = {0, 0};
    struct prof_stats stats = guest_stats();

    prof_visit_stacks(look, &found);
    tap_is_equal(found.complete * 100 >= found.all * 95 &&
                     found.all * 100 >= stats.ticks * 80,
                 way->drains, "samples have their callers, or not");
    tap_note("%u of %u samples, %u ticks, %u overflowed, %u missed",
             (unsigned)found.complete, (unsigned)found.all,
             (unsigned)stats.ticks, (unsigned)stats.overflowed,
             (unsigned)stats.missed);
}

/* Since the boot nothing was drained, for (cycles) in inner(). */
static void test_undrained(const struct prof_stats *before, uint64_t cycles)
{
    struct prof_stats stats = guest_stats();
    struct prof_row row;

    tap_is_equal((int64_t)(before->queued + before->dropped),
                 (int64_t)before->ticks,
                 "all samples wait in the memory given at start");
    tap_is_equal(allocations, 0, "and nothing was allocated");
    heap_forbidden = false;
    prof_report();
    stats = guest_stats();
    row = guest_row((uintptr_t)inner);
    tap_ok(allocations > 0 && stats.addresses > 0, "the drain allocates");
    tap_ok(stats.overflowed > 0, "the vector was full");
    tap_ok(stats.dropped == 0 && stats.missed == 0,
           "nothing is dropped or missed");
    /* a time that is no whole number of periods has one more or less */
    tap_is_between(
        (int64_t)(row.samples - guest_ticks_in(cycles, FAST_DIVISOR)), -1, 1,
        "the report holds every sample of the spinning function");
    tap_is_between((int64_t)(row.cycles / GUEST_MS),
                   (int64_t)SECONDS * 1000 - 2, (int64_t)SECONDS * 1000 + 2,
                   "and all of its time");
}

int service_main(void)
{
    bool undrained = heap_forbidden;
    struct prof_stats before, after, stats;
    uint64_t cycles;

    tap_plan(9 + (undrained ? 7 : 0));
    if (is("hook"))
        hook_timer(hook_sample, guest_handler());
    if (way->own_pit)
        guest_set_pit(DIVISOR);
    if (way->fast)
        prof_set_rate(FAST_HZ);
    tap_is_equal(prof_start(), 0, "started");
    prof_reset();
    before = guest_stats();
    cycles = work();
    after = guest_stats();
    console_write("\n", 1);
    tap_is_equal(after.drain_cycles > before.drain_cycles, way->drains,
                 "the interrupt has drained, or not");
    tap_is_equal(written_in_tick, 0, "  and printed nothing");
    if (is("hook"))
        tap_ok(after.ticks > before.ticks, "ticks came");
    else
        tap_is_between((int64_t)(after.ticks - before.ticks -
                                 guest_ticks_in(cycles, way->fast ? FAST_DIVISOR
                                                                  : DIVISOR)),
                       -2, 2, "each tick came");
    if (undrained)
        test_undrained(&after, cycles);
    test_samples();
    prof_report();
    tap_is_equal(hints, !way->drains + undrained,
                 "the report says what to call, or nothing");
    stats = guest_stats();
    tap_is_equal((int64_t)guest_accounted(&stats), (int64_t)stats.ticks,
                 "each tick is in one account");
    tap_is_equal(damaged, 0, "the heap is sound");
    /* A packet is sent by the first drain that finds it older than a second;
     * the interrupt drains when three quarters of a vector are used. So one
     * holds a second's samples and a part of the next, and of four seconds
     * three packets are sent at least: whether a fourth is depends on when the
     * first began, in the boot. */
    tap_is_equal(is("stream") &&
                     after.stream_packets - before.stream_packets < SECONDS - 1,
                 false, "what there is to be sent is sent");
    return tap_end();
}
