/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The PIT as an NMI: at any rate, with all ticks accounted for, beside the
 * kernel's own timer. Code with interrupts off is sampled, and known to be so.
 * What other code does to the entry of the I/O APIC, to the PIT and to the gate
 * is noticed and taken back. After a stop all is as it was, and NMIs are the
 * kernel's again.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <arch/trap.h>
#include <kernel/service.h>

#define NMI_VECTOR 2u
#define IOAPIC 0xfec00000u
#define IOAPIC_WINDOW 0x10u
#define IOAPIC_LOW 0x14u /* the PIT's entry */
#define IOAPIC_HIGH 0x15u
#define IOAPIC_MASKED 0x10000u
#define APIC 0xfee00000u
#define APIC_COMMAND 0x300u
#define APIC_NMI_TO_SELF 0x44400u
#define PIC_MASK 0x21u

static const struct {
    uint32_t hz, divisor;
} rates[] = {{1000, 1193}, {20000, 60}, {100, 11932}, {5000, 239}};

static volatile uint32_t *at(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

static uint32_t entry(uint32_t number)
{
    bool on = arch_interrupts_save();
    uint32_t value;

    *at(IOAPIC) = number;
    value = *at(IOAPIC + IOAPIC_WINDOW);
    arch_interrupts_restore(on);
    return value;
}

static void set_entry(uint32_t number, uint32_t value)
{
    bool on = arch_interrupts_save();

    *at(IOAPIC) = number;
    *at(IOAPIC + IOAPIC_WINDOW) = value;
    arch_interrupts_restore(on);
}

/* What a stop puts back. */
struct machine {
    uint32_t low, high;
    uint64_t gate;
    uint8_t pic;
};

static struct machine machine(void)
{
    return (struct machine){.low = entry(IOAPIC_LOW),
                            .high = entry(IOAPIC_HIGH),
                            .gate = *(uint64_t *)guest_gate(NMI_VECTOR),
                            .pic = arch_in8(PIC_MASK)};
}

__attribute__((noinline)) static void work(uint64_t cycles)
{
    uint64_t begin = arch_tsc();

    while (arch_tsc() - begin < cycles) {
        guest_spin(GUEST_MS / 100);
        prof_drain();
    }
}

__attribute__((noinline)) static void spin_off(uint64_t cycles)
{
    bool on = arch_interrupts_save();
    uint64_t begin = arch_tsc();

    while (arch_tsc() - begin < cycles)
        guest_pass_few();
    arch_interrupts_restore(on);
}

static void test_rate(uint32_t hz, uint32_t divisor)
{
    struct prof_stats stats;
    uint64_t due;

    (void)prof_set_rate(hz);
    prof_reset();
    due = arch_tsc();
    work(1000ull * GUEST_MS);
    due = guest_ticks_in(arch_tsc() - due, divisor);
    stats = guest_stats();
    tap_note("%u Hz: %u mHz, %u ticks, %u missed, %u us stolen, %u duplicates",
             (unsigned)hz, (unsigned)prof_rate_mhz(), (unsigned)stats.ticks,
             (unsigned)stats.missed, (unsigned)(stats.stolen_cycles / 1000),
             (unsigned)stats.tick.nmi_duplicates);
    tap_is_between((int64_t)stats.ticks, (int64_t)(due - due / 50 - 16),
                   (int64_t)(due + due / 50 + 16), "as many as the rate says");
    tap_ok(stats.missed <= 2 && stats.stolen_cycles < GUEST_MS &&
               guest_accounted(&stats) == stats.ticks &&
               stats.tick.nmi_duplicates == 0,
           "  all accounted for");
}

/* 70 of 100 ms with interrupts off. */
static void test_interrupts_off(void)
{
    struct prof_stats stats;
    struct prof_row row;
    uint64_t off = 0, begin;

    (void)prof_set_rate(5000);
    prof_reset();
    begin = arch_tsc();
    for (int i = 0; i < 20; i++) {
        uint64_t then = arch_tsc();

        spin_off(35ull * GUEST_MS);
        off += arch_tsc() - then;
        work(15ull * GUEST_MS);
    }
    begin = arch_tsc() - begin;
    stats = guest_stats();
    row = guest_row((uintptr_t)spin_off);
    tap_note("%u of %u samples with interrupts off, %u in the function",
             (unsigned)stats.irqs_off, (unsigned)stats.ticks,
             (unsigned)row.samples);
    tap_is_between((int64_t)(stats.irqs_off_cycles * 1000 / begin),
                   (int64_t)(off * 1000 / begin) - 10,
                   (int64_t)(off * 1000 / begin) + 30,
                   "interrupts off: seen, for as long as they were");
    tap_is_between((int64_t)row.samples, (int64_t)(stats.irqs_off * 94 / 100),
                   (int64_t)(stats.irqs_off * 102 / 100 + 4),
                   "  in the function that holds them off");
    tap_ok(stats.missed <= 2 && stats.masked == 0 &&
               guest_accounted(&stats) == stats.ticks,
           "  none was late, or missed");
    prof_reset();
    for (int i = 0; i < 100; i++) {
        guest_spin(GUEST_MS);
        if (i % 10 == 0)
            prof_drain();
    }
    stats = guest_stats();
    tap_is_between((int64_t)stats.irqs_off, 0, (int64_t)stats.ticks / 50,
                   "  and with interrupts on, next to none");
}

/* While the vector is full the overflow table takes over, as ever. */
static void test_overflow(void)
{
    struct prof_stats stats;

    (void)prof_set_rate(20000);
    prof_reset();
    spin_off(500ull * GUEST_MS);
    stats = guest_stats();
    tap_ok(stats.overflowed > 0 || stats.queued > 5000, "long with no drain");
    work(100ull * GUEST_MS);
    stats = guest_stats();
    tap_note("%u ticks, %u overflowed, %u dropped", (unsigned)stats.ticks,
             (unsigned)stats.overflowed, (unsigned)stats.dropped);
    tap_ok(stats.overflowed > 1000 && stats.missed <= 2 &&
               guest_accounted(&stats) == stats.ticks,
           "  all accounted for");
    tap_note("%u with interrupts off, %u us", (unsigned)stats.irqs_off,
             (unsigned)(stats.irqs_off_cycles / (GUEST_MS / 1000)));
    tap_ok(stats.irqs_off >= stats.overflowed &&
               stats.irqs_off_cycles > 495ull * GUEST_MS &&
               stats.irqs_off_cycles < 530ull * GUEST_MS,
           "  and known to be with interrupts off");
    (void)prof_set_rate(1000);
    prof_drain();
    prof_reset();
}

/* Samples go on at the rate. */
static void test_goes_on(void)
{
    uint64_t ticks = guest_stats().ticks;

    work(200ull * GUEST_MS);
    tap_is_between((int64_t)(guest_stats().ticks - ticks), 170, 230,
                   "  samples go on");
}

/* Since the reset at (begin) no NMI came for (ms) while the entry was masked:
 * that time is in no account. */
static void test_gap(uint64_t begin, uint32_t ms)
{
    uint64_t passed = arch_tsc() - begin, covered;
    struct prof_stats stats = guest_stats();

    covered = stats.elapsed_cycles + stats.own_cycles + stats.stolen_cycles;
    tap_note("%u us stolen, %u missed, %u of %u us covered",
             (unsigned)(stats.stolen_cycles / (GUEST_MS / 1000)),
             (unsigned)stats.missed, (unsigned)(covered / (GUEST_MS / 1000)),
             (unsigned)(passed / (GUEST_MS / 1000)));
    tap_ok(stats.stolen_cycles < GUEST_MS && stats.missed <= 2,
           "  meanwhile nothing is stolen, and no tick missed");
    tap_ok(guest_accounted(&stats) == stats.ticks, "  all accounted for");
    tap_is_between((int64_t)(passed - covered) / GUEST_MS, ms - 2, ms + 12,
                   "  and no sample covers that time");
}

static void test_masked(void)
{
    uint64_t begin;

    prof_reset();
    begin = arch_tsc();
    work(100ull * GUEST_MS);
    set_entry(IOAPIC_LOW, IOAPIC_MASKED);
    guest_spin(150ull * GUEST_MS);
    work(100ull * GUEST_MS);
    tap_is_equal(guest_stats().tick.nmi_taken_back, 1,
                 "the entry is masked: taken back");
    test_gap(begin, 150);
}

static void test_taken_back(void)
{
    uint32_t low = entry(IOAPIC_LOW), high = entry(IOAPIC_HIGH);

    test_masked();
    test_goes_on();
    set_entry(IOAPIC_HIGH, 0x42000000);
    work(50ull * GUEST_MS);
    tap_is_equal(guest_stats().tick.nmi_taken_back, 2,
                 "it goes to a CPU that is not there: taken back");
    test_goes_on();
    tap_ok(entry(IOAPIC_LOW) == low && entry(IOAPIC_HIGH) == high,
           "  as it was");
    set_entry(IOAPIC_LOW, IOAPIC_MASKED);
    set_entry(IOAPIC_HIGH, 0);
    work(50ull * GUEST_MS);
    guest_program_pit(GUEST_PIT_REPEATS, 30000);
    work(500ull * GUEST_MS);
    tap_is_equal(guest_stats().tick.pit_taken_back, 1,
                 "the PIT is slower: taken back");
    test_goes_on();
    guest_program_pit(GUEST_PIT_ONCE, 1193);
    work(500ull * GUEST_MS);
    tap_is_equal(guest_stats().tick.pit_taken_back, 2,
                 "the PIT is one-shot: taken back");
    test_goes_on();
}

static uintptr_t handler_of(const struct guest_gate *gate)
{
    uintptr_t handler = gate->offset_low | (uintptr_t)gate->offset_high << 16;

#ifdef __x86_64__
    handler |= (uintptr_t)gate->offset_top << 32;
#endif
    return handler;
}

/* A driver sets the handler that the kernel had. */
static void test_gate(uintptr_t kernels)
{
    guest_set_gate(NMI_VECTOR, kernels);
    work(400ull * GUEST_MS);
    tap_is_equal(guest_stats().tick.gate_taken_back, 1,
                 "the gate is replaced: taken back");
    test_goes_on();
}

/* Two NMIs in a row are one sample more, and a duplicate. */
static void test_duplicates(void)
{
    uint64_t ticks;
    uint32_t before;

    (void)prof_set_rate(20);
    work(10ull * GUEST_MS);
    ticks = guest_stats().ticks;
    before = guest_stats().tick.nmi_duplicates;
    for (int i = 0; i < 2; i++)
        *at(APIC + APIC_COMMAND) = APIC_NMI_TO_SELF;
    guest_spin(GUEST_MS / 100);
    tap_ok(guest_stats().ticks - ticks == 1 &&
               guest_stats().tick.nmi_duplicates - before == 1,
           "an NMI right after a sample is a duplicate");
    tap_note("%u and %u", (unsigned)(guest_stats().ticks - ticks),
             (unsigned)(guest_stats().tick.nmi_duplicates - before));
    (void)prof_set_rate(1000);
}

/* The register that selects another is the kernel's. */
static void test_select(void)
{
    bool on = arch_interrupts_save();
    uint32_t seen;

    *at(IOAPIC) = 0x12;
    (void)prof_set_rate(2000);
    prof_stop();
    (void)prof_start();
    seen = *at(IOAPIC);
    arch_interrupts_restore(on);
    (void)prof_set_rate(1000);
    tap_is_equal(seen & 0xff, 0x12, "the I/O APIC's index is left alone");
}

int service_main(void)
{
    struct machine before = machine(), after;
    uintptr_t kernels = handler_of(guest_gate(NMI_VECTOR));
    uint64_t ticks;
    uint32_t nmis;

    tap_plan(39);
    tap_is_equal(prof_start(), 0, "NMIs are taken");
    tap_ok(prof_period_varies(), "their period varies");
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        test_rate(rates[i].hz, rates[i].divisor);
    tap_ok(guest_row((uintptr_t)work).samples > 0, "samples have functions");
    test_interrupts_off();
    test_overflow();
    test_taken_back();
    test_gate(kernels);
    test_duplicates();
    test_select();
    test_goes_on();
    prof_stop();
    after = machine();
    tap_ok(after.low == IOAPIC_MASKED && after.high == before.high &&
               after.gate == before.gate && after.pic == before.pic,
           "stopped: all is as it was");
    ticks = guest_stats().ticks;
    nmis = arch_nmi_count;
    work(100ull * GUEST_MS);
    tap_is_equal((int64_t)guest_stats().ticks, (int64_t)ticks,
                 "  nothing is sampled");
    *at(APIC + APIC_COMMAND) = APIC_NMI_TO_SELF;
    guest_spin(GUEST_MS / 100);
    tap_is_equal(arch_nmi_count - nmis, 1, "  an NMI is the kernel's");
    tap_is_equal((int64_t)guest_stats().ticks, (int64_t)ticks,
                 "  and no sample");
    return tap_end();
}
