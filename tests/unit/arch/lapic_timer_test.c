/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local APIC's timer on CPUs that QEMU's emulator is not: with TSC-deadline
 * mode, in x2APIC mode, with a timer of any frequency. Registers, CPUID and TSC
 * are this file's.
 */

#include "../unit.h"

/* instead of the headers' instructions, which a program may not use */
#define ARCH_CPU_H
#define CPU_BITS_H

#define CPUID_ECX_TSC_DEADLINE (1u << 24)
#define BASE 0xfee00000u
#define TSC_HZ 2500000000ull
#define STEP 1000u /* cycles from one read of the TSC to the next */

static struct {
    struct {
        uint32_t c, d;
    } features;         /* CPUID, leaf 1 */
    uint64_t base;      /* MSR 0x1b */
    uint64_t tsc;       /* moves on when it is read */
    uint64_t hz;        /* of the counter */
    uint64_t started;   /* TSC when it was */
    uint32_t reg[0x40]; /* by offset / 16 */
    uint64_t deadline;  /* MSR 0x6e0 */
    bool interrupts_on;
    bool fenced;         /* since the last write to memory */
    bool deadline_early; /* written without a fence before it */
    unsigned in_memory, in_msr, eois;
    void (*timer)(void); /* handler of line 16 */
} cpu;

static unsigned calls;

static void on_fire(void)
{
    calls++;
}

static uint64_t arch_tsc(void)
{
    return cpu.tsc += STEP;
}

static bool arch_interrupts_save(void)
{
    assert_true(cpu.interrupts_on);
    cpu.interrupts_on = false;
    return true;
}

static void arch_interrupts_restore(bool on)
{
    cpu.interrupts_on = on;
}

static uint32_t reg_read(uint32_t number)
{
    uint64_t counted = (cpu.tsc - cpu.started) * cpu.hz / TSC_HZ;
    uint32_t initial = cpu.reg[0x38];

    if (number == 0x39)
        return counted < initial ? initial - (uint32_t)counted : 0;
    return cpu.reg[number];
}

static void reg_write(uint32_t number, uint32_t value)
{
    if (number == 0x38)
        cpu.started = cpu.tsc;
    if (number == 0x0b) {
        assert_int_equal(value, 0);
        cpu.eois++;
    }
    cpu.reg[number] = value;
}

static uint32_t cpu_mapped(uintptr_t address)
{
    assert_in_range(address, BASE, BASE + 0x3f0);
    cpu.in_memory++;
    return reg_read((uint32_t)(address - BASE) / 16);
}

static void cpu_set_mapped(uintptr_t address, uint32_t value)
{
    assert_in_range(address, BASE, BASE + 0x3f0);
    cpu.in_memory++;
    cpu.fenced = false;
    reg_write((uint32_t)(address - BASE) / 16, value);
}

static uint64_t cpu_msr(uint32_t number)
{
    if (number == 0x1b)
        return cpu.base;
    assert_in_range(number, 0x800, 0x83f);
    cpu.in_msr++;
    return reg_read(number - 0x800);
}

static void cpu_set_msr(uint32_t number, uint64_t value)
{
    if (number == 0x1b) {
        cpu.base = value;
    } else if (number == 0x6e0) {
        cpu.deadline = value;
        cpu.deadline_early = cpu.deadline_early || !cpu.fenced;
    } else {
        assert_in_range(number, 0x800, 0x83f);
        assert_true(value <= UINT32_MAX);
        cpu.in_msr++;
        reg_write(number - 0x800, (uint32_t)value);
    }
}

static void cpu_fence(void)
{
    cpu.fenced = true;
}

#include "../../../arch/x86/lapic.c"
#include "../../../arch/x86/lapic_timer.c"

bool arch_cpu_has(enum arch_cpu_feature feature)
{
    switch (feature) {
    case ARCH_CPU_MSR:
        return (cpu.features.d & 1u << 5) != 0;
    case ARCH_CPU_APIC:
        return (cpu.features.d & 1u << 9) != 0;
    case ARCH_CPU_TSC_DEADLINE:
        return (cpu.features.c & 1u << 24) != 0;
    default:
        return false;
    }
}

void arch_irq_handle(unsigned line, arch_irq_handler *handler)
{
    if (line == ARCH_IRQ_TIMER)
        cpu.timer = handler;
}

#define HAS_APIC (1u << 5 | 1u << 9)
#define ENABLED (1u << 11)
#define X2APIC (1u << 10)
#define TIMER_VECTOR (ARCH_IRQ_BASE + ARCH_IRQ_TIMER)

static void begin_test(void)
{
    memset(&cpu, 0, sizeof cpu);
    cpu.features.d = HAS_APIC;
    cpu.base = BASE;
    cpu.hz = 1000000000u;
    cpu.interrupts_on = true;
    calls = 0;
}

static void end_test(void)
{
    arch_timer_stop();
}

FIXTURE(begin_test, end_test);

TEST(a_cpu_without_one_has_no_timer)
{
    cpu.features.d = 1u << 5;
    assert_false(arch_timer_start(TSC_HZ, on_fire));
    arch_timer_arm(1000);
    assert_int_equal(cpu.in_memory + cpu.in_msr, 0);
    assert_int_equal(cpu.deadline, 0);
}

TEST(a_timer_that_does_not_count_is_none)
{
    cpu.hz = 0;
    assert_false(arch_timer_start(TSC_HZ, on_fire));
    cpu.reg[0x38] = 0;
    arch_timer_arm(1000);
    assert_int_equal(cpu.reg[0x38], 0);
}

TEST(it_is_turned_on_and_let_through)
{
    assert_true(arch_timer_start(TSC_HZ, on_fire));
    assert_string_equal(arch_timer_name(), "local APIC, one-shot");
    assert_int_equal(cpu.base, BASE | ENABLED);
    assert_int_equal(cpu.reg[0x0f] & 1u << 8, 1u << 8);
    assert_int_equal(cpu.reg[0x32], TIMER_VECTOR);
    assert_int_equal(cpu.reg[0x35], 7u << 8);
    assert_int_equal(cpu.reg[0x36], 4u << 8);
    assert_int_equal(cpu.in_msr, 0);
}

/* The counter's frequency is found by the TSC, to a part in 1,000. */
TEST(it_is_armed_by_its_own_frequency)
{
    static const uint64_t rates[] = {25000000, 100000000, 1000000000};

    for (size_t i = 0; i < COUNT(rates); i++) {
        cpu.hz = rates[i];
        assert_true(arch_timer_start(TSC_HZ, on_fire));
        arch_timer_arm(1000000);
        assert_in_range(cpu.reg[0x38], rates[i] / 1000 * 999 / 1000,
                        rates[i] / 1000 * 1001 / 1000);
        arch_timer_arm(0);
        assert_int_equal(cpu.reg[0x38], 1);
        arch_timer_arm(UINT64_MAX);
        assert_in_range(cpu.reg[0x38], rates[i] / 1000 * 999,
                        rates[i] / 1000 * 1001);
    }
}

TEST(an_interrupt_is_acknowledged_and_passed_on)
{
    assert_true(arch_timer_start(TSC_HZ, on_fire));
    cpu.timer();
    assert_int_equal(cpu.eois, 1);
    assert_int_equal(calls, 1);
}

TEST(a_deadline_is_a_time_of_the_tsc)
{
    cpu.features.c = CPUID_ECX_TSC_DEADLINE;
    cpu.hz = 0; /* does not count in this mode */
    assert_true(arch_timer_start(TSC_HZ, on_fire));
    assert_string_equal(arch_timer_name(), "local APIC, TSC deadline");
    assert_int_equal(cpu.reg[0x32], TIMER_VECTOR | 2u << 17);
    cpu.tsc = 1000000;
    arch_timer_arm(20000);
    assert_in_range(cpu.deadline, 1000000 + STEP + 50000 - 1,
                    1000000 + STEP + 50000);
    assert_false(cpu.deadline_early);
    arch_timer_arm(0);
    assert_in_range(cpu.deadline, 1000000, cpu.tsc);
    arch_timer_arm(UINT64_MAX);
    assert_in_range(cpu.deadline, cpu.tsc + TSC_HZ - 500, cpu.tsc + TSC_HZ);
    arch_timer_stop();
    assert_int_equal(cpu.deadline, 0);
}

TEST(in_x2apic_mode_registers_are_msrs)
{
    cpu.base = BASE | ENABLED | X2APIC;
    assert_true(arch_timer_start(TSC_HZ, on_fire));
    arch_timer_arm(1000000);
    cpu.timer();
    assert_int_equal(cpu.in_memory, 0);
    assert_int_equal(cpu.base, BASE | ENABLED | X2APIC);
    assert_int_equal(cpu.reg[0x32], TIMER_VECTOR);
    assert_in_range(cpu.reg[0x38], 999000, 1001000);
    assert_int_equal(cpu.eois, 1);
}

TEST(in_x2apic_mode_there_are_deadlines_too)
{
    cpu.base = BASE | ENABLED | X2APIC;
    cpu.features.c = CPUID_ECX_TSC_DEADLINE;
    assert_true(arch_timer_start(TSC_HZ, on_fire));
    cpu.tsc = 5000;
    arch_timer_arm(1000);
    assert_in_range(cpu.deadline, 5000 + STEP + 2499, 5000 + STEP + 2500);
    assert_int_equal(cpu.in_memory, 0);
}

/* The address is beyond what is mapped. */
TEST(a_timer_above_4_gib_is_none)
{
    cpu.base = 0x100000000ull | BASE;
    assert_false(arch_timer_start(TSC_HZ, on_fire));
    assert_int_equal(cpu.in_memory, 0);
}

static uint32_t half(uint32_t count)
{
    assert_false(cpu.interrupts_on);
    return count / 2;
}

static uint64_t sooner(uint64_t deadline)
{
    assert_false(cpu.interrupts_on);
    return deadline - 7;
}

/* What is written is what the other one makes of it, in both modes. */
TEST(it_can_be_shared)
{
    arch_timer_sharing = (struct arch_timer_sharing){half, sooner};
    assert_true(arch_timer_start(TSC_HZ, on_fire));
    arch_timer_arm(1000000);
    assert_in_range(cpu.reg[0x38], 499500, 500500);
    cpu.features.c = CPUID_ECX_TSC_DEADLINE;
    assert_true(arch_timer_start(TSC_HZ, on_fire));
    cpu.tsc = 1000000;
    arch_timer_arm(20000);
    assert_in_range(cpu.deadline, 1000000 + STEP + 50000 - 8,
                    1000000 + STEP + 50000 - 7);
    assert_true(cpu.interrupts_on);
    arch_timer_sharing = (struct arch_timer_sharing){NULL, NULL};
}
