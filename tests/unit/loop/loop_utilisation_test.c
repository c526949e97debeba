/* SPDX-License-Identifier: Apache-2.0 */
/* How busy the loop was, of the time that was not stolen: against what each
 * millisecond was. */

#include "../unit.h"

#include "loop_world.h"

#define BEGIN ((1ull << 32) - 5000) /* so that the upper half changes */

static PROF_TRACE_SITE(outer_site, "outer");
static struct prof_loop_task outer;

static void begin(void)
{
    loop_begin(BEGIN, PROF_LOOP_MEMORY_MIN);
    outer_site.loop = 0;
    outer = (struct prof_loop_task){0};
    drained();
    prof_loop_create(&outer, &outer_site, 7);
}

/* ---- of each millisecond, what it was */

enum what { BUSY, IDLE, STOLEN };

static uint8_t was[1u << 21];
static uint32_t ms_now;

static void be(enum what what, uint32_t ms)
{
    assert_true(ms_now + ms <= sizeof was);
    memset(was + ms_now, what, ms);
    ms_now += ms;
    pass(ms);
}

static uint32_t count(enum what what, uint32_t from, uint32_t to)
{
    uint32_t sum = 0;

    while (from < to)
        sum += was[from++] == what;
    return sum;
}

/* What the account says of the last whole seconds, and what they were. */
static void utilisation_is_right(void)
{
    static const uint32_t seconds[3] = {1, 10, 60};
    struct prof_loop_account account = account_now();
    uint32_t to = ms_now / HZ * HZ;

    for (unsigned i = 0; i < 3; i++) {
        uint32_t ms = seconds[i] * HZ < to ? seconds[i] * HZ : to;
        uint32_t idle = count(IDLE, to - ms, to);
        uint32_t whole = ms - count(STOLEN, to - ms, to);
        uint32_t busy = 0;

        if (whole != 0)
            busy = 1000 - (idle * 1000 + whole / 2) / whole;
        assert_int_equal(account.busy_seconds[i], ms / HZ);
        assert_int_equal(account.busy_permille[i], busy);
    }
}

/* Some time, in which something may be stolen; where that is known, the drain
 * says so at once. */
static void be_with_theft(enum what what)
{
    uint32_t ms = unit_below(3) == 0 ? PERIOD + unit_below(2500) : 0;
    uint64_t at = 0;
    struct prof_loop_frame frame;

    if (what == IDLE)
        prof_loop_idle(&frame);
    else
        prof_loop_run(&outer);
    be(what, unit_below(300));
    if (ms != 0) {
        be(STOLEN, ms);
        at = prof_loop_hosted_tsc;
    }
    be(what, unit_below(300));
    if (what == IDLE)
        prof_loop_idle_end(&frame);
    else
        prof_loop_pause(&outer);
    if (ms != 0)
        drain_finds(at, ms);
    drained();
}

FIXTURE(begin, loop_end);

TEST(utilisation_is_of_what_was_not_stolen)
{
    ms_now = 0;
    for (unsigned i = 0; i < 2500; i++) {
        be(BUSY, unit_below(20)); /* the loop's own */
        be_with_theft(unit_below(2) == 0 ? IDLE : BUSY);
        if (unit_below(3) == 0)
            utilisation_is_right();
        if (unit_below(100) == 0)
            prof_loop_reset();
    }
}

/* As in the account, of which it is a share. */
TEST(an_interrupt_is_not_idle)
{
    struct prof_loop_frame frame;
    struct prof_loop_account account;

    prof_loop_idle(&frame);
    pass(600);
    prof_loop_irq_enter();
    pass(400);
    prof_loop_irq_exit();
    prof_loop_idle_end(&frame);
    account = account_now();
    assert_int_equal(account.idle_cycles, 600);
    assert_int_equal(account.busy_permille[0], 400);
}

/* The drain may run in an interrupt of the idle stretch. */
TEST(an_idle_stretch_that_goes_on_is_counted)
{
    struct prof_loop_frame idle, drain;
    uint64_t at;

    prof_loop_idle(&idle);
    pass(1500);
    pass(1000);
    at = prof_loop_hosted_tsc;
    pass(500);
    prof_loop_profiler(&drain);
    drain_finds(at, 1000);
    assert_int_equal(account_now().busy_permille[1], 0);
    pass(1000);
    assert_int_equal(account_now().busy_seconds[1], 4);
    assert_int_equal(account_now().busy_permille[1], 333);
    prof_loop_leave(&drain);
    prof_loop_idle_end(&idle);
}
