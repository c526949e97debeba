/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A driver that installs its handler after us would silently end the profile.
 * Its handler becomes the one that the stub goes on to, as if it had been there
 * first. But it may be one that goes on to what it found, as ours does; to go
 * on to that one would be a circle. So nothing is done at first: only if no
 * sample has come by the next check is the gate taken back.
 */

#include "tick/gate_chain.h"

#include "base/cpu.h"
#include "sample/cpu_state.h"
#include "sample/stub.h"
#include "tick/idt_gate.h"
#include "tick/message.h"
#include "tick/newest.h"
#include "tick/watchdog.h"

static struct {
    uintptr_t handler; /* found in the gate in our place, or 0 */
    uint64_t seen_tsc; /* when it was last looked at */
    bool goes_on;      /* and it goes on to our stub */
} other;

static bool has_stub(uintptr_t handler)
{
    return handler == (uintptr_t)prof_parasite ||
           (handler == other.handler && other.goes_on);
}

bool prof_gate_chain_enter(uint8_t vector)
{
    return has_stub(prof_gate_handler(vector)) ||
           prof_gate_take(vector, (uintptr_t)prof_parasite,
                          &prof_cpus[0].tick.next_handler);
}

void prof_gate_chain_leave(uint8_t vector)
{
    if (prof_gate_handler(vector) == (uintptr_t)prof_parasite)
        prof_gate_return(vector, prof_cpus[0].tick.next_handler);
}

/* Whether it is known by now that the handler in our gate does not go on to the
 * stub. */
static bool is_cut_off(uint64_t now, uint64_t period)
{
    bool sampled = prof_newest_tsc() > other.seen_tsc;

    if (sampled && !other.goes_on)
        prof_message(
            "prof: another handler in the timer's IDT gate calls ours; "
            "left as it is\n");
    if (sampled) {
        other.goes_on = true;
        other.seen_tsc = now;
    }
    return !sampled && now - other.seen_tsc > 2 * period;
}

static void take_back(uint8_t vector)
{
    bool on = prof_interrupts_save();

    prof_gate_take(vector, (uintptr_t)prof_parasite,
                   &prof_cpus[0].tick.next_handler);
    prof_interrupts_restore(on);
    other.handler = 0;
    prof_tick_count_gate();
    prof_message(
        "prof: the timer's IDT gate was replaced by other code; restored, and "
        "the other handler is called after each sample\n");
}

void prof_gate_chain_check(uint8_t vector, uint64_t period)
{
    uintptr_t handler = prof_gate_handler(vector);
    uint64_t now = prof_tsc();

    if (handler == (uintptr_t)prof_parasite || handler == 0) {
        other.handler = 0;
    } else if (handler != other.handler) {
        other.handler = handler;
        other.seen_tsc = now;
        other.goes_on = false;
    } else if (is_cut_off(now, period)) {
        take_back(vector);
    }
}
