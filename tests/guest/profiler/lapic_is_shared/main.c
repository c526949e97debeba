/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The local APIC's timer, shared with the kernel. The kernel's deadlines, at
 * random times, come as they do without the profiler: each once, never early,
 * and at most a microsecond later than it was armed for; at 1 kHz and at 20,
 * across starts, stops and other rates. Samples come at their rate, and every
 * tick is in one account. (Its period is chosen anew every 32 ticks: in 20 ms
 * there may be 13 ticks or 40.)
 *
 * A timer that is not as the kernel has said is refused; one that is armed
 * without a word to the profiler is noticed.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <arch/timer.h>
#include <arch/trap.h>
#include <kernel/service.h>
#include <prof/lapic.h>

#define APIC 0xfee00000u
#define APIC_EOI 0xb0u
#define APIC_TIMER 0x320u
#define APIC_COUNT 0x380u
#define APIC_LEFT 0x390u
#define VECTOR (ARCH_IRQ_BASE + ARCH_IRQ_TIMER)
#define MASKED (1u << 16)
#define PERIODIC (1u << 17)

#define DEADLINES 300u
#define LATE_MAX (GUEST_MS / 1000) /* a microsecond */
#define SHORT_DIVISOR 1193u        /* of the PIT's clock, 1 kHz */

static volatile uint32_t handled;  /* the kernel's handler has run */
static volatile uint64_t came_tsc; /* when it last did */

static volatile uint32_t *at(uint32_t offset)
{
    return (volatile uint32_t *)(uintptr_t)(APIC + offset);
}

static void on_timer(void)
{
    came_tsc = arch_tsc();
    handled++;
    *at(APIC_EOI) = 0;
}

static uint64_t late_most; /* of deadlines, in cycles, since it was set to 0 */
static uint32_t early;     /* how many came before their time */

/* Arms for (cycles) from now, waits for it, and a little longer. Returns how
 * often the handler has run. */
static uint32_t await(uint64_t cycles, void (*meanwhile)(void))
{
    uint32_t before = handled;
    bool on = arch_interrupts_save();
    uint64_t begin = arch_tsc();

    *at(APIC_COUNT) = prof_lapic_arm((uint32_t)cycles);
    arch_interrupts_restore(on);
    if (meanwhile != NULL)
        meanwhile();
    while (handled == before && arch_tsc() - begin < cycles + GUEST_MS)
        ;
    if (came_tsc < begin + cycles)
        early++;
    else if (came_tsc - begin - cycles > late_most)
        late_most = came_tsc - begin - cycles;
    guest_spin(GUEST_MS / 50);
    return handled - before;
}

/* Deadlines from 2 us to 4 ms away. Returns how many did not come once. */
static uint32_t many(uint32_t count)
{
    uint32_t wrong = 0;

    late_most = early = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t cycles = guest_random() % (i % 4 == 0 ? 4000000u : 60000u);

        wrong += await(2000 + cycles, NULL) != 1;
        prof_drain();
    }
    return wrong;
}

static void expect_exact(uint32_t count, uint64_t least, const char *what)
{
    uint32_t wrong = many(count);

    tap_note("%s: at most %u ns late", what, (unsigned)late_most);
    tap_ok(wrong == 0 && early == 0 && late_most <= least + LATE_MAX, what);
}

/* (begin): when they began to count. */
static void test_accounts(uint64_t begin, const char *what)
{
    struct prof_stats stats = guest_stats();
    uint64_t due = guest_ticks_in(arch_tsc() - begin, SHORT_DIVISOR);

    tap_is_between((int64_t)stats.ticks, (int64_t)due - 40, (int64_t)due + 40,
                   what);
    tap_note("%u ticks, %u missed, %u us stolen", (unsigned)stats.ticks,
             (unsigned)stats.missed, (unsigned)(stats.stolen_cycles / 1000));
    tap_ok(stats.missed <= 2 && stats.stolen_cycles < GUEST_MS &&
               guest_accounted(&stats) == stats.ticks,
           "  none is missed, no time is stolen, all are accounted for");
}

static void stop(void)
{
    guest_spin(GUEST_MS);
    prof_stop();
}

static void start(void)
{
    guest_spin(GUEST_MS);
    (void)prof_start();
}

static void change_rate(void)
{
    guest_spin(GUEST_MS);
    (void)prof_set_rate(5000);
    guest_spin(GUEST_MS);
    (void)prof_set_rate(1000);
}

static void test_changes(uint64_t least)
{
    late_most = early = 0;
    tap_is_equal(await(5 * GUEST_MS, stop), 1, "stopped before a deadline");
    tap_is_equal(await(5 * GUEST_MS, start), 1, "started before one");
    tap_is_equal(await(5 * GUEST_MS, change_rate), 1, "other rates before one");
    tap_note("at most %u ns late", (unsigned)late_most);
    tap_ok(early == 0 && late_most <= least + LATE_MAX, "  all in time");
    late_most = 0;
    for (uint32_t i = 0; i < 20; i++) {
        (void)await(GUEST_MS / 10, i % 2 == 0 ? prof_stop : NULL);
        (void)prof_start();
    }
    tap_ok(early == 0, "  none is early");
}

/* Deadlines that are taken back, and one that is far away. */
static void test_disarmed(void)
{
    uint32_t before = handled;
    uint64_t ticks;
    bool on = arch_interrupts_save();

    *at(APIC_COUNT) = prof_lapic_arm(5 * GUEST_MS);
    *at(APIC_COUNT) = prof_lapic_arm(0);
    arch_interrupts_restore(on);
    ticks = guest_stats().ticks;
    guest_spin(20ull * GUEST_MS);
    tap_is_equal(handled, before, "a deadline that was taken back");
    tap_is_between((int64_t)(guest_stats().ticks - ticks), 12, 42,
                   "  samples go on");
    late_most = early = 0;
    tap_is_equal(await(700ull * GUEST_MS, NULL), 1, "one in 0.7 s");
    tap_note("%u ns late", (unsigned)late_most);
    tap_ok(early == 0 && late_most <= LATE_MAX, "  in time");
    late_most = early = 0;
    tap_is_equal(await(700ull * GUEST_MS, stop), 1, "stopped 0.7 s before one");
    tap_note("%u ns late", (unsigned)late_most);
    tap_ok(early == 0 && late_most <= LATE_MAX, "  in time");
}

/* (timer): what the local vector table says. */
static int start_with(uint32_t timer)
{
    int error;

    *at(APIC_TIMER) = timer;
    error = prof_start();
    *at(APIC_TIMER) = VECTOR;
    prof_stop();
    return error;
}

static void test_refused(void)
{
    prof_stop();
    tap_is_equal(start_with(VECTOR | MASKED), PROF_ELAPIC, "masked: refused");
    tap_is_equal(start_with(VECTOR | PERIODIC), PROF_ELAPIC,
                 "periodic: refused");
    tap_is_equal(start_with(VECTOR - 1), PROF_ELAPIC,
                 "another vector: refused");
    tap_is_equal(start_with(VECTOR), 0, "one-shot: taken");
}

/* The kernel writes to the timer without prof_lapic_arm(). */
static void test_armed_behind(void)
{
    uint32_t before = guest_stats().tick.lapic_taken_back;
    uint64_t ticks;

    (void)prof_start();
    guest_spin(3ull * GUEST_MS);
    *at(APIC_COUNT) = 0;
    guest_spin(10ull * GUEST_MS);
    prof_drain();
    ticks = guest_stats().ticks;
    tap_is_equal(guest_stats().tick.lapic_taken_back - before, 1,
                 "armed behind our back: noticed");
    guest_spin(20ull * GUEST_MS);
    tap_is_between((int64_t)(guest_stats().ticks - ticks), 12, 42,
                   "  samples go on");
}

int service_main(void)
{
    uint64_t least, begin;

    tap_plan(24);
    arch_irq_handle(ARCH_IRQ_TIMER, on_timer);
    prof_stop();
    late_most = early = 0;
    tap_is_equal(many(DEADLINES), 0, "without the profiler");
    least = late_most;
    tap_note("at most %u ns late", (unsigned)least);
    prof_reset();
    tap_is_equal(prof_start(), 0, "the timer is shared");
    begin = arch_tsc();
    tap_ok(prof_period_varies(), "its period varies");
    expect_exact(DEADLINES, least, "at 1 kHz");
    test_accounts(begin, "as many samples as the rate says");
    (void)prof_set_rate(20000);
    expect_exact(DEADLINES, least, "at 20 kHz");
    (void)prof_set_rate(1000);
    test_changes(least);
    test_disarmed();
    test_refused();
    test_armed_behind();
    return tap_end();
}
