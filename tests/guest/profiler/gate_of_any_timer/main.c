/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The gates of timers that the profiler does not program, one by the command
 * line, timer=: the local APIC, periodic (apic) or set anew for each interrupt
 * (oneshot), to times that vary (tickless); the RTC (rtc); an HPET (hpet). And
 * the PIT behind an I/O APIC (ioapic), which is programmed as ever.
 */

#include "guest/entry.h"
#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/word.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <pic.h>
#include <prof/port.h>
#include <string.h>

#define APIC 0xfee00000u
#define APIC_EOI 0xb0u
#define APIC_SPURIOUS 0xf0u
#define APIC_TIMER 0x320u
#define APIC_COUNT 0x380u
#define APIC_DIVIDE 0x3e0u
#define APIC_PERIODIC (1u << 17)
#define APIC_HZ 1000000000u /* QEMU's */
#define IO_APIC 0xfec00000u
#define HPET 0xfed00000u
#define RTC_LINE 8u
#define RTC_VECTOR 40u
#define FREE_VECTOR 47u /* of a line that nothing uses */

static volatile uint32_t timer_ticks;

static volatile uint32_t *at(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

static bool is_apic(void)
{
    return guest_is("apic") || guest_is("oneshot") || guest_is("tickless");
}

static uint8_t vector(void)
{
    if (guest_is("hpet"))
        return GUEST_TIMER_VECTOR;
    return guest_is("rtc") ? RTC_VECTOR : FREE_VECTOR;
}

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    if (!guest_is("ioapic"))
        own.tick = (struct prof_tick){.kind = PROF_TICK_GATE,
                                      .irregular = guest_is("tickless")};
    own.tick.vector = vector();
    return __real_prof_init(memory, bytes, &own);
}

static void apic_eoi(void)
{
    *at(APIC + APIC_EOI) = 0;
}

/* The next interrupt of a tickless kernel comes after 0.5 to 1.5 ms. */
static uint32_t apic_count(void)
{
    return guest_is("tickless")
               ? APIC_HZ / 2000 + guest_random() % (APIC_HZ / 1000)
               : APIC_HZ / 1000;
}

/* The kernel's own handler. */
HANDLER static void on_timer(uintptr_t *pushed)
{
    (void)pushed;
    timer_ticks++;
    if (guest_is("oneshot") || guest_is("tickless"))
        *at(APIC + APIC_COUNT) = apic_count();
    if (is_apic() || guest_is("ioapic")) {
        apic_eoi();
    } else if (guest_is("rtc")) {
        arch_out8(0x70, 0x0c);
        (void)arch_in8(0x71);
        pic_eoi(RTC_LINE);
    } else {
        pic_eoi(0);
    }
}

static void start_apic(void)
{
    *at(APIC + APIC_SPURIOUS) = 0x1ff;
    *at(APIC + APIC_DIVIDE) = 0xb; /* by 1 */
    *at(APIC + APIC_TIMER) =
        FREE_VECTOR | (guest_is("apic") ? APIC_PERIODIC : 0);
    *at(APIC + APIC_COUNT) = apic_count();
}

/* Line 2, edge, to CPU 0. */
static void start_io_apic(void)
{
    *at(APIC + APIC_SPURIOUS) = 0x1ff;
    *at(IO_APIC) = 0x15;
    *at(IO_APIC + 0x10) = 0;
    *at(IO_APIC) = 0x14;
    *at(IO_APIC + 0x10) = FREE_VECTOR;
    current_eoi_mechanism = apic_eoi;
}

/* 1,024 Hz. */
static void start_rtc(void)
{
    arch_out8(0x70, 0x0a);
    arch_out8(0x71, 0x26);
    arch_out8(0x70, 0x0b);
    arch_out8(0x71, 0x42);
    arch_out8(0x70, 0x0c);
    (void)arch_in8(0x71);
    pic_unmask(2);
    pic_unmask(RTC_LINE);
}

/* Timer 0 instead of the PIT, at 1 kHz and more. */
static void start_hpet(void)
{
    uint32_t counts = (uint32_t)(1000000000000ull / *at(HPET + 4));

    *at(HPET + 0x10) = 0;
    *at(HPET + 0xf0) = 0;
    *at(HPET + 0xf4) = 0;
    *at(HPET + 0x100) = 0x4c; /* periodic, interrupts, sets its period */
    *at(HPET + 0x108) = counts;
    *at(HPET + 0x108) = counts;
    *at(HPET + 0x10) = 3;
    pic_unmask(0);
}

static void start_timer(void)
{
    bool on = arch_interrupts_save();

    pic_mask(0);
    guest_set_gate(vector(), guest_entry(0, on_timer));
    if (is_apic())
        start_apic();
    else if (guest_is("ioapic"))
        start_io_apic();
    else if (guest_is("rtc"))
        start_rtc();
    else
        start_hpet();
    arch_interrupts_restore(on);
}

__attribute__((noinline)) static void work(uint64_t cycles)
{
    uint64_t begin = arch_tsc();

    while (arch_tsc() - begin < cycles) {
        guest_pass();
        prof_poll();
    }
}

int service_main(void)
{
    struct prof_stats stats;
    uint32_t before, own;

    tap_plan(9);
    start_timer();
    own = timer_ticks;
    work(2000ull * GUEST_MS);
    own = timer_ticks - own;
    tap_ok(own > 100, "the kernel has a timer");
    tap_is_equal(prof_start(), 0, "its gate is taken");
    before = timer_ticks;
    work(2000ull * GUEST_MS);
    stats = guest_stats();
    before = timer_ticks - before;
    if (guest_is("ioapic")) {
        tap_is_between(before, 199, 201, "the kernel's handler runs as ever");
        tap_is_between((int64_t)stats.ticks, 1960, 2040, "at another rate");
        tap_is_equal(prof_set_rate(2000), 0, "the rate can be changed");
    } else {
        tap_is_between(before, own - own / 20, own + own / 20,
                       "the kernel's handler runs as ever");
        tap_is_between((int64_t)(stats.ticks - before), -1, 1,
                       "each of its ticks is a sample");
        tap_is_equal(prof_set_rate(5000), PROF_EFIXED,
                     "the rate cannot be changed, and that is said");
    }
    tap_ok(stats.missed <= 5 && stats.stolen_cycles < GUEST_TSC_HZ / 100 &&
               guest_accounted(&stats) == stats.ticks,
           "none is missed, no time is stolen");
    tap_note("%u missed, %u us stolen, %u mHz", (unsigned)stats.missed,
             (unsigned)(stats.stolen_cycles / 1000), (unsigned)prof_rate_mhz());
    prof_drain();
    tap_ok(guest_row((uintptr_t)work).samples > 0, "samples have functions");
    prof_stop();
    stats = guest_stats();
    before = timer_ticks;
    work(100ull * GUEST_MS);
    tap_ok(timer_ticks - before > 5, "stopped, the kernel has its timer");
    tap_is_equal((int64_t)guest_stats().ticks, (int64_t)stats.ticks,
                 "  and nothing is sampled");
    return tap_end();
}
