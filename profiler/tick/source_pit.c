/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The source `pit`. The kernel's clock must notice nothing of it.
 *
 * While the PIT runs faster than the kernel asked for, a tick is the kernel's,
 * too, from pass_due on, which then moves on by the kernel's own period: by the
 * TSC, so that ticks lost on a busy host cost the kernel none of its own.
 * Starting takes over in the middle of a kernel's tick and knows from the PIT
 * how much of it is left; stopping gives the PIT back at the end of one
 * (pit_ownership.c).
 *
 * At the kernel's own rate the PIT is not touched at all. A kernel that does
 * not use the PIT has no tick: none is ever due, and stopping stops the PIT.
 */

#include "tick/source_pit.h"

#include "base/cpu.h"
#include "base/options.h"
#include "sample/cpu_state.h"
#include "tick/clock.h"
#include "tick/gate_chain.h"
#include "tick/pit_ownership.h"
#include "tick/jitter.h"
#include "tick/meter.h"
#include "tick/pit.h"
#include "tick/source.h"

#include <prof/port.h>
#include <prof/text.h>

/* A driver may use the PIT once, for a delay. A kernel that does so again
 * within this time, this often, has no periodic tick. */
#define ONE_SHOTS_MAX 3u
#define ONE_SHOTS_SECONDS 10u

#define NEVER (1ull << 62) /* cycles until a tick that the kernel never gets */

static struct {
    struct prof_pit_rate rate;
    uint64_t tsc_hz;
    uint8_t vector;
    bool running;
    bool unused; /* by the kernel */
    bool given_up;
    uint32_t one_shots; /* seen, each soon after the one before */
    uint64_t one_shot_tsc;
} pit;

/* The longest period that leaves room for jitter: none may be longer than the
 * kernel's tick. */
static uint32_t divisor_with_room(void)
{
    return pit.rate.kernel * 100u / (100u + PROF_OPTION(jitter_percent));
}

/* The divisor for (hz), within what kernel and sampler can bear. At the
 * kernel's own rate, or little above, the period could not vary: it is
 * shortened. Who asks for less than that gets the kernel's. */
static uint32_t divisor_for(uint32_t hz)
{
    uint32_t divisor = (PROF_PIT_HZ + hz / 2) / hz;

    if (divisor < PROF_DIVISOR_MIN)
        divisor = PROF_DIVISOR_MIN;
    if (pit.unused && divisor >= PROF_DIVISOR_MAX)
        return PROF_DIVISOR_MAX - 1; /* so that all ticks are additional ones */
    if (divisor > pit.rate.kernel)
        return pit.rate.kernel;
    return divisor < divisor_with_room() ? divisor : divisor_with_room();
}

/* Measures the period of the rate in force anew. */
static void restart_clock(void)
{
    uint32_t counts = pit.rate.ours;
    uint64_t cycles = (pit.tsc_hz << PROF_PERIOD_SHIFT) * counts;

    prof_clock_set(prof_divide(cycles, PROF_PIT_HZ), counts,
                   (uint32_t)prof_divide((uint64_t)PROF_PIT_HZ * 1000, counts));
}

/* The kernel's next tick comes (cycles) from now. */
static void program(uint64_t cycles)
{
    struct prof_cpu_tick *tick = &prof_cpus[0].tick;

    if (prof_pit_is_multiplied(&pit.rate)) {
        tick->pass_due = prof_tsc() + cycles;
        tick->pass_period = prof_source_pit_pass_period();
        prof_jitter_begin(&pit.rate);
    } else {
        tick->pass_due = 0;
        tick->pass_period = 0;
        prof_clock_set_steady(true);
    }
}

/* TSC cycles until the kernel's next tick; 0 where it is overdue. */
static uint64_t time_left(void)
{
    if (pit.unused)
        return NEVER;
    if (pit.running && prof_pit_is_multiplied(&pit.rate))
        return prof_handover_left_multiplied();
    return prof_handover_left(&pit.rate);
}

static int start(bool on)
{
    pit.given_up = false;
    pit.one_shots = 0;
    if (!pit.unused && prof_pit_is_one_shot(prof_pit_read()))
        return PROF_EONE_SHOT;
    if (prof_pit_is_multiplied(&pit.rate) && !pit.unused)
        prof_handover_wait(&pit.rate, on);
    if (!prof_gate_chain_enter(pit.vector))
        return PROF_EGATE;
    program(time_left());
    pit.running = true;
    return PROF_OK;
}

static void stop(bool on)
{
    if (pit.given_up)
        ; /* it is as the kernel has programmed it */
    else if (pit.unused)
        prof_handover_end(&pit.rate, on);
    else if (prof_pit_is_multiplied(&pit.rate))
        prof_handover_return(&pit.rate, on);
    prof_gate_chain_leave(pit.vector);
    /* Whoever stands before the stub goes on to it: all ticks pass. */
    prof_cpus[0].tick.pass_due = prof_cpus[0].tick.pass_period = 0;
    pit.running = false;
}

/* The new rate is faster than the kernel's tick, and the old one no slower. */
static void change_running(uint32_t divisor, bool on)
{
    bool multiplied = prof_pit_is_multiplied(&pit.rate);
    uint64_t left, due = prof_cpus[0].tick.pass_due;

    if (!multiplied)
        prof_handover_wait(&pit.rate, on);
    left = time_left();
    pit.rate.ours = divisor;
    restart_clock();
    program(left);
    if (multiplied) /* it may be past, and its tick still to come */
        prof_cpus[0].tick.pass_due = due;
}

static int set_period(uint32_t hz, bool on)
{
    uint32_t divisor = divisor_for(hz);

    if (divisor == pit.rate.ours)
        return PROF_OK;
    if (pit.running) {
        /* To the kernel's own rate: only stopping gives the PIT back. */
        if (divisor == pit.rate.kernel)
            return PROF_ESTATE;
        change_running(divisor, on);
        return PROF_OK;
    }
    pit.rate.ours = divisor;
    restart_clock();
    return PROF_OK;
}

const struct prof_source prof_source_pit = {
    .start = start,
    .stop = stop,
    .set_period = set_period,
    .acknowledge = &current_eoi_mechanism,
};

static void print_tsc_hz(void)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_string(&out, "prof: config.tsc_hz is wrong: by the PIT it is ");
    prof_text_decimal(&out, pit.tsc_hz, 0);
    prof_text_string(&out, ", which is used from now on\n");
    prof_text_flush(&out);
}

/* Ticks of the PIT, whose clock is known, are (period) apart by the TSC, a 24.8
 * number: nothing but the TSC's frequency can be wrong by so much. */
static prof_meter_print *take_period(uint64_t period)
{
    uint32_t before = (uint32_t)(prof_clock.nominal >> PROF_PERIOD_SHIFT);

    pit.tsc_hz =
        prof_divide(pit.tsc_hz * (period >> PROF_PERIOD_SHIFT), before);
    prof_clock_set_tsc_hz(pit.tsc_hz);
    restart_clock();
    return print_tsc_hz;
}

bool prof_source_pit_open(const struct prof_config *config)
{
    uint32_t divisor = config->tick.kernel_divisor;

    pit.unused = config->tick.kind == PROF_TICK_OWN_PIT;
    if (pit.unused)
        divisor = PROF_DIVISOR_MAX;
    else if (config->tick.kind != PROF_TICK_PIT)
        return false;
    if (divisor < PROF_DIVISOR_MIN || divisor > PROF_DIVISOR_MAX ||
        config->tick.vector < PROF_VECTOR_MIN)
        return false;
    pit.rate.kernel = divisor;
    pit.rate.ours = divisor_for(prof_options()->hz);
    pit.tsc_hz = config->tsc_hz;
    pit.vector = config->tick.vector;
    pit.running = false;
    prof_jitter_open();
    restart_clock();
    if (PROF_WITH_BUILTIN)
        prof_meter_begin(true, false, take_period);
    return true;
}

const struct prof_pit_rate *prof_source_pit_running(void)
{
    return pit.running && !pit.given_up ? &pit.rate : NULL;
}

bool prof_source_pit_one_shot(void)
{
    uint64_t now = prof_tsc();

    if (now - pit.one_shot_tsc > ONE_SHOTS_SECONDS * pit.tsc_hz)
        pit.one_shots = 0;
    pit.one_shot_tsc = now;
    pit.one_shots++;
    pit.given_up = pit.one_shots == ONE_SHOTS_MAX;
    if (pit.given_up) {
        bool on = prof_interrupts_save();

        prof_jitter_end(&pit.rate); /* which would program it */
        prof_interrupts_restore(on);
    }
    return pit.given_up;
}

bool prof_source_pit_given_up(void)
{
    return pit.given_up;
}

uint8_t prof_source_pit_vector(void)
{
    return pit.vector;
}

uint64_t prof_source_pit_pass_period(void)
{
    return prof_pit_is_multiplied(&pit.rate)
               ? prof_handover_cycles(&pit.rate, pit.rate.kernel)
               : 0;
}

void prof_source_pit_program(void)
{
    bool on = prof_interrupts_save();

    if (prof_pit_is_multiplied(&pit.rate))
        prof_jitter_begin(&pit.rate);
    else
        prof_pit_set(pit.rate.ours);
    prof_interrupts_restore(on);
    restart_clock();
}
