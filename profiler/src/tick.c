/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How the kernel's tick changes hands.
 *
 * The PIT begins anew whenever it is programmed, so what has passed of a tick
 * would be lost: half a tick on average, each time that sampling stops. Hence
 * two steps. First the PIT is given what is left of the kernel's tick, so that
 * it ends when it should; then, when the stub has passed that tick on, whole
 * ones. What gets lost is the moment between the two, some microseconds.
 *
 * A tick that has come but is not yet delivered must not change hands, for
 * programming the PIT may take it back (QEMU's does). So nothing is programmed
 * soon after a tick of the kernel's was due, unless it was seen to arrive.
 */

#include "tick.h"

#include "cpu.h"
#include "jitter.h"
#include "pit.h"
#include "state.h"
#include "watch.h"

/* This part of a tick after it has come, it may still be pending. */
#define PENDING_PART 16

/* The tick that the PIT ends with is the kernel's, also where it comes early by
 * one part of it in this many, as the period is not measured better. */
#define EARLY_PART 256

/* Fewer counts, a tenth of a millisecond, are not programmed: the end might
 * pass before it is awaited. */
#define COUNTS_MIN (PROF_PIT_HZ / 10000)

bool prof_tick_is_multiplied(void)
{
    return prof_state.divisor != prof_state.config.kernel_divisor;
}

static void let_in(bool on)
{
    prof_interrupts_restore(on);
    (void)prof_interrupts_save();
}

/* Counts left of the tick that the kernel's PIT is counting. */
static uint32_t counts_left(void)
{
    uint32_t whole = prof_state.config.kernel_divisor;
    struct prof_pit_state pit = prof_pit_read();
    uint32_t counts = pit.count;

    /* Counts by two, high in the first half: twice down to 0 for one tick. */
    if (prof_pit_is_square(pit))
        counts = counts / 2 + (prof_pit_is_high(pit) ? whole / 2 : 0);
    return counts < whole ? counts : whole;
}

static uint64_t cycles_in(uint32_t counts)
{
    return prof_timebase_cycles(&prof_state.time, prof_state.divisor, counts);
}

void prof_tick_settle(bool on)
{
    uint32_t whole = prof_state.config.kernel_divisor;
    uint64_t end = prof_tsc() + cycles_in(whole);

    while (on && whole - counts_left() < whole / PENDING_PART &&
           prof_tsc() < end)
        let_in(on);
}

uint64_t prof_tick_left(void)
{
    return cycles_in(counts_left());
}

uint64_t prof_tick_left_multiplied(void)
{
    uint64_t now = prof_tsc();

    return prof_hot.pass_due > now ? prof_hot.pass_due - now : 0;
}

/* Waits until half a tick is left, so that there is time for what follows. */
static void await_first_half(void)
{
    uint64_t period = prof_watch_pass_period();
    volatile uint64_t *due = &prof_hot.pass_due;
    uint64_t before = *due;
    uint64_t end = prof_tsc() + 2 * period;

    while (prof_tick_left_multiplied() < period / 2 && prof_tsc() < end) {
        let_in(true);
        if (*due != before)
            end = prof_tsc() + 2 * period;
        before = *due;
    }
}

/*
 * The PIT ends with the kernel's tick. The sample that comes with it stands
 * for one period like any other: the time before that is nobody's, as it is
 * after a stop.
 */
static void program_rest(void)
{
    uint32_t period = (uint32_t)cycles_in(prof_state.divisor);
    uint64_t left = prof_tick_left_multiplied();
    uint64_t counts = prof_divide(left * prof_state.divisor, period);

    if (counts < COUNTS_MIN)
        counts = COUNTS_MIN;
    prof_pit_set((uint32_t)counts);
    prof_hot.pass_due -=
        cycles_in(prof_state.config.kernel_divisor) / EARLY_PART;
    if (left > period)
        prof_timebase_resume(&prof_state.time, prof_tsc() + left - period);
}

static void await_delivery(void)
{
    volatile uint64_t *due = &prof_hot.pass_due;
    uint64_t before = *due;
    uint64_t end = prof_tsc() + 2 * prof_watch_pass_period();

    while (*due == before && prof_tsc() < end)
        let_in(true);
}

void prof_tick_give_back(bool on)
{
    if (on)
        await_first_half();
    prof_jitter_end();
    if (on) {
        program_rest();
        await_delivery();
    }
    prof_pit_set(prof_state.config.kernel_divisor);
}
