/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Start, stop, rate and reset.
 *
 * The kernel's clock must not notice any of them. While we run the PIT faster
 * than the kernel asked for, a tick is the kernel's, too, from pass_due on,
 * which then moves on by the kernel's own period: by the TSC, so that ticks
 * lost on a busy host cost the kernel none of its own. Starting takes over in
 * the middle of a kernel's tick and knows from the PIT how much of it is left;
 * stopping waits for the end of one, so that the PIT, which begins anew when
 * it is programmed, begins with a whole one.
 *
 * At the kernel's own rate the PIT is not touched at all.
 */

#include "control.h"

#include "cpu.h"
#include "drain.h"
#include "gate.h"
#include "pit.h"
#include "state.h"
#include "watch.h"

static bool faster_than_kernel(void)
{
    return prof_state.divisor != prof_state.config.kernel_divisor;
}

/* The PIT's divisor for (hz), within what kernel and sampler can bear. */
static uint32_t divisor_for(uint32_t hz)
{
    uint32_t least = PROF_PIT_HZ / PROF_HZ_MAX;
    uint32_t divisor = (PROF_PIT_HZ + hz / 2) / hz;

    if (divisor < least)
        divisor = least;
    if (divisor > prof_state.config.kernel_divisor)
        divisor = prof_state.config.kernel_divisor;
    return divisor;
}

void prof_control_restart_time(void)
{
    struct prof_timebase before = prof_state.time;

    prof_timebase_set(&prof_state.time, prof_tsc(), prof_state.config.tsc_hz,
                      prof_state.divisor);
    prof_state.time.missed = before.missed < 0 ? 0 : before.missed;
    prof_state.time.last_tsc = before.last_tsc;
    prof_state.time.resume_tsc = before.resume_tsc;
}

/* Interrupts off: the next tick of the kernel's comes (cycles) from now. */
static void program(uint64_t cycles)
{
    if (faster_than_kernel()) {
        prof_hot.pass_due = prof_tsc() + cycles;
        prof_hot.pass_period = prof_watch_pass_period();
        prof_pit_set(prof_state.divisor);
    } else {
        prof_hot.pass_due = 0;
        prof_hot.pass_period = 0;
    }
}

/* Interrupts off: cycles until the tick that the kernel's PIT is counting. */
static uint64_t kernel_tick_left(void)
{
    uint32_t counts = prof_pit_read().count;

    if (counts > prof_state.config.kernel_divisor)
        counts = prof_state.config.kernel_divisor;
    return prof_timebase_cycles(&prof_state.time, prof_state.divisor, counts);
}

int prof_init(void *memory, size_t bytes, const struct prof_config *config)
{
    size_t slots = PROF_SPILL_SLOTS * sizeof(struct prof_slot);
    struct prof_slot *slot = memory;
    struct prof_entry *entry;

    if (prof_state.ready)
        return PROF_ESTATE;
    if (memory == NULL || (uintptr_t)memory % _Alignof(struct prof_slot) != 0 ||
        bytes < 2 * slots + 16 * sizeof *entry)
        return PROF_EMEMORY;
    if (config->tsc_hz == 0 || config->tsc_hz >> 36 != 0 ||
        config->kernel_divisor < PROF_PIT_HZ / PROF_HZ_MAX ||
        config->kernel_divisor > 65536)
        return PROF_ECONFIG;
    prof_spill_open(&prof_hot.spill, slot, slot + PROF_SPILL_SLOTS);
    entry = (struct prof_entry *)(slot + 2 * (size_t)PROF_SPILL_SLOTS);
    prof_hot.ring.begin = entry;
    prof_hot.ring.end = entry + (bytes - 2 * slots) / sizeof *entry;
    prof_hot.ring.head = prof_hot.ring.tail = prof_state.read = entry;
    prof_state.config = *config;
    prof_state.divisor = divisor_for(prof_options()->hz);
    prof_timebase_set(&prof_state.time, prof_tsc(), config->tsc_hz,
                      prof_state.divisor);
    prof_state.ready = true;
    return PROF_OK;
}

int prof_start(void)
{
    bool on, taken = true;
    uint64_t now;

    if (!prof_state.ready)
        return PROF_ESTATE;
    if (prof_state.running)
        return PROF_OK;
    on = prof_interrupts_save();
    now = prof_tsc();
    prof_timebase_resume(&prof_state.time, now);
    prof_hot.spill.last_tsc = now;
    if (prof_state.config.timer_vector != 0)
        taken =
            prof_gate_take(prof_state.config.timer_vector,
                           (uintptr_t)prof_parasite, &prof_hot.next_handler);
    if (taken) {
        if (prof_state.config.timer_vector != 0)
            program(kernel_tick_left());
        prof_hot.enabled = 1;
        prof_state.running = true;
    }
    prof_interrupts_restore(on);
    return taken ? PROF_OK : PROF_EGATE;
}

/*
 * Waits for the end of the kernel's present tick: until pass_due moves on. Not
 * with interrupts off, and no longer than two of its periods.
 */
static void await_kernel_tick(bool interrupts_on)
{
    volatile uint64_t *due = &prof_hot.pass_due;
    uint64_t first = *due;
    uint64_t end = prof_tsc() + 2 * prof_watch_pass_period();

    while (interrupts_on && *due == first && prof_tsc() < end)
        ;
}

void prof_stop(void)
{
    bool on = prof_interrupts_save();
    uint8_t vector = prof_state.config.timer_vector;

    prof_interrupts_restore(on);
    if (!prof_state.running)
        return;
    if (vector != 0 && faster_than_kernel())
        await_kernel_tick(on);
    on = prof_interrupts_save();
    if (vector != 0) {
        if (faster_than_kernel())
            prof_pit_set(prof_state.config.kernel_divisor);
        if (prof_gate_handler(vector) == (uintptr_t)prof_parasite)
            prof_gate_return(vector, prof_hot.next_handler);
    }
    prof_hot.enabled = 0;
    prof_state.running = false;
    prof_interrupts_restore(on);
}

bool prof_running(void)
{
    return prof_state.running;
}

/* Interrupts off: cycles until the kernel's next tick, whoever makes it. */
static uint64_t pass_left(void)
{
    uint64_t now = prof_tsc();

    if (!faster_than_kernel())
        return kernel_tick_left();
    return prof_hot.pass_due > now ? prof_hot.pass_due - now : 0;
}

int prof_set_rate(uint32_t hz)
{
    bool own = prof_state.running && prof_state.config.timer_vector != 0;
    uint64_t left;
    bool on;

    if (hz == 0)
        return PROF_ERATE;
    if (!prof_state.ready)
        return PROF_ESTATE;
    prof_drain();
    on = prof_interrupts_save();
    left = own ? pass_left() : 0;
    if (own && faster_than_kernel() &&
        divisor_for(hz) == prof_state.config.kernel_divisor)
        prof_pit_set(prof_state.config.kernel_divisor);
    prof_state.divisor = divisor_for(hz);
    prof_control_restart_time();
    if (own)
        program(left);
    prof_interrupts_restore(on);
    return PROF_OK;
}

uint32_t prof_rate_mhz(void)
{
    return (uint32_t)prof_divide((uint64_t)PROF_PIT_HZ * 1000,
                                 prof_state.divisor);
}

void prof_reset(void)
{
    bool on;

    on = prof_interrupts_save();
    prof_drain_discard();
    prof_map_clear(&prof_state.addresses);
    prof_map_clear(&prof_state.functions);
    prof_state.counts = (struct prof_counts){0};
    prof_state.overflowed = 0;
    prof_state.dropped_before = prof_hot.spill.dropped;
    prof_state.dropped_cycles_before = prof_hot.spill.dropped_cycles;
    prof_state.interrupt_before = prof_hot.interrupt_cycles;
    prof_state.drain_cycles = prof_state.report_cycles = 0;
    prof_state.gate_taken_back = prof_state.pit_taken_back = 0;
    prof_state.time.missed = 0;
    prof_interrupts_restore(on);
}
