/* SPDX-License-Identifier: Apache-2.0 */

/* The table of objects follows the ring: exact, though nobody drains, and
 * though interrupts (signals here) come at any moment. */

#include "../unit.h"

#include "trace_world.h"

#include <signal.h>
#include <sys/time.h>

#define SLOTS 256u   /* of a ring in the least memory */
#define KEPT 4u      /* objects that live long; see below */
#define SIGNALS 300u /* at least */
#define TURNS 200000u

/* Signals in the middle of one turn: on a busy host they come faster than it
 * goes on, and more than these find no room to set an event aside. */
#define SIGNALS_A_TURN 2u

/* An object has PROF_OBJECTS_PROBES slots, and where signals are in step with
 * the turns all that live may have the same ones. */
_Static_assert(KEPT + 3 < PROF_OBJECTS_PROBES, "there is room for those, too");

static PROF_TRACE_SITE(site, "here");
static PROF_TRACE_NAME(why, "why");

static void begin_flight(void)
{
    open_stream();
    site.tag = why.tag = 0;
    trace_open(PROF_TRACE_MEMORY_MIN, PROF_TRACE_FLIGHT);
}

static bool lives(uint32_t object)
{
    const struct prof_object *found = prof_objects_find(object);

    return found != NULL && (found->state & PROF_OBJECT_LIVE) != 0;
}

/* How many objects of the table live. */
static uint32_t living(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i <= prof_trace_cpus[0].objects.mask; i++)
        count +=
            (prof_trace_cpus[0].objects.slots[i].state & PROF_OBJECT_LIVE) != 0;
    return count;
}

/* One that ends at once, in each of the ways. */
static void short_life(uint32_t turn)
{
    uint32_t object = prof_trace_create(PROF_TRACE_PROMISE, &site);

    switch (turn % 5) {
    case 0:
        prof_trace_resolve(object);
        break;
    case 1:
        prof_trace_fail(object, &why);
        break;
    case 2:
        prof_trace_cancel(object);
        break;
    case 3:
        prof_trace_gone(object);
        break;
    default:
        prof_trace_becomes(object, 1);
        break;
    }
}

FIXTURE(begin_flight, trace_close);

TEST(overwritten_events_are_in_the_table)
{
    uint32_t task = prof_trace_create(PROF_TRACE_TASK, &site), other;

    prof_trace_switch(task);
    other = prof_trace_create(PROF_TRACE_SLEEP, &site);
    prof_trace_label_text(other, "label", 5);
    for (uint32_t i = 0; i < 20 * SLOTS; i++) {
        short_life(i);
        prof_trace_read(task);
    }
    assert_int_equal(stats().untracked, 0);
    assert_int_equal(living(), 2);
    assert_true(lives(task) && lives(other));
    assert_int_equal(prof_objects_find(other)->creator, task);
    assert_int_equal(prof_objects_find(other)->state >> 8 & 0xff,
                     PROF_TRACE_SLEEP);
    assert_int_equal(prof_objects_find(other)->label, 2);
}

/* Far more events that the table does not need than the ring has. */
TEST(nothing_is_taken_twice_or_late)
{
    uint32_t first = prof_trace_create(PROF_TRACE_TASK, &site), second;

    for (uint32_t i = 0; i < 10 * SLOTS; i++)
        prof_trace_read(first);
    second = prof_trace_create(PROF_TRACE_TASK, &site);
    prof_trace_resolve(first);
    for (uint32_t i = 0; i < 10 * SLOTS + 7; i++)
        prof_trace_read(second);
    assert_int_equal(stats().untracked, 0);
    assert_false(lives(first));
    assert_true(lives(second));
}

/* ---- in the middle of anything */

static volatile uint32_t signals, in_this_turn;
static volatile uint32_t kept_objects[KEPT];

static void on_signal(int unused)
{
    uint32_t at = signals % KEPT;

    (void)unused;
    if (in_this_turn++ >= SIGNALS_A_TURN)
        return;
    prof_trace_irq_enter(32);
    if (kept_objects[at] != 0)
        prof_trace_resolve(kept_objects[at]);
    kept_objects[at] = prof_trace_create(PROF_TRACE_TIMER, &site);
    short_life(signals);
    prof_trace_irq_exit(32);
    signals++;
}

static void interrupt_often(uint32_t microseconds)
{
    struct itimerval period = {{0, (suseconds_t)microseconds},
                               {0, (suseconds_t)microseconds}};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &period, NULL), 0);
}

TEST(interrupts_in_the_middle_leave_it_exact)
{
    uint32_t mine = prof_trace_create(PROF_TRACE_TASK, &site), count = 0;

    signals = 0;
    interrupt_often(100);
    for (uint32_t i = 0; i < TURNS || signals < SIGNALS; i++) {
        in_this_turn = 0;
        short_life(i);
        if (i % 7 == 0) {
            prof_trace_resolve(mine);
            mine = prof_trace_create(PROF_TRACE_TASK, &site);
        }
        if (i % 5000 == 0)
            prof_trace_flush();
    }
    interrupt_often(0);
    assert_int_equal(stats().untracked, 0);
    assert_true(lives(mine));
    for (uint32_t i = 0; i < KEPT; i++) {
        assert_true(kept_objects[i] != PROF_TRACE_UNKNOWN);
        assert_true(kept_objects[i] == 0 || lives(kept_objects[i]));
        count += kept_objects[i] != 0;
    }
    assert_int_equal(living(), count + 1);
}

/* ---- what is left out */

/* An event that interrupts have gone around: nobody else writes its slot. */
TEST(an_object_without_an_event_is_unknown)
{
    uint32_t at = prof_trace_take(&prof_trace_cpus[0]), object = 0;
    struct prof_trace_record *record = prof_trace_slot(&prof_trace_cpus[0], at);

    assert_true(prof_trace_claim(record));
    for (uint32_t i = 0; i < SLOTS; i++)
        object = prof_trace_create(PROF_TRACE_TASK, &site);
    assert_true(object == PROF_TRACE_UNKNOWN);
    record->what = PROF_TRACE_DID_READ;
    record->at = at;
    assert_int_equal(stats().untracked, 1);
    assert_true(prof_trace_create(PROF_TRACE_TASK, &site) == SLOTS + 1);
    assert_int_equal(living(), SLOTS - 1);
}
