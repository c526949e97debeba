/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The source `nmi` on several made-up CPUs, played by one thread: each has a
 * local APIC, and an IDT of its own or the common one. An NMI comes to whom the
 * entry of the made-up I/O APIC names, at any access to a register where a test
 * wants that. None may come to the kernel's handler while sampling runs.
 */

#include "../profiler/profiler_world.h"
#include "base/cpu_features.h"
#include "sample/cpus.h"
#include "tick/idt_gate.h"
#include "tick/ioapic.h"
#include "tick/lapic.h"
#include "tick/pit.h"
#include "../unit.h"

#include <prof/cpus.h>
#include <prof/error.h>

#define CPUS_MAX 20u
#define ENTRIES 256u
#define STEP_CYCLES 1000u /* between two readings of the TSC */
#define FLAT UINT32_MAX
#define INPUT 2u
#define KERNEL_IDT 0x1000u /* of the first CPU */

static uint64_t now = 1;

static struct {
    uint32_t logical, format; /* registers of its local APIC */
    bool own_table, has_gate; /* an IDT, and whether its gate can be taken */
    bool ours;                /* its gate is the profiler's */
    uint32_t kernels;         /* NMIs that the kernel's handler got */
    uint32_t sample_cycles;   /* what a sample takes */
    uint64_t busy_until;      /* the end of the last one */
    bool pending;             /* an NMI has come meanwhile */
    uint32_t kicked;
} cpus[CPUS_MAX];

static uint32_t cpu_count, here; /* who runs */
static uint32_t nobodys;         /* NMIs of CPUs that have not joined */
static bool entered, always;     /* an NMI comes at each access */
static void (*meanwhile)(void);  /* called once, after so many accesses */
static int accesses;
static bool one_shot; /* the PIT's mode */
static uint32_t selected, entry_low, entry_high;

/* ---- NMIs */

static struct prof_cpu *state_of(uint32_t number)
{
    if (number == here)
        return prof_cpu_hosted;
    return number == 0 || prof_cpu_links[number].state == PROF_CPU_JOINED
               ? &prof_cpus[number]
               : PROF_CPU_NOBODY;
}

/* As nmi_stub.asm, at (time). */
static void stub(uint32_t number, uint64_t time)
{
    struct prof_cpu *cpu = state_of(number);

    if (cpu == PROF_CPU_NOBODY) {
        nobodys++;
    } else if ((uint32_t)time - cpu->nmi.end < cpu->nmi.near) {
        if (cpu->nmi.near == PROF_NMI_STOPPED)
            cpus[number].kernels++;
        else
            cpu->nmi.duplicates++;
    } else {
        cpu->ticks++;
        if (!prof_ring_full(&cpu->ring))
            prof_ring_push(&cpu->ring, 0x2000, time, 0);
        cpu->interrupt_cycles += cpus[number].sample_cycles;
        cpus[number].busy_until = time + cpus[number].sample_cycles;
        cpu->nmi.end = (uint32_t)cpus[number].busy_until;
    }
}

/* One waits for the end of a sample. */
static void deliver(uint32_t number)
{
    bool pending = cpus[number].pending;

    cpus[number].pending = now < cpus[number].busy_until;
    if (cpus[number].pending)
        return;
    if (pending)
        stub(number, cpus[number].busy_until + 10);
    stub(number, now);
}

static bool comes_to(uint32_t number)
{
    return (entry_low & PROF_IOAPIC_MASKED) == 0 &&
           (entry_low & PROF_IOAPIC_LOGICAL) != 0 &&
           cpus[number].format == FLAT &&
           (entry_high & cpus[number].logical) >> PROF_IOAPIC_TO_SHIFT != 0;
}

static void raise(void)
{
    for (uint32_t i = 0; i < cpu_count; i++) {
        if (!comes_to(i))
            continue;
        if (cpus[i].own_table ? cpus[i].ours : entered)
            deliver(i);
        else
            cpus[i].kernels++;
    }
}

static void access(void)
{
    void (*function)(void) = meanwhile;

    now += STEP_CYCLES;
    if (always)
        raise();
    if (function == NULL || --accesses != 0)
        return;
    meanwhile = NULL;
    function();
}

/* ---- the machine */

uint64_t prof_port_tsc(void)
{
    return now += STEP_CYCLES;
}

static uint32_t lapic_read(uint32_t offset)
{
    access();
    if (offset == PROF_LAPIC_LOGICAL)
        return cpus[here].logical;
    if (offset == PROF_LAPIC_FORMAT)
        return cpus[here].format;
    return offset == PROF_LAPIC_SPURIOUS ? PROF_LAPIC_ENABLED : 0;
}

static void lapic_write(uint32_t offset, uint32_t value)
{
    if (offset == PROF_LAPIC_LOGICAL)
        cpus[here].logical = value;
    if (offset == PROF_LAPIC_FORMAT)
        cpus[here].format = value;
    access();
}

static uint32_t ioapic_read(uint32_t offset)
{
    access();
    if (offset == 0)
        return selected;
    if (selected == 1)
        return 23u << 16; /* the last input */
    return selected == 0x10 + 2 * INPUT ? entry_low : entry_high;
}

static void ioapic_write(uint32_t offset, uint32_t value)
{
    if (offset == 0)
        selected = value;
    else if (selected == 0x10 + 2 * INPUT)
        entry_low = value;
    else
        entry_high = value;
    access();
}

static const struct prof_lapic_test local = {lapic_read, lapic_write,
                                             prof_port_tsc};
static const struct prof_ioapic_test common = {ioapic_read, ioapic_write};

struct prof_cpuid prof_cpuid_raw(uint32_t leaf)
{
    if (leaf == 0)
        return (struct prof_cpuid){.a = 1};
    return (struct prof_cpuid){.d = leaf == 1 ? 1u << 9 | 1u << 5 : 0};
}

uint64_t prof_msr(uint32_t number)
{
    assert_int_equal(number, PROF_MSR_APIC_BASE);
    return 0xfee00000u | 1u << 11;
}

void prof_set_msr(uint32_t number, uint64_t value)
{
    fail_msg("MSR %x = %llx", number, (unsigned long long)value);
}

void prof_out8(uint16_t port, uint8_t value)
{
    (void)port, (void)value;
}

uint8_t prof_in8(uint16_t port)
{
    (void)port;
    return 0xff;
}

/* ---- instead of the PIT */

bool prof_pit_counts(void)
{
    return true;
}

struct prof_pit_state prof_pit_read(void)
{
    return (struct prof_pit_state){0};
}

bool prof_pit_is_one_shot(struct prof_pit_state state)
{
    (void)state;
    return one_shot;
}

bool prof_pit_is_square(struct prof_pit_state state)
{
    (void)state;
    return false;
}

bool prof_pit_is_high(struct prof_pit_state state)
{
    (void)state;
    return false;
}

bool prof_pit_disturbed(struct prof_pit_state state, uint32_t divisor, bool own)
{
    (void)state, (void)divisor, (void)own;
    return false;
}

void prof_pit_set_count(uint32_t divisor)
{
    (void)divisor;
}

void prof_pit_set(uint32_t divisor)
{
    (void)divisor;
}

void prof_pit_stop(void)
{
}

/* ---- instead of the IDTs */

void prof_gate_note(struct prof_cpu_link *link)
{
    link->idt = KERNEL_IDT;
}

bool prof_gate_join(struct prof_cpu *cpu)
{
    uint32_t number = prof_cpu_number(cpu);

    if (!entered || !cpus[number].own_table)
        return true;
    cpus[number].ours = cpus[number].has_gate;
    return cpus[number].ours;
}

void prof_gate_quit(struct prof_cpu *cpu)
{
    cpus[prof_cpu_number(cpu)].ours = false;
}

bool prof_gate_enter(uint8_t vector, void (*handler)(void), size_t next)
{
    assert_int_equal(vector, 2);
    assert_true(handler == prof_nmi);
    assert_int_equal(next, offsetof(struct prof_cpu, tick.next_handler));
    entered = true;
    for (uint32_t i = 1; i < cpu_count; i++)
        if (prof_cpu_links[i].state == PROF_CPU_JOINED)
            (void)prof_gate_join(&prof_cpus[i]);
    return true;
}

void prof_gate_leave(void)
{
    entered = false;
    for (uint32_t i = 1; i < cpu_count; i++)
        cpus[i].ours = false;
}

void prof_gate_check(uint64_t period)
{
    (void)period;
}

/* ---- the kernel */

static void be(uint32_t number)
{
    bool joined =
        number == 0 || prof_cpu_links[number].state == PROF_CPU_JOINED;

    here = number;
    prof_cpu_hosted = joined ? &prof_cpus[number] : PROF_CPU_NOBODY;
}

static void kick(uint32_t number)
{
    cpus[number].kicked++;
}

static struct prof_config config_of(uint32_t count)
{
    return (struct prof_config){
        .tsc_hz = WORLD_TSC_HZ,
        .cpus = count,
        .kick = kick,
        .tick = {.kind = PROF_TICK_NMI, .lapic_at = 0x2000},
        .idle = {0x9000, 0x9010},
        .text = {0x1000, 0x1000000},
    };
}

static void begin(uint32_t count)
{
    struct prof_config config = config_of(count);
    size_t bytes = count * (WORLD_MEMORY(ENTRIES) + 2 * PROF_CACHE_LINE);

    world_end();
    world_memory = malloc(bytes);
    memset(prof_cpus, 0, sizeof prof_cpus);
    memset(prof_cpu_links, 0, sizeof prof_cpu_links);
    memset(cpus, 0, sizeof cpus);
    for (uint32_t i = 0; i < CPUS_MAX; i++) {
        cpus[i].format = FLAT;
        cpus[i].has_gate = true;
        cpus[i].sample_cycles = 100;
        prof_cpu_links[i].idt = KERNEL_IDT;
    }
    prof_control_forget();
    prof_cpu_limit = 0;
    world_output_bytes = nobodys = entry_high = 0;
    entered = always = false;
    entry_low = PROF_IOAPIC_MASKED;
    cpu_count = count;
    prof_lapic_test = &local;
    prof_ioapic_test = &common;
    prof_cpu_hosted = PROF_CPU_FIRST;
    here = 0;
    assert_int_equal(prof_option("prof.jitter=0"), 0);
    assert_int_equal(prof_init(world_memory, bytes, &config), 0);
    prof_meter_end();
    world_output_bytes = 0;
}

static void finish(void)
{
    prof_lapic_test = NULL;
    prof_ioapic_test = NULL;
    (void)prof_option("prof.jitter=50");
    world_end();
}

static void own_table(uint32_t number)
{
    cpus[number].own_table = true;
    prof_cpu_links[number].idt = KERNEL_IDT + number;
}

static void join(uint32_t number)
{
    be(number);
    assert_int_equal(prof_cpu_join(number), 0);
    be(0);
}

static void leave(uint32_t number)
{
    be(number);
    prof_cpu_leave();
    be(0);
}

static void poll(uint32_t number)
{
    be(number);
    prof_cpu_poll();
    be(0);
}

/* So many ticks; the first CPU drains after each four. */
static void run(uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        now += WORLD_TSC_HZ * 1000ull / prof_rate_mhz();
        raise();
        if (i % 4 == 3)
            prof_drain();
    }
}

static void expect_none_for_the_kernel(void)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i].kernels != 0)
            fail_msg("CPU %u: the kernel got %u NMIs", i, cpus[i].kernels);
}

/* Of (number), in so many ticks. */
static uint32_t ticks_in(uint32_t number, uint32_t ticks)
{
    uint32_t before = prof_cpus[number].ticks;

    run(ticks);
    return prof_cpus[number].ticks - before;
}

FIXTURE(NULL, finish);

/* ---- joining */

TEST(one_that_shares_a_bit_waits_for_its_gate)
{
    begin(9);
    own_table(8);
    assert_int_equal(prof_start(), 0);
    run(4);
    always = true;
    join(8);
    always = false;
    for (int i = 0; i < 3; i++) {
        now += WORLD_PERIOD;
        raise();
    }
    expect_none_for_the_kernel();
    poll(8); /* too early */
    raise();
    prof_drain();
    assert_int_equal(cpus[8].kicked, 1);
    assert_int_equal(ticks_in(8, 8), 0);
    poll(8);
    assert_int_equal(ticks_in(8, 8), 8);
    expect_none_for_the_kernel();
    leave(8);
    assert_int_equal(cpus[8].logical, 0);
    run(8);
    join(8);
    run(4);
    poll(8);
    assert_int_equal(ticks_in(8, 8), 8);
    expect_none_for_the_kernel();
}

/* The stub is in the common gate: it ignores what comes too early. */
TEST(one_that_shares_a_bit_and_the_gate_need_not_wait)
{
    begin(9);
    assert_int_equal(prof_start(), 0);
    run(4);
    always = true;
    join(8);
    always = false;
    now += WORLD_PERIOD;
    raise();
    assert_int_equal(prof_cpus[8].ticks, 0);
    assert_true(prof_cpus[8].nmi.duplicates > 0);
    prof_drain();
    assert_int_equal(cpus[8].kicked, 0);
    assert_int_equal(ticks_in(8, 8), 8);
    expect_none_for_the_kernel();
}

static void expect_several(bool own)
{
    begin(4);
    for (uint32_t i = 1; own && i < 4; i++)
        own_table(i);
    assert_int_equal(prof_start(), 0);
    run(4);
    always = true;
    for (uint32_t i = 1; i < 4; i++)
        join(i);
    prof_drain();
    prof_drain();
    always = false;
    expect_none_for_the_kernel();
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(ticks_in(i, 8), 8);
    expect_none_for_the_kernel();
}

TEST(several_join_before_one_drain)
{
    expect_several(false);
    expect_several(true);
}

TEST(some_join_before_sampling_begins)
{
    begin(10);
    own_table(3);
    own_table(9);
    join(1);
    join(3);
    prof_drain();
    join(9);
    assert_true(cpus[9].logical != 0); /* it need not wait */
    always = true;
    assert_int_equal(prof_start(), 0);
    always = false;
    run(4);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(ticks_in(i, 8),
                         i == 0 || i == 1 || i == 3 || i == 9 ? 8 : 0);
    expect_none_for_the_kernel();
    prof_stop();
    run(4);
    expect_none_for_the_kernel();
    assert_int_equal(prof_start(), 0);
    assert_int_equal(ticks_in(9, 8), 8);
    expect_none_for_the_kernel();
}

/* The first CPU, while another one is about to join. */
static void start_meanwhile(void)
{
    uint32_t joining = here;
    struct prof_cpu *cpu = prof_cpu_hosted;

    be(0);
    assert_int_equal(prof_start(), 0);
    here = joining;
    prof_cpu_hosted = cpu;
    now += WORLD_PERIOD;
    raise();
}

/* Before each register that it accesses, and after the last one. */
TEST(sampling_begins_while_one_joins)
{
    for (int after = 1; after < 20; after++) {
        begin(9);
        own_table(8);
        meanwhile = start_meanwhile;
        accesses = after;
        join(8);
        if (meanwhile != NULL)
            start_meanwhile();
        meanwhile = NULL;
        run(4);
        if (cpus[8].kicked != 0)
            poll(8);
        assert_int_equal(ticks_in(8, 8), 8);
        expect_none_for_the_kernel();
    }
}

TEST(a_gate_that_cannot_be_taken_gets_none)
{
    begin(3);
    own_table(1);
    cpus[1].has_gate = false;
    assert_int_equal(prof_start(), 0);
    join(1);
    join(2);
    run(8);
    assert_int_equal(ticks_in(1, 8), 0);
    assert_int_equal(ticks_in(2, 8), 8);
    prof_stop();
    assert_int_equal(prof_start(), 0);
    assert_int_equal(ticks_in(1, 8), 0);
    expect_none_for_the_kernel();
}

/* What is not sampled is the kernel's. */
TEST(nmis_are_the_kernels_before_and_after)
{
    begin(2);
    join(1);
    assert_int_equal(prof_cpus[1].nmi.near, PROF_NMI_STOPPED);
    assert_int_equal(prof_start(), 0);
    run(4);
    assert_true(prof_cpus[1].nmi.near < WORLD_PERIOD);
    prof_stop();
    assert_int_equal(prof_cpus[0].nmi.near, PROF_NMI_STOPPED);
    assert_int_equal(prof_cpus[1].nmi.near, PROF_NMI_STOPPED);
}

/* ---- troubles */

TEST(a_sample_that_is_too_slow_on_any_cpu_halves_the_rate)
{
    begin(4);
    assert_int_equal(prof_start(), 0);
    for (uint32_t i = 1; i < 4; i++)
        join(i);
    run(200);
    assert_int_equal(world_stats().tick.nmi_slowed, 0);
    cpus[1].sample_cycles = WORLD_PERIOD / 5 * 6;
    cpus[2].sample_cycles = WORLD_PERIOD / 10 * 13;
    run(300);
    assert_int_equal(world_stats().tick.nmi_slowed, 1);
    assert_in_range(prof_rate_mhz(), 490000, 510000);
    assert_non_null(strstr(world_output, "prof: a sample on CPU 2 takes longer "
                                         "than the period, and NMIs leave"));
    assert_null(strstr(world_output, "on CPU 1"));
    run(300);
    assert_int_equal(world_stats().tick.nmi_slowed, 1);
}

/* What is counted of a CPU begins anew when it joins again. */
TEST(one_that_joins_again_is_not_slow)
{
    begin(2);
    assert_int_equal(prof_start(), 0);
    join(1);
    run(4);
    prof_cpus[1].nmi.duplicates += 50;
    run(64);
    leave(1);
    run(8);
    cpus[1].sample_cycles = WORLD_PERIOD / 10 * 7;
    join(1);
    run(100);
    assert_int_equal(world_stats().tick.nmi_slowed, 0);
}

static uint32_t lines_with(const char *text)
{
    uint32_t count = 0;

    for (const char *at = world_output; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

#define SECOND (WORLD_RATE_MHZ / 1000) /* of ticks */
#define MOVED "prof: the local APIC's logical destination on CPU "
#define QUIET "prof: NMIs do not come to CPU "

static void begin_with_three(void)
{
    begin(3);
    assert_int_equal(prof_start(), 0);
    join(1);
    join(2);
    run(8);
}

TEST(a_destination_that_other_code_has_cleared_is_set_again)
{
    begin_with_three();
    cpus[1].logical = 0;
    run(SECOND);
    assert_int_equal(cpus[1].kicked, 0);
    run(2 * SECOND);
    assert_int_equal(cpus[1].kicked, 1);
    assert_int_equal(cpus[2].kicked, 0);
    poll(1);
    assert_int_equal(ticks_in(1, 8), 8);
    assert_int_equal(lines_with(MOVED "1 was changed"), 1);
    assert_int_equal(world_stats().tick.nmi_taken_back, 1);
    for (int again = 0; again < 2; again++) {
        cpus[1].logical = 0;
        run(3 * SECOND);
        poll(1);
        assert_int_equal(ticks_in(1, 8), 8);
    }
    assert_int_equal(world_stats().tick.nmi_taken_back, 3);
    assert_int_equal(lines_with(MOVED), 1);
    assert_int_equal(lines_with(QUIET), 0);
}

TEST(another_destination_of_the_kernels_is_used)
{
    begin_with_three();
    cpus[1].logical = 0x40000000;
    run(3 * SECOND);
    poll(1);
    run(4);
    assert_int_equal(ticks_in(1, 8), 8);
    assert_int_equal(cpus[1].logical, 0x40000000);
}

TEST(a_cpu_without_nmis_is_reported)
{
    begin_with_three();
    cpus[1].logical = 0;
    run(6 * SECOND);
    assert_int_equal(lines_with(QUIET), 1);
    assert_int_equal(lines_with("CPU 1: it does not call prof_cpu_poll()"), 1);
    poll(1); /* after all */
    assert_int_equal(ticks_in(1, 8), 8);
    cpus[1].logical = 0x11000000;
    cpus[1].format = 0;
    run(3 * SECOND);
    poll(1);
    run(3 * SECOND);
    assert_int_equal(lines_with(QUIET), 2);
    assert_int_equal(lines_with("CPU 1: logical destinations of"), 1);
    assert_int_equal(cpus[1].format, 0);
}

/* The first CPU's own, which nobody need ask. */
TEST(the_first_cpus_destination_is_set_again)
{
    begin_with_three();
    cpus[0].logical = 0;
    run(40);
    assert_int_equal(ticks_in(0, 8), 8);
    assert_int_equal(lines_with(MOVED "0 was changed"), 1);
}

TEST(one_in_a_cluster_cannot_join)
{
    begin(3);
    cpus[1].logical = 0x11000000;
    cpus[1].format = 0;
    be(1);
    assert_int_equal(prof_cpu_join(1), PROF_ELAPIC);
    be(0);
    cpus[2].format = 0; /* no destination: the kernel does not use them */
    join(2);
    assert_int_equal(cpus[2].format, FLAT);
}

/* More than a second. */
TEST(a_silence_is_counted_and_reported)
{
    begin(2);
    assert_int_equal(prof_start(), 0);
    run(100);
    assert_int_equal(world_stats().tick.nmi_again, 0);
    for (int i = 0; i < 11; i++) {
        now += WORLD_TSC_HZ / 10;
        prof_drain();
    }
    assert_int_equal(world_stats().tick.nmi_again, 1);
    assert_int_equal(lines_with("prof: the last NMI came a second ago; the PIT "
                                "is programmed at each one from now on\n"),
                     1);
    assert_int_equal(prof_cpus[0].nmi.again, 1);
    run(100);
    assert_true(prof_running());
    prof_report();
    assert_int_equal(lines_with("1 times no NMI came for a second"), 1);
}

/* A calibration now and then. */
TEST(one_shots_that_are_far_apart_are_forgotten)
{
    begin(2);
    assert_int_equal(prof_start(), 0);
    run(100);
    for (uint32_t i = 1; i < 6; i++) {
        now += 11ull * WORLD_TSC_HZ;
        one_shot = true;
        run(4);
        one_shot = false;
        run(100);
        assert_int_equal(world_stats().tick.pit_taken_back, i);
    }
    assert_int_equal(world_stats().tick.pit_given_up, 0);
    assert_non_null(prof_source_nmi_running());
}

/* The last one: NMIs are given up for good. */
TEST(clusters_are_refused)
{
    struct prof_config config = config_of(3);

    begin_with_three();
    assert_null(prof_source_nmi_missing(&config.tick));
    cpus[0].logical = 0x11000000;
    cpus[0].format = 0;
    assert_string_equal(prof_source_nmi_missing(&config.tick),
                        "logical destinations of local APICs are in clusters");
    run(20); /* 10 ms, and the next drain: not two seconds */
    assert_false(prof_running());
    assert_int_equal(lines_with("prof: no timer to sample by"), 1);
    assert_int_equal(cpus[0].format, 0);
}
