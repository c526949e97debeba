/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How the PIT changes hands.
 *
 * The PIT begins anew whenever it is programmed, so what has passed of a tick
 * would be lost: half a tick on average, each time that sampling stops. Hence
 * two steps. First the PIT is given what is left of the kernel's tick, so that
 * it ends when it should; then, when the stub has passed that tick on, whole
 * ones. Only the moment between the two is lost, some microseconds.
 *
 * A tick that has come but is not yet delivered must not change hands, for
 * programming the PIT may take it back (QEMU's does). So nothing is programmed
 * soon after a tick of the kernel's was due, unless it was seen to arrive.
 */

#include "tick/pit_ownership.h"

#include "base/cpu.h"
#include "sample/cpu_state.h"
#include "tick/clock.h"
#include "tick/jitter.h"
#include "tick/pit.h"

#include <prof/tick.h>

/* For this part of a tick after it has come, it may still be pending. */
#define PENDING_PART 16

/* The tick that the PIT ends with is the kernel's even if it comes early by one
 * part of it in this many, as the period is not measured better. */
#define EARLY_PART 256

/* Fewer counts, a tenth of a millisecond, are not programmed: the end might
 * pass before it is waited for. */
#define COUNTS_MIN (PROF_PIT_HZ / 10000)

static void let_in(bool on)
{
    prof_interrupts_restore(on);
    (void)prof_interrupts_save();
}

/* Counts left of the tick that the kernel's PIT is counting. */
static uint32_t counts_left(uint32_t whole)
{
    struct prof_pit_state pit = prof_pit_read();
    uint32_t counts = pit.count;

    /* Counts by two, high in the first half: twice down to 0 for one tick. */
    if (prof_pit_is_square(pit))
        counts = counts / 2 + (prof_pit_is_high(pit) ? whole / 2 : 0);
    return counts < whole ? counts : whole;
}

uint64_t prof_handover_cycles(const struct prof_pit_rate *rate, uint32_t counts)
{
    return prof_timebase_cycles(&prof_clock, rate->ours, counts);
}

void prof_handover_wait(const struct prof_pit_rate *rate, bool on)
{
    uint32_t whole = rate->kernel;
    uint64_t end = prof_tsc() + prof_handover_cycles(rate, whole);

    while (on && whole - counts_left(whole) < whole / PENDING_PART &&
           prof_tsc() < end)
        let_in(on);
}

uint64_t prof_handover_left(const struct prof_pit_rate *rate)
{
    return prof_handover_cycles(rate, counts_left(rate->kernel));
}

uint64_t prof_handover_left_multiplied(void)
{
    uint64_t now = prof_tsc(), due = prof_cpus[0].tick.pass_due;

    return due > now ? due - now : 0;
}

/* Waits until half a tick is left, so that there is time for what follows. */
static void await_first_half(uint64_t period)
{
    volatile uint64_t *due = &prof_cpus[0].tick.pass_due;
    uint64_t before = *due;
    uint64_t end = prof_tsc() + 2 * period;

    while (prof_handover_left_multiplied() < period / 2 && prof_tsc() < end) {
        let_in(true);
        if (*due != before)
            end = prof_tsc() + 2 * period;
        before = *due;
    }
}

/*
 * The PIT ends with the kernel's tick. The sample that comes with it is worth
 * one period like any other: the time before that is in no account, as it is
 * after a stop.
 */
static void program_rest(const struct prof_pit_rate *rate)
{
    uint32_t period = (uint32_t)prof_handover_cycles(rate, rate->ours);
    uint64_t left = prof_handover_left_multiplied();
    uint64_t counts = prof_divide(left * rate->ours, period);

    if (counts < COUNTS_MIN)
        counts = COUNTS_MIN;
    prof_pit_set((uint32_t)counts);
    prof_cpus[0].tick.pass_due -=
        prof_handover_cycles(rate, rate->kernel) / EARLY_PART;
    if (left > period)
        prof_timebase_resume(&prof_clock, prof_tsc() + left - period);
}

static void await_delivery(uint64_t period)
{
    volatile uint64_t *due = &prof_cpus[0].tick.pass_due;
    uint64_t before = *due;
    uint64_t end = prof_tsc() + 2 * period;

    while (*due == before && prof_tsc() < end)
        let_in(true);
}

void prof_handover_return(const struct prof_pit_rate *rate, bool on)
{
    uint64_t period = prof_handover_cycles(rate, rate->kernel);

    if (on)
        await_first_half(period);
    prof_jitter_end(rate);
    if (on) {
        program_rest(rate);
        await_delivery(period);
    }
    prof_pit_set(rate->kernel);
}

void prof_handover_end(const struct prof_pit_rate *rate, bool on)
{
    prof_jitter_end(rate);
    prof_pit_stop();
    if (on)
        let_in(on); /* a tick that has come, while the stub takes it */
}
