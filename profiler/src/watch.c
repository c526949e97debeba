/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the drain looks after besides samples.
 *
 * The gate: a driver that installs its handler after us would silently end the
 * profile. Its handler becomes the one that we go on to, as if it had been
 * there first.
 *
 * The PIT: it cannot be asked for its divisor. But it is seen to be wrong when
 * its mode differs, when more counts are left than it was given, or when ticks
 * come that no clock can explain.
 */

#include "watch.h"

#include "control.h"
#include "cpu.h"
#include "gate.h"
#include "pit.h"
#include "state.h"

#include <prof/port.h>

/* Ticks too many before the PIT is held to be reprogrammed. */
#define EXTRA_TICKS_MAX 16

static void say(const char *line)
{
    size_t bytes = 0;

    while (line[bytes] != '\0')
        bytes++;
    prof_port_write(line, bytes);
}

static void watch_gate(void)
{
    uint8_t vector = prof_state.config.timer_vector;
    uintptr_t handler = prof_gate_handler(vector);
    bool on;

    if (handler == (uintptr_t)prof_parasite || handler == 0)
        return;
    on = prof_interrupts_save();
    prof_gate_take(vector, (uintptr_t)prof_parasite, &prof_hot.next_handler);
    prof_interrupts_restore(on);
    prof_state.gate_taken_back++;
    say("prof: the timer's IDT gate had been replaced; taken back, and the new "
        "handler is called after each sample\n");
}

static bool pit_disturbed(void)
{
    bool own = prof_state.divisor != prof_state.config.kernel_divisor;
    bool on = prof_interrupts_save();
    struct prof_pit_state pit = prof_pit_read();

    prof_interrupts_restore(on);
    return prof_pit_disturbed(pit, prof_state.divisor, own) ||
           prof_state.time.missed < -EXTRA_TICKS_MAX ||
           prof_state.time.period < prof_state.time.nominal / 8 * 7;
}

static void watch_pit(void)
{
    bool on;

    if (!pit_disturbed())
        return;
    on = prof_interrupts_save();
    prof_pit_set(prof_state.divisor);
    prof_interrupts_restore(on);
    prof_control_restart_time();
    prof_state.pit_taken_back++;
    say("prof: the PIT had been reprogrammed; set to the sampling rate "
        "again\n");
}

uint64_t prof_watch_pass_period(void)
{
    if (prof_state.divisor == prof_state.config.kernel_divisor)
        return 0;
    return prof_timebase_cycles(&prof_state.time, prof_state.divisor,
                                prof_state.config.kernel_divisor);
}

/* The measured period steers the kernel's ticks. */
static void steer(void)
{
    uint64_t period = prof_watch_pass_period();
    bool on = prof_interrupts_save();

    prof_hot.pass_period = period;
    prof_interrupts_restore(on);
}

void prof_watch(void)
{
    if (!prof_state.running || prof_state.config.timer_vector == 0)
        return;
    watch_gate();
    watch_pit();
    steer();
}
