/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a sample takes in all, by timer (timer=): an additional tick of the PIT
 * (pit), the PIT as an NMI (nmi), a local APIC's timer of the profiler's own
 * (own), and one that it shares with the kernel (shared). It is flat, or has
 * as many callers as callers= says. Counted as in bench/cost, with no other
 * interrupt, in an image for one CPU or for several. While the samples come,
 * port 0x80 is written before and after, so that what is written to devices
 * between the two can be counted from outside.
 *
 * The line "bench SAMPLES INSTRUCTIONS" is for bench/cost.sh.
 */

#include "guest/guest.h"
#include "guest/wraps.h"

#include <kernel/console.h>
#include <kernel/service.h>
#include <pic.h>
#include <prof/pic.h>
#include <prof/port.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 250000000u /* half a second, 500 ticks: the vector holds them */
#define MARK_PORT 0x80
#define TIMER_LINE 0
#define APIC_TIMER 0xfee00320u

static char timer[8];
static uint32_t callers;

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "callers") == 0) {
        callers = (uint32_t)atoi(value);
        return true;
    }
    if (strcmp(key, "timer") != 0 || strlen(value) >= sizeof timer)
        return false;
    strcpy(timer, value);
    return true;
}

static bool is(const char *name)
{
    return strcmp(timer, name) == 0;
}

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    own.tick.lapic_shared = is("shared");
    own.tick.kind = is("pit")   ? PROF_TICK_OWN_PIT
                    : is("nmi") ? PROF_TICK_NMI
                                : PROF_TICK_LAPIC;
    if (is("own"))
        own.tick.lapic_vector = GUEST_TIMER_VECTOR + 15; /* a free line's */
    return __real_prof_init(memory, bytes, &own);
}

static __attribute__((noinline)) void loop(uint32_t rounds)
{
    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds) : : "cc");
}

/* With more callers than are asked for. */
static __attribute__((noinline)) void loop_below(uint32_t levels,
                                                 uint32_t rounds)
{
    if (levels == 0)
        loop(rounds);
    else
        loop_below(levels - 1, rounds);
    __asm__ volatile("");
}

static uint64_t cycles_of_loop(void)
{
    uint64_t begin = arch_tsc();

    loop_below(callers, ROUNDS);
    return arch_tsc() - begin;
}

int service_main(void)
{
    bool on = arch_interrupts_save();
    uint64_t alone = cycles_of_loop(), with, ticks;

    arch_interrupts_restore(on);
    current_eoi_mechanism = prof_pic_done;
    if (!is("pit"))
        pic_mask(TIMER_LINE);
    prof_set_depth(callers);
    if (prof_start() != 0)
        return 1;
    prof_drain();
    ticks = guest_stats().ticks;
    arch_out8(MARK_PORT, 1);
    with = cycles_of_loop();
    arch_out8(MARK_PORT, 0);
    ticks = guest_stats().ticks - ticks;
    prof_stop();
    with = (with - alone) * 100 / ticks;
    console_line("bench %u %u.%02u", (unsigned)ticks, (unsigned)(with / 100),
                 (unsigned)(with % 100));
    return 0;
}
