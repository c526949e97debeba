/* SPDX-License-Identifier: Apache-2.0 */

/* The source `lapic` on two CPUs, played by one thread on made-up local APICs:
 * who begins to sample by its own timer, and who is said not to. Built with
 * PROF_CPUS_MAX of 64. */

#include "../profiler/profiler_world.h"
#include "../unit.h"
#include "base/cpu_features.h"
#include "sample/cpus.h"
#include "tick/idt_gate.h"
#include "tick/lapic.h"

#include <prof/cpus.h>

#define CPUS 2u
#define OTHER (&prof_cpus[1])
#define ENTRIES 8u
#define VECTOR 48u
#define BASE_ON (1u << 11)
#define APIC_AND_MSR (1u << 9 | 1u << 5)
#define ACCESS_CYCLES 40u

/* ---- the machine: a count of each timer is a cycle */

static struct apic {
    uint32_t regs[64]; /* by offset / 16 */
    uint64_t armed_at;
} apics[CPUS];

static uint64_t now;
static struct prof_entry entries[CPUS][ENTRIES];

static struct apic *apic_here(void)
{
    return &apics[prof_cpu_hosted == OTHER];
}

static uint32_t *reg(struct apic *apic, uint32_t offset)
{
    assert_true(offset % 16 == 0 && offset < 0x400);
    return &apic->regs[offset / 16];
}

static uint32_t read_reg(uint32_t offset)
{
    struct apic *apic = apic_here();
    uint64_t count = *reg(apic, PROF_LAPIC_COUNT);

    now += ACCESS_CYCLES;
    if (offset == PROF_LAPIC_LEFT)
        return now - apic->armed_at < count
                   ? (uint32_t)(count - (now - apic->armed_at))
                   : 0;
    return *reg(apic, offset);
}

static void write_reg(uint32_t offset, uint32_t value)
{
    now += ACCESS_CYCLES;
    *reg(apic_here(), offset) = value;
    if (offset == PROF_LAPIC_COUNT)
        apic_here()->armed_at = now;
}

static uint64_t the_tsc(void)
{
    return now += 20;
}

static const struct prof_lapic_test registers = {
    .read = read_reg, .write = write_reg, .tsc = the_tsc};

struct prof_cpuid prof_cpuid_raw(uint32_t leaf)
{
    return (struct prof_cpuid){.a = leaf == 0,
                               .d = leaf == 1 ? APIC_AND_MSR : 0};
}

uint64_t prof_msr(uint32_t number)
{
    assert_int_equal(number, PROF_MSR_APIC_BASE);
    return 0xfee00000u | BASE_ON;
}

void prof_set_msr(uint32_t number, uint64_t value)
{
    (void)value;
    fail_msg("MSR 0x%x is written", (unsigned)number);
}

/* Instead of the IDT. */
bool prof_gate_enter(uint8_t vector, void (*stub)(void), size_t next)
{
    (void)stub;
    (void)next;
    return vector == VECTOR;
}

void prof_gate_leave(void)
{
}

void prof_gate_check(uint64_t period)
{
    (void)period;
}

void prof_gate_note(struct prof_cpu_link *link)
{
    (void)link;
}

bool prof_gate_join(struct prof_cpu *cpu)
{
    (void)cpu;
    return true;
}

void prof_gate_quit(struct prof_cpu *cpu)
{
    (void)cpu;
}

/* Both CPUs' timers are as (timer) says, and CPU 1 has joined. */
static void begin(bool shared, uint32_t timer)
{
    const struct prof_config config = {
        .tsc_hz = WORLD_TSC_HZ,
        .cpus = CPUS,
        .tick = {.kind = PROF_TICK_LAPIC,
                 .lapic_vector = VECTOR,
                 .lapic_shared = shared},
    };

    now = 1000;
    memset(apics, 0, sizeof apics);
    for (uint32_t i = 0; i < CPUS; i++) {
        *reg(&apics[i], PROF_LAPIC_SPURIOUS) = PROF_LAPIC_ENABLED | 0xff;
        *reg(&apics[i], PROF_LAPIC_DIVIDE) = PROF_LAPIC_BY_1;
        *reg(&apics[i], PROF_LAPIC_TIMER) = timer;
    }
    prof_lapic_test = &registers;
    memset(prof_cpus, 0, sizeof prof_cpus);
    prof_cpu_limit = 0;
    assert_true(prof_cpus_open(CPUS));
    for (uint32_t i = 0; i < CPUS; i++) /* which has the periods */
        prof_ring_open(&prof_cpus[i].ring, entries[i], entries[i] + ENTRIES);
    prof_cpu_hosted = PROF_CPU_FIRST;
    prof_cpu_links[1].state = PROF_CPU_JOINED;
    assert_ptr_equal(prof_source_open(&config), &prof_source_lapic);
    assert_int_equal(prof_source_lapic.start(false), 0);
    world_output_bytes = 0;
    world_output[0] = '\0';
}

/* A turn of CPU 1's loop, and a drain's look at all. */
static void turn(void)
{
    prof_cpu_hosted = OTHER;
    prof_source_lapic.look(OTHER);
    prof_cpu_hosted = PROF_CPU_FIRST;
    prof_source_lapic_check();
}

FIXTURE(NULL, NULL);

TEST(a_timer_in_use_is_said_once)
{
    static const char said[] = "prof: CPU 1 is not sampled: its local APIC's "
                               "timer is not masked\n";

    begin(false, PROF_LAPIC_MASKED);
    *reg(&apics[1], PROF_LAPIC_TIMER) = VECTOR + 1;
    turn();
    assert_string_equal(world_output, ""); /* it may be about to change */
    for (uint32_t i = 0; i < 10; i++) {
        turn();
        assert_string_equal(world_output, said);
    }
    assert_int_equal(OTHER->lapic.state, PROF_LAPIC_OFF);
    *reg(&apics[1], PROF_LAPIC_TIMER) = PROF_LAPIC_MASKED;
    turn();
    assert_int_equal(OTHER->lapic.state, PROF_LAPIC_OWN);
    assert_string_equal(world_output, said);
}

TEST(a_timer_of_another_vector_is_said)
{
    begin(true, PROF_LAPIC_ONE_SHOT | VECTOR);
    *reg(&apics[1], PROF_LAPIC_TIMER) = PROF_LAPIC_ONE_SHOT | (VECTOR + 1);
    turn();
    turn();
    assert_string_equal(world_output,
                        "prof: CPU 1 is not sampled: its local APIC's timer is "
                        "not one-shot at vector 48\n");
    assert_int_equal(OTHER->lapic.state, PROF_LAPIC_OFF);
}

/* Nothing is said of one whose timer is free, is free in time, or which has
 * left. */
TEST(others_are_not_said)
{
    begin(false, PROF_LAPIC_MASKED);
    for (uint32_t i = 0; i < 10; i++)
        turn();
    assert_int_equal(OTHER->lapic.state, PROF_LAPIC_OWN);
    begin(false, PROF_LAPIC_MASKED);
    *reg(&apics[1], PROF_LAPIC_TIMER) = VECTOR + 1;
    turn();
    *reg(&apics[1], PROF_LAPIC_TIMER) = PROF_LAPIC_MASKED;
    turn();
    turn();
    assert_int_equal(OTHER->lapic.state, PROF_LAPIC_OWN);
    begin(false, PROF_LAPIC_MASKED);
    *reg(&apics[1], PROF_LAPIC_TIMER) = VECTOR + 1;
    turn();
    prof_cpu_links[1].state = PROF_CPU_LEFT;
    prof_source_lapic_check();
    prof_source_lapic_check();
    assert_string_equal(world_output, "");
}
