/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How often ticks really come. On a busy host some are late, in bursts, or
 * missing; so it is the median of the times between them that counts, and it
 * contradicts the configuration only if nearly all are too long, or they are
 * too short on average as well.
 */

#include "tick/meter.h"

#include "base/cpu.h"
#include "tick/clock.h"

#define TIMES 32u    /* between ticks, for a result */
#define TIMES_MIN 4u /* where no more come */
#define SLOW_SECONDS 2u
/* Ticks too often may be those that a host makes up for: who does not wait for
 * the result wants to see that in so many looks one after the other. */
#define LOOKS 4u

static struct {
    prof_meter_result *result; /* NULL: nothing is measured */
    prof_meter_print *print;   /* of a result that is not printed; or NULL */
    uint64_t begin;            /* TSC */
    bool known;                /* a period, that of the clock */
    bool wait;
    uint32_t looks; /* left that must contradict */
} meter;

void prof_meter_begin(bool known, bool wait, prof_meter_result *result)
{
    meter.result = result;
    meter.known = known;
    meter.begin = prof_tsc();
    meter.wait = wait;
    meter.looks = wait ? 1 : LOOKS;
}

void prof_meter_end(void)
{
    meter.result = NULL;
}

struct times {
    uint32_t sorted[TIMES]; /* in cycles, as it were at the mean period */
    uint32_t count;
    uint64_t sum;
};

/* Adds a time of (cycles), in a period of (counts), of which (mean) are the
 * mean. */
static void add_time(struct times *times, uint64_t cycles, uint32_t counts,
                     uint32_t mean)
{
    uint32_t at = times->count, time;

    if (counts != mean && counts != 0)
        cycles = prof_divide(cycles * mean, counts);
    time = cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX;
    times->sum += time;
    for (; at > 0 && times->sorted[at - 1] > time; at--)
        times->sorted[at] = times->sorted[at - 1];
    times->sorted[at] = time;
    times->count++;
}

static void collect_times(const struct prof_cpu *cpu, struct prof_entry *entry,
                          struct times *times)
{
    const struct prof_ring *ring = &cpu->ring;
    const struct prof_entry *head = prof_ring_head(ring);
    const struct prof_timebase *clock = prof_clock_of(cpu);
    uint32_t counts = clock->counts;

    while (entry != head && times->count < TIMES) {
        struct prof_entry *next = prof_ring_next(ring, entry);

        if (next == head)
            return;
        if (entry->divisor != 0)
            counts = entry->divisor;
        add_time(times, prof_entry_tsc(next) - prof_entry_tsc(entry), counts,
                 clock->divisor);
        entry = next;
    }
}

/* Whether (times) cannot be those between ticks of (period) cycles. */
static bool contradicts(const struct times *times, uint32_t period)
{
    uint32_t median = times->sorted[times->count / 2];
    uint32_t short_one = times->sorted[times->count / 8];
    uint32_t two_thirds = period / 3 * 2;

    if (median < two_thirds)
        return prof_divide(times->sum, times->count) < two_thirds;
    return meter.wait && short_one > period + period / 2;
}

/* The result is known; (times) has enough of them. (nominal): the clock's
 * period. */
static void decide_period(const struct times *times, uint64_t nominal)
{
    uint64_t median = times->sorted[times->count / 2];
    prof_meter_result *result = meter.result;

    if (meter.known &&
        !contradicts(times, (uint32_t)(nominal >> PROF_PERIOD_SHIFT))) {
        meter.result = NULL;
        return;
    }
    if (--meter.looks > 0)
        return;
    meter.result = NULL;
    meter.print = result(median << PROF_PERIOD_SHIFT);
}

void prof_meter_say(void)
{
    prof_meter_print *print = meter.print;

    meter.print = NULL;
    if (print != NULL)
        print();
}

bool prof_meter_waits(const struct prof_cpu *cpu, struct prof_entry *entry,
                      bool now)
{
    struct times times = {.count = 0};

    if (meter.result == NULL)
        return false;
    collect_times(cpu, entry, &times);
    now = now || prof_tsc() - meter.begin > SLOW_SECONDS * prof_clock.tsc_hz;
    if (times.count == TIMES || (now && times.count >= TIMES_MIN)) {
        decide_period(&times, prof_clock_of(cpu)->nominal);
        return false;
    }
    return meter.wait && !now;
}
