/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NMI_WORLD_H
#define NMI_WORLD_H

/*
 * The source `nmi` on several made-up CPUs, played by one thread: each has a
 * local APIC, and an IDT of its own or the common one. An NMI comes to whom the
 * entry of the made-up I/O APIC names, at any access to a register where a test
 * wants that. None may come to the kernel's handler while sampling runs.
 *
 * Included by the one .c file of each test program.
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
static bool one_shot;   /* the PIT's mode */
static bool kvm;        /* is what the CPU says that it runs under, */
static uint32_t kvm_at; /* and by how much its leaves begin later */
static bool reinjects, waits_for_count; /* the PIT is KVM's: one NMI, no more */
static uint32_t counts_by[CPUS_MAX];    /* how often a CPU has programmed it */
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

/* Where nmi_stub.asm calls C: as CPU (number). */
static void in_nmi(uint32_t number, uint64_t time, bool sampled)
{
    struct prof_cpu *own = prof_cpu_hosted, *cpu = state_of(number);
    uint32_t running = here;

    here = number;
    prof_cpu_hosted = cpu;
    if (!sampled)
        prof_nmi_again();
    else if (--cpu->tick.jitter.ticks_left == 0)
        prof_nmi_turn((uint32_t)time);
    here = running;
    prof_cpu_hosted = own;
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
        if (cpu->nmi.again != 0 && cpu->nmi.near != PROF_NMI_STOPPED)
            in_nmi(number, time, false);
    } else {
        cpu->ticks++;
        if (!prof_ring_full(&cpu->ring))
            prof_ring_push(&cpu->ring, 0x2000, time, 0);
        cpu->interrupt_cycles += cpus[number].sample_cycles;
        cpus[number].busy_until = time + cpus[number].sample_cycles;
        cpu->nmi.end = (uint32_t)cpus[number].busy_until;
        if (reinjects)
            in_nmi(number, time, true);
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

static void deliver_to_gate(uint32_t number)
{
    if (cpus[number].own_table ? cpus[number].ours : entered)
        deliver(number);
    else
        cpus[number].kernels++;
}

/* By the PIT. */
static void raise(void)
{
    if (waits_for_count)
        return;
    waits_for_count = reinjects;
    for (uint32_t i = 0; i < cpu_count; i++)
        if (comes_to(i))
            deliver_to_gate(i);
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
    if (leaf == PROF_CPUID_HYPERVISOR + kvm_at)
        return (struct prof_cpuid){
            .a = leaf, .b = 0x4b4d564b, .c = 0x564b4d56, .d = 0x4d};
    if (leaf == PROF_CPUID_HYPERVISOR) /* Hyper-V */
        return (struct prof_cpuid){
            .a = leaf, .b = 0x7263694d, .c = 0x666f736f, .d = 0x76482074};
    if (leaf != 1)
        return (struct prof_cpuid){0};
    return (struct prof_cpuid){.c = (uint32_t)kvm << 31,
                               .d = 1u << 9 | 1u << 5};
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
    counts_by[here]++;
    waits_for_count = false;
}

void prof_pit_set(uint32_t divisor)
{
    prof_pit_set_count(divisor);
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

static inline void begin(uint32_t count)
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
    entered = always = waits_for_count = false;
    memset(counts_by, 0, sizeof counts_by);
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
    kvm = reinjects = false;
    kvm_at = 0;
    (void)prof_option("prof.jitter=50");
    world_end();
}

static inline void own_table(uint32_t number)
{
    cpus[number].own_table = true;
    prof_cpu_links[number].idt = KERNEL_IDT + number;
}

static inline void join(uint32_t number)
{
    be(number);
    assert_int_equal(prof_cpu_join(number), 0);
    be(0);
}

static inline void leave(uint32_t number)
{
    be(number);
    prof_cpu_leave();
    be(0);
}

static inline void poll(uint32_t number)
{
    be(number);
    prof_cpu_poll();
    be(0);
}

/* So many ticks; the first CPU drains after each four. */
static inline void run(uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        now += WORLD_TSC_HZ * 1000ull / prof_rate_mhz();
        raise();
        if (i % 4 == 3)
            prof_drain();
    }
}

static inline void expect_none_for_the_kernel(void)
{
    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i].kernels != 0)
            fail_msg("CPU %u: the kernel got %u NMIs", i, cpus[i].kernels);
}

/* Of (number), in so many ticks. */
static inline uint32_t ticks_in(uint32_t number, uint32_t ticks)
{
    uint32_t before = prof_cpus[number].ticks;

    run(ticks);
    return prof_cpus[number].ticks - before;
}

static inline uint32_t lines_with(const char *text)
{
    uint32_t count = 0;

    for (const char *at = world_output; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

#define SECOND (WORLD_RATE_MHZ / 1000) /* of ticks */
#define MOVED "prof: the local APIC's logical destination on CPU "
#define QUIET "prof: NMIs do not come to CPU "

static inline void begin_with_three(void)
{
    begin(3);
    assert_int_equal(prof_start(), 0);
    join(1);
    join(2);
    run(8);
}

FIXTURE(NULL, finish);

#endif
