/* SPDX-License-Identifier: Apache-2.0 */

/*
 * In a program that never yields the interrupt drains, unless that is off: the
 * samples keep their callers, and no tick is lost. With do=heap and do=console
 * it comes in the middle of these; with do=fast there are ten times as many;
 * with do=stream they are sent as well; with do=gate the timer is the kernel's.
 * Where it does not drain, with prof.tick_drains=off, do=hook (whose ticks may
 * be NMIs) and do=loop (whose statistics are the program's), a line of the
 * report says what to call.
 */

#include "guest/guest.h"
#include "guest/hook.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 4u
#define FAST_HZ 10000u
#define FAST_DIVISOR 119u
#define DIVISOR 1193u
#define PIECES 64u
#define LINES 200u
#define MARKED __attribute__((noinline, noclone))

static char what[16] = "spin";
static bool working; /* nobody calls the profiler */
static uint32_t written_in_tick, hints;
static uint32_t damaged; /* pieces of the heap */

bool service_option(const char *key, const char *value)
{
    strncpy(what, value, sizeof what - 1);
    return strcmp(key, "do") == 0;
}

static bool is(const char *word)
{
    return strcmp(what, word) == 0;
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

void inner(uint64_t until)
{
    while (arch_tsc() < until) {
        if (is("heap"))
            use_heap();
        else if (is("console"))
            console_write("-", 1);
    }
}

void outer(uint64_t until)
{
    inner(until);
    __asm__ volatile("");
}

struct found {
    uint64_t all, complete;
};

/* Samples of inner() or what it calls; and those of them below outer(). */
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

/* Runs undrained for so long; returns how many ticks that is. */
static uint64_t work(void)
{
    uint64_t begin = arch_tsc(), cycles;

    working = true;
    outer(begin + (uint64_t)SECONDS * GUEST_TSC_HZ);
    working = false;
    cycles = arch_tsc() - begin;
    return guest_ticks_in(cycles, is("fast") ? FAST_DIVISOR : DIVISOR);
}

int service_main(void)
{
    bool drains = prof_options()->tick_drains && !is("hook") && !is("loop");
    struct prof_stats before, after, stats;
    struct found found = {0, 0};
    uint64_t due;

    tap_plan(9);
    if (is("hook"))
        hook_timer(hook_sample, guest_handler());
    if (is("hook") || is("gate"))
        guest_set_pit(DIVISOR);
    if (is("fast"))
        prof_set_rate(FAST_HZ);
    tap_is_equal(prof_start(), 0, "started");
    prof_reset();
    before = guest_stats();
    due = work();
    after = guest_stats();
    console_write("\n", 1);
    tap_is_equal(after.drain_cycles > before.drain_cycles, drains,
                 "the interrupt has drained, or not");
    tap_is_equal(written_in_tick, 0, "  and printed nothing");
    if (is("hook"))
        tap_ok(after.ticks > before.ticks, "ticks came");
    else
        tap_is_between((int64_t)(after.ticks - before.ticks - due), -2, 2,
                       "each tick came");
    prof_visit_stacks(look, &found);
    tap_is_equal(found.complete * 100 >= found.all * 95 &&
                     found.all * 100 >= after.ticks * 80,
                 drains, "samples have their callers, or not");
    tap_note("%u of %u samples, %u ticks, %u overflowed, %u missed",
             (unsigned)found.complete, (unsigned)found.all,
             (unsigned)after.ticks, (unsigned)after.overflowed,
             (unsigned)after.missed);
    prof_report();
    tap_is_equal(hints, !drains, "the report says what to call, or nothing");
    stats = guest_stats();
    tap_is_equal((int64_t)guest_accounted(&stats), (int64_t)stats.ticks,
                 "each tick is in one account");
    tap_is_equal(damaged, 0, "the heap is sound");
    tap_is_equal(is("stream") &&
                     after.stream_packets - before.stream_packets < SECONDS,
                 false, "what there is to be sent is sent");
    return tap_end();
}
