/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the drain looks after besides samples.
 *
 * The gate: a driver that installs its handler after us would silently end the
 * profile. Its handler becomes the one that we go on to, as if it had been
 * there first. But it may be one that goes on to what it found, as we do; to
 * go on to that one would be a circle. So nothing is done at first sight: if
 * no sample has come by the next look, the gate is taken back.
 *
 * The PIT: it cannot be asked for its divisor. But it is seen to be wrong when
 * its mode differs or more counts are left than it was given. Ticks too few or
 * too many prove nothing, for a busy host loses some and makes up for others;
 * they are the reason to look more closely, at a count that begins anew.
 */

#include "watch.h"

#include "control.h"
#include "cpu.h"
#include "gate.h"
#include "jitter.h"
#include "pit.h"
#include "state.h"

#include <prof/port.h>

/* Ticks too many or too few before the PIT is looked at closely. A close look
 * takes longer than a period; so each one in vain doubles them, this often, and
 * a host that loses ticks all the time does not have us look all the time. */
#define TICKS_ODD 4
#define DOUBLED_MAX 5

/* The count that begins anew is judged to one part in this many. */
#define COUNT_SLACK 64

static void say(const char *line)
{
    size_t bytes = 0;

    while (line[bytes] != '\0')
        bytes++;
    prof_port_write(line, bytes);
}

/* When the newest sample was taken. */
static uint64_t newest_tsc(void)
{
    const struct prof_ring *ring = &prof_hot.ring;
    bool on = prof_interrupts_save();
    uint64_t stored = prof_entry_tsc(prof_ring_before(ring, ring->head));
    uint64_t spilled = prof_hot.spill.last_tsc;

    prof_interrupts_restore(on);
    return stored > spilled ? stored : spilled;
}

/* Whether it is known by now what the other handler in our gate does. */
static bool other_is_known(uint64_t now)
{
    uint64_t period = prof_state.time.period >> PROF_PERIOD_SHIFT;
    bool sampled = newest_tsc() > prof_state.other_seen_tsc;

    if (sampled && !prof_state.other_is_on_top)
        say("prof: another handler stands before ours in the timer's IDT gate "
            "and goes on to it; left as it is\n");
    if (sampled) {
        prof_state.other_is_on_top = true;
        prof_state.other_seen_tsc = now;
    }
    return !sampled && now - prof_state.other_seen_tsc > 2 * period;
}

static void take_gate_back(void)
{
    bool on = prof_interrupts_save();

    prof_gate_take(prof_state.config.timer_vector, (uintptr_t)prof_parasite,
                   &prof_hot.next_handler);
    prof_interrupts_restore(on);
    prof_state.other_handler = 0;
    prof_state.gate_taken_back++;
    say("prof: the timer's IDT gate had been replaced; taken back, and the new "
        "handler is called after each sample\n");
}

static void watch_gate(void)
{
    uintptr_t handler = prof_gate_handler(prof_state.config.timer_vector);
    uint64_t now = prof_tsc();

    if (handler == (uintptr_t)prof_parasite || handler == 0) {
        prof_state.other_handler = 0;
    } else if (handler != prof_state.other_handler) {
        prof_state.other_handler = handler;
        prof_state.other_seen_tsc = now;
        prof_state.other_is_on_top = false;
    } else if (other_is_known(now)) {
        take_gate_back();
    }
}

bool prof_watch_has_stub(uintptr_t handler)
{
    return handler == (uintptr_t)prof_parasite ||
           (handler == prof_state.other_handler && prof_state.other_is_on_top);
}

/* One look at the PIT, and between which two times it was. */
struct look {
    uint64_t begin, end; /* TSC */
    struct prof_pit_state pit;
    uint32_t divisor; /* that it should count down from */
};

/* Whether it is us who programmed the PIT. */
static bool own_pit(void)
{
    return prof_state.divisor != prof_state.config.kernel_divisor;
}

static bool disturbed(const struct look *look)
{
    return prof_pit_disturbed(look->pit, look->divisor, own_pit());
}

static struct look look_at_pit(void)
{
    struct look look;
    bool on = prof_interrupts_save();

    look.begin = prof_tsc();
    look.pit = prof_pit_read();
    look.end = prof_tsc();
    look.divisor = own_pit() ? prof_hot.jitter.divisor : prof_state.divisor;
    prof_interrupts_restore(on);
    return look;
}

/* Whether the count, just begun anew after (before), began below (divisor). */
static bool began_too_low(const struct look *before, const struct look *now)
{
    uint32_t period = (uint32_t)(prof_state.time.period >> PROF_PERIOD_SHIFT);
    uint64_t passed = (now->end - before->begin) * prof_state.divisor;

    return now->pit.count + prof_divide(passed, period) <
           now->divisor - now->divisor / COUNT_SLACK - 1;
}

/* Watches the count go down and begin anew, for a little more than the longest
 * period. */
static bool count_disturbed(void)
{
    uint64_t period = prof_state.time.period >> PROF_PERIOD_SHIFT;
    struct look before = look_at_pit(), now = before;
    uint64_t end = before.end + period + period * 5 / 8;

    while (now.end < end && now.pit.count <= before.pit.count) {
        before = now;
        now = look_at_pit();
        if (disturbed(&now))
            return true;
    }
    return now.pit.count > before.pit.count && !prof_pit_is_square(now.pit) &&
           began_too_low(&before, &now);
}

static bool pit_disturbed(void)
{
    struct look look = look_at_pit();
    int64_t missed = prof_state.time.missed - prof_state.missed_seen;
    int64_t odd = (int64_t)TICKS_ODD << prof_state.looks_in_vain;

    if (disturbed(&look))
        return true;
    if (missed >= -odd && missed <= odd)
        return false;
    prof_state.missed_seen = prof_state.time.missed;
    if (count_disturbed())
        return true;
    if (prof_state.looks_in_vain < DOUBLED_MAX)
        prof_state.looks_in_vain++;
    return false;
}

/* Interrupts off: the PIT is as it should be again. */
static void set_pit(void)
{
    if (own_pit())
        prof_jitter_begin();
    else
        prof_pit_set(prof_state.divisor);
}

static void watch_pit(void)
{
    bool on;

    if (!pit_disturbed())
        return;
    on = prof_interrupts_save();
    set_pit();
    prof_interrupts_restore(on);
    prof_control_restart_time();
    prof_state.missed_seen = prof_state.time.missed;
    prof_state.looks_in_vain = 0;
    prof_state.pit_taken_back++;
    say("prof: the PIT had been reprogrammed; set to the sampling rate "
        "again\n");
}

uint64_t prof_watch_pass_period(void)
{
    if (!own_pit())
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
