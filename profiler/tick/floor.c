/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A floor under the time between ticks, and how it differs from theft.
 *
 * A host that takes the CPU away makes ticks late by any amount, or drops whole
 * ones: some of the others come on time. Under a floor none does whose period
 * is below it, and all these are late to the same time, which does not depend
 * on the period. Periods above the floor are kept; so the longer ones of a
 * period that varies prove nothing.
 *
 * Ticks are judged in looks of up to TICKS, all of one period. The first tick
 * after the timer was programmed is in none: KVM delivers it when it was asked
 * for. Nor is one that comes too early: it was held back, and is delivered
 * after all.
 */

#include "tick/floor.h"

#include "base/cpu.h"
#include "base/options.h"
#include "tick/clock.h"
#include "tick/pit.h"

#include <prof/config.h>
#include <prof/port.h>
#include <prof/text.h>

#if PROF_WITH_PIT

#define TICKS 32u       /* in a look */
#define TICKS_MIN 12u   /* for a judgement */
#define LOOKS 6u        /* that show the same floor */
#define SECONDS 2u      /* then no floor is there */
#define SUSPECT_PART 8u /* of a second, at least, for one */
#define NEAR_PART 8u    /* times this close are the same */

/* Where every machine keeps all periods: from 1 kHz down, with all of jitter.
 * KVM's floor was half a millisecond at most. */
#define ALWAYS_KEPT (PROF_PIT_HZ / 2000)

/* Jitter that is left above a floor: enough that nothing runs in step. */
#define JITTER_PERCENT 33u

static struct {
    struct prof_pit_rate *rate;
    const char *timer;
    bool too_fast; /* found, and the rate is still to be lowered */
    bool looking;
    uint64_t begin;  /* TSC */
    uint32_t enough; /* who keeps periods of so many counts, keeps all */
    uint32_t looks;  /* that have shown (cycles), one after the other */
    uint32_t cycles; /* the floor that is suspected */
    uint64_t sum;    /* of what these looks have shown */
    bool looked;
} search;

/* The ticks of one period. */
struct look {
    uint32_t late[TICKS]; /* cycles between them, ascending */
    uint32_t lates, on_time;
    uint32_t counts; /* of the period */
};

void prof_floor_open(struct prof_pit_rate *rate, const char *timer)
{
    search.rate = rate;
    search.timer = timer;
    search.too_fast = search.looking = false;
    if (rate != NULL)
        rate->least = 0;
}

static void suspect(bool suspected)
{
    prof_timebase_irregular(prof_clock_of(PROF_CPU_FIRST), suspected);
}

void prof_floor_end(void)
{
    if (search.looking && search.looks != 0)
        suspect(false);
    search.looking = false;
}

void prof_floor_look(void)
{
    const struct prof_pit_rate *rate = search.rate;
    uint32_t least = rate->ours;

    if (prof_pit_is_multiplied(rate))
        least -= least * PROF_OPTION(jitter_percent) / 100;
    prof_floor_end();
    if (rate->least != 0 || least >= ALWAYS_KEPT)
        return;
    search.looking = true;
    search.begin = prof_tsc();
    search.enough = least + (rate->ours - least) / 2;
    search.looks = 0;
    search.looked = false;
}

uint32_t prof_floor_mean(void)
{
    uint32_t jitter = PROF_OPTION(jitter_percent);

    if (jitter > JITTER_PERCENT)
        jitter = JITTER_PERCENT;
    return search.rate->least * 100u / (100u - jitter) + 1;
}

bool prof_floor_too_fast(void)
{
    return search.too_fast;
}

void prof_floor_slowed_down(void)
{
    const struct prof_pit_rate *rate = search.rate;
    struct prof_text out;

    search.too_fast = false;
    suspect(false);
    if (rate->ours < rate->least) /* the kernel's own */
        prof_clock_set_counts(rate->ours, rate->least);
    prof_text_open(&out, prof_port_write);
    prof_text_format(
        &out,
        "prof: %s ticks once in %u us at most, whatever it is programmed to "
        "(KVM's does): sampling at %.3u Hz\n",
        search.timer,
        (uint32_t)prof_divide(rate->least * 100000ull, PROF_PIT_HZ) * 10,
        prof_clock.rate_mhz);
    prof_text_flush(&out);
}

/* The floor is (cycles). In a drain: the rate is lowered when nothing is
 * queued. */
static void take_floor(uint64_t cycles)
{
    const struct prof_timebase *clock = prof_clock_of(PROF_CPU_FIRST);
    uint32_t period = (uint32_t)(clock->nominal >> PROF_PERIOD_SHIFT);

    search.rate->least =
        (uint32_t)prof_divide(cycles * search.rate->ours, period) + 1;
    search.too_fast = true;
}

static void add_tick(struct look *look, uint64_t cycles, uint32_t period)
{
    uint32_t time = cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX;
    uint32_t at = look->lates;

    if (time < period - period / 4)
        return;
    if (time < period + period / 4) {
        look->on_time++;
        return;
    }
    for (; at > 0 && look->late[at - 1] > time; at--)
        look->late[at] = look->late[at - 1];
    look->late[at] = time;
    look->lates++;
}

/* Adds the ticks from (*entry) on, up to the next period or TICKS, and moves
 * (*entry) behind them. False: the queue ends there. */
static bool collect_ticks(const struct prof_ring *ring,
                          const struct prof_timebase *clock,
                          struct prof_entry **entry, struct look *look)
{
    const struct prof_entry *head = prof_ring_head(ring);
    uint32_t period =
        (uint32_t)prof_timebase_cycles(clock, clock->divisor, look->counts);

    while (*entry != head && look->lates + look->on_time < TICKS) {
        struct prof_entry *next = prof_ring_next(ring, *entry);

        if (next == head)
            return false;
        if ((*entry)->divisor != 0) {
            look->counts = (*entry)->divisor;
            *entry = next; /* its tick is the first of the new period */
            return true;
        }
        add_tick(look, prof_entry_tsc(next) - prof_entry_tsc(*entry), period);
        *entry = next;
    }
    return *entry != head;
}

static bool is_near(uint32_t time, uint32_t other)
{
    uint32_t far = time > other ? time - other : other - time;

    return far <= other / NEAR_PART;
}

/* The time that all ticks of (look) are late to, 0: there is none. */
static uint32_t floor_of(const struct look *look)
{
    uint32_t median = look->late[look->lates / 2], near = 0;

    if (look->lates < (look->lates + look->on_time) / 4 * 3)
        return 0;
    for (uint32_t i = 0; i < look->lates; i++)
        near += is_near(look->late[i], median);
    return near >= look->lates / 4 * 3 ? median : 0;
}

/* One more look shows a floor of (cycles). */
static void support(uint32_t cycles)
{
    uint64_t for_long = prof_clock.tsc_hz / SUSPECT_PART;

    if (search.looks == 0 || !is_near(cycles, search.cycles)) {
        search.cycles = cycles;
        search.looks = 0;
        search.sum = 0;
    }
    search.looks++;
    search.sum += cycles;
    suspect(true);
    if (search.looks < LOOKS || prof_tsc() - search.begin < for_long)
        return;
    search.looking = false;
    take_floor(prof_divide(search.sum, search.looks));
}

static void judge(const struct look *look, uint32_t counts)
{
    uint32_t cycles;

    if (look->lates + look->on_time < TICKS_MIN)
        return;
    if (look->on_time > look->lates) {
        if (counts <= search.enough)
            prof_floor_end();
        return;
    }
    cycles = look->lates != 0 ? floor_of(look) : 0;
    if (cycles != 0)
        support(cycles);
}

bool prof_floor_waits(const struct prof_cpu *cpu, struct prof_entry *entry,
                      bool now)
{
    const struct prof_timebase *clock = prof_clock_of(cpu);
    uint32_t counts = clock->counts, seen = 0;
    bool more = search.looking;

    if (!more)
        return false;
    if (prof_tsc() - search.begin > SECONDS * prof_clock.tsc_hz) {
        prof_floor_end();
        return false;
    }
    while (more && search.looking) {
        struct look look = {.counts = counts};

        more = collect_ticks(&cpu->ring, clock, &entry, &look);
        judge(&look, counts);
        counts = look.counts;
        seen += look.lates + look.on_time;
    }
    search.looked = search.looked || now || seen >= TICKS_MIN;
    return !search.looked;
}

#endif
