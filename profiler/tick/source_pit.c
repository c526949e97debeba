/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The source `pit`. The kernel's clock must notice nothing of it.
 *
 * While the PIT runs faster than the kernel asked for, a tick is the kernel's,
 * too, from pass_due on, which then moves on by the kernel's own period: by the
 * TSC, so that ticks lost on a busy host cost the kernel none of its own.
 *
 * The PIT begins anew whenever it is programmed, so what has passed of a tick
 * would be lost. Hence stopping takes two steps. First the PIT is given what is
 * left of the kernel's tick, so that it ends when it should; then, when the
 * stub has passed that tick on, whole ones. Only the moment between the two is
 * lost, some microseconds.
 *
 * A tick that has come but is not yet delivered must not change hands, for
 * programming the PIT may take it back (QEMU's does). So nothing is programmed
 * soon after a tick of the kernel's was due, unless it was seen to arrive.
 *
 * At the kernel's own rate the PIT is not touched at all. A kernel that does
 * not use the PIT has no tick: none is ever due, and stopping stops the PIT.
 */

#include "tick/source.h"

#include "base/cpu.h"
#include "base/options.h"
#include "sample/cpu_state.h"
#include "tick/clock.h"
#include "tick/floor.h"
#include "tick/idt_gate.h"
#include "tick/jitter.h"
#include "tick/meter.h"
#include "tick/pit.h"
#include "tick/rate.h"

#include <prof/port.h>
#include <prof/text.h>
#include <stddef.h>

/* A driver may use the PIT once, for a delay. A kernel that does so again
 * within this time, this often, has no periodic tick. */
#define ONE_SHOTS_MAX 3u
#define ONE_SHOTS_SECONDS 10u

#define NEVER (1ull << 62) /* cycles until a tick that the kernel never gets */

/* For this part of a tick after it has come, it may still be pending. */
#define PENDING_PART 16

/* The tick that the PIT ends with is the kernel's even if it comes early by one
 * part of it in this many, as the period is not measured better. */
#define EARLY_PART 256

/* Fewer counts, a tenth of a millisecond, are not programmed: the end might
 * pass before it is waited for. */
#define COUNTS_MIN (PROF_PIT_HZ / 10000)

static struct {
    struct prof_pit_rate rate;
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
    uint32_t divisor = prof_rate_divisor(hz);

    if (pit.unused && divisor >= PROF_DIVISOR_MAX)
        return PROF_DIVISOR_MAX - 1; /* so that all ticks are additional ones */
    if (divisor > pit.rate.kernel)
        return pit.rate.kernel;
    if (divisor < divisor_with_room())
        return divisor;
    if (PROF_WITH_BUILTIN && divisor_with_room() < pit.rate.least)
        return pit.rate.kernel;
    return divisor_with_room();
}

static void restart_clock(void)
{
    uint32_t counts = pit.rate.ours, kept = counts;

    if (PROF_WITH_BUILTIN && kept < pit.rate.least) /* the kernel's own */
        kept = pit.rate.least;
    prof_clock_set_counts(counts, kept);
}

static uint64_t cycles_in(uint32_t counts)
{
    return prof_timebase_cycles(prof_clock_of(PROF_CPU_FIRST), pit.rate.ours,
                                counts);
}

static bool is_multiplied(void)
{
    return prof_pit_is_multiplied(&pit.rate);
}

/* ---- the kernel's tick */

static uint32_t counts_left(void)
{
    struct prof_pit_state state = prof_pit_read();
    uint32_t counts = state.count, whole = pit.rate.kernel;

    /* Counts by two, high in the first half: twice down to 0 for one tick. */
    if (prof_pit_is_square(state))
        counts = counts / 2 + (prof_pit_is_high(state) ? whole / 2 : 0);
    return counts < whole ? counts : whole;
}

/* Cycles until the kernel's next tick while the PIT runs faster; 0 where it is
 * overdue. */
static uint64_t left_of_multiplied(const struct prof_cpu *cpu)
{
    uint64_t now = prof_tsc(), due = cpu->tick.pass_due;

    return due > now ? due - now : 0;
}

/* The same, however the PIT runs. */
static uint64_t time_left(const struct prof_cpu *cpu)
{
    if (pit.unused)
        return NEVER;
    if (pit.running && is_multiplied())
        return left_of_multiplied(cpu);
    return cycles_in(counts_left());
}

/* Waits, where (on), until no tick that has come can still be pending. The PIT
 * is as the kernel had it. */
static void await_no_pending(bool on)
{
    uint32_t whole = pit.rate.kernel;
    uint64_t end = prof_tsc() + cycles_in(whole);

    while (on && whole - counts_left() < whole / PENDING_PART &&
           prof_tsc() < end)
        prof_interrupts_let_in(on);
}

/* ---- taking the PIT and giving it back */

/* The kernel's next tick comes (cycles) from now. */
static void program(struct prof_cpu *cpu, uint64_t cycles)
{
    struct prof_cpu_tick *tick = &cpu->tick;

    if (is_multiplied()) {
        tick->pass_due = prof_tsc() + cycles;
        tick->pass_period = prof_source_pit_pass_period();
        prof_jitter_begin(&pit.rate);
    } else {
        tick->pass_due = 0;
        tick->pass_period = 0;
        prof_clock.steady = true;
    }
}

static int start_pit(bool on)
{
    struct prof_cpu *cpu = PROF_CPU_FIRST;

    pit.given_up = false;
    pit.one_shots = 0;
    if (!pit.unused && prof_pit_is_one_shot(prof_pit_read()))
        return PROF_EONE_SHOT;
    if (is_multiplied() && !pit.unused)
        await_no_pending(on);
    if (!prof_gate_enter(pit.vector, prof_parasite,
                         offsetof(struct prof_cpu, tick.next_handler)))
        return PROF_EGATE;
    program(cpu, time_left(cpu));
    pit.running = true;
    if (PROF_WITH_BUILTIN)
        prof_floor_look();
    return PROF_OK;
}

/* Waits until a tick of the kernel's was delivered, or (half): until half of
 * one is left, so that there is time for what follows. For two periods at most,
 * from the last that was delivered meanwhile. */
static void await_tick(const struct prof_cpu *cpu, uint64_t period, bool half)
{
    const volatile uint64_t *due = &cpu->tick.pass_due;
    uint64_t before = *due, end = prof_tsc() + 2 * period;

    while (prof_tsc() < end &&
           (half ? left_of_multiplied(cpu) < period / 2 : *due == before)) {
        prof_interrupts_let_in(true);
        if (half && *due != before) {
            before = *due;
            end = prof_tsc() + 2 * period;
        }
    }
}

/*
 * The PIT ends with the kernel's tick. The sample that comes with it is worth
 * one period like any other: the time before that is in no account, as it is
 * after a stop.
 */
static void program_rest(struct prof_cpu *cpu)
{
    uint32_t period = (uint32_t)cycles_in(pit.rate.ours);
    uint64_t left = left_of_multiplied(cpu);
    uint64_t counts = prof_divide(left * pit.rate.ours, period);

    if (counts < COUNTS_MIN)
        counts = COUNTS_MIN;
    prof_pit_set((uint32_t)counts);
    cpu->tick.pass_due -= cycles_in(pit.rate.kernel) / EARLY_PART;
    if (left > period)
        prof_timebase_resume(prof_clock_of(cpu), prof_tsc() + left - period);
}

/*
 * Gives the PIT back: when the kernel has had its next tick, and not before, it
 * counts whole ticks of the kernel's again. The stub must still be in place.
 * Takes about two ticks at most, unless the kernel is still being given ticks
 * that it was owed. Where not (on) it does not wait, and the kernel's clock
 * loses what has passed of a tick.
 */
static void return_pit(struct prof_cpu *cpu, bool on)
{
    uint64_t period = cycles_in(pit.rate.kernel);

    if (on)
        await_tick(cpu, period, true);
    prof_jitter_end(&pit.rate);
    if (on) {
        program_rest(cpu);
        await_tick(cpu, period, false);
    }
    prof_pit_set(pit.rate.kernel);
}

static void stop(bool on)
{
    struct prof_cpu *cpu = PROF_CPU_FIRST;

    if (pit.given_up) {
        ; /* it is as the kernel has programmed it */
    } else if (pit.unused) {
        prof_jitter_end(&pit.rate);
        prof_pit_stop();
        /* a tick that has come, while the stub takes it */
        prof_interrupts_let_in(on);
    } else if (is_multiplied()) {
        return_pit(cpu, on);
    }
    prof_gate_leave();
    /* Whoever stands before the stub goes on to it: all ticks pass. */
    cpu->tick.pass_due = cpu->tick.pass_period = 0;
    pit.running = false;
}

/* The new rate is faster than the kernel's tick, and the old one no slower. */
static void change_running(uint32_t divisor, bool on)
{
    struct prof_cpu *cpu = PROF_CPU_FIRST;
    bool multiplied = is_multiplied();
    uint64_t left, due = cpu->tick.pass_due;

    if (!multiplied)
        await_no_pending(on);
    left = time_left(cpu);
    pit.rate.ours = divisor;
    restart_clock();
    program(cpu, left);
    if (multiplied) /* it may be past, and its tick still to come */
        cpu->tick.pass_due = due;
    if (PROF_WITH_BUILTIN)
        prof_floor_look();
}

static int set_period(uint32_t hz, bool on)
{
    uint32_t divisor = divisor_for(hz);

    if (divisor == pit.rate.ours &&
        !(PROF_WITH_BUILTIN && prof_floor_too_fast() && is_multiplied()))
        return PROF_OK;
    /* To the kernel's own rate: only stopping gives the PIT back. */
    if (pit.running && divisor == pit.rate.kernel)
        return PROF_ESTATE;
    if (pit.running) {
        change_running(divisor, on);
    } else {
        pit.rate.ours = divisor;
        restart_clock();
    }
    return PROF_OK;
}

const struct prof_source prof_source_pit = {
    .start = start_pit,
    .stop = stop,
    .set_period = set_period,
    .acknowledge = &current_eoi_mechanism,
};

static void print_tsc_hz(void)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_format(&out,
                     "prof: config.tsc_hz is wrong: by the PIT it is %ju, "
                     "which is used from now on\n",
                     prof_clock.tsc_hz);
    prof_text_flush(&out);
}

/* Ticks of the PIT, whose clock is known, are (period) apart by the TSC, a 24.8
 * number: nothing but the TSC's frequency can be wrong by so much. */
static prof_meter_print *take_period(uint64_t period)
{
    const struct prof_timebase *clock = prof_clock_of(PROF_CPU_FIRST);
    uint32_t before = (uint32_t)(clock->nominal >> PROF_PERIOD_SHIFT);

    prof_clock.tsc_hz =
        prof_divide(prof_clock.tsc_hz * (period >> PROF_PERIOD_SHIFT), before);
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
    if (PROF_WITH_BUILTIN)
        prof_floor_open(&pit.rate, "the PIT");
    pit.rate.ours = divisor_for(prof_options()->hz);
    pit.vector = config->tick.vector;
    pit.running = false;
    prof_jitter_open(prof_pit_set);
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

    if (now - pit.one_shot_tsc > ONE_SHOTS_SECONDS * prof_clock.tsc_hz)
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

uint64_t prof_source_pit_pass_period(void)
{
    return is_multiplied() ? cycles_in(pit.rate.kernel) : 0;
}

void prof_source_pit_program(void)
{
    bool on = prof_interrupts_save();

    if (is_multiplied())
        prof_jitter_begin(&pit.rate);
    else
        prof_pit_set(pit.rate.ours);
    prof_interrupts_restore(on);
    restart_clock();
}
