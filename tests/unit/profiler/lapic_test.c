/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The source `lapic` on a made-up local APIC: registers in memory or by MSR, a
 * timer that is one-shot or goes by TSC deadlines, at frequencies of real
 * machines. Deadlines of the kernel come once, and within a microsecond of
 * their time beside samples at any rate; these are on their grid.
 *
 * Which timer is taken where one is missing, and what is said then.
 */

#include "../unit.h"

#include "profiler_world.h"

#include "tick/idt_gate.h"
#include "tick/lapic.h"
#include "tick/pit.h"

#include <prof/lapic.h>

#define VECTOR 48u
#define ACCESS_CYCLES 40u /* what a register takes */
#define DELIVERY_CYCLES 60u
#define NEVER UINT64_MAX

/* ---- the machine */

static struct {
    uint64_t tsc_hz, hz; /* of the TSC, of the timer at a division by 1 */
    struct prof_cpuid leaf_1, leaf_15, leaf_16, leaf_rates;
    bool by_msr, stuck;

    uint64_t now, base, deadline, armed_at;
    uint32_t regs[64]; /* by offset / 16 */
    uint32_t acknowledged;
    bool pending;
    bool interrupts; /* on */
} machine;

static uint32_t *reg(uint32_t offset)
{
    return &machine.regs[offset / 16];
}

/* Cycles of a count. */
static double count_time(void)
{
    static const uint8_t powers[] = {1, 2, 3, 4, 5, 6, 7, 0};
    uint32_t divide = *reg(PROF_LAPIC_DIVIDE);
    uint32_t power = powers[(divide & 3) | (divide >> 1 & 4)];

    return (double)(machine.tsc_hz << power) / (double)machine.hz;
}

static uint64_t count_cycles(uint64_t count)
{
    return (uint64_t)((double)count * count_time());
}

static double counts_in(uint64_t cycles)
{
    return (double)cycles / count_time();
}

static bool is_mode(uint32_t mode)
{
    return (*reg(PROF_LAPIC_TIMER) & PROF_LAPIC_MODE) == mode;
}

static uint64_t fires_at(void)
{
    if (is_mode(PROF_LAPIC_BY_TSC))
        return machine.deadline != 0 ? machine.deadline : NEVER;
    return *reg(PROF_LAPIC_COUNT) != 0 && machine.armed_at != NEVER
               ? machine.armed_at + count_cycles(*reg(PROF_LAPIC_COUNT))
               : NEVER;
}

static uint64_t the_tsc(void)
{
    return machine.now += 20;
}

static uint32_t read_reg(uint32_t offset)
{
    uint64_t end = fires_at();

    machine.now += ACCESS_CYCLES;
    assert_true(offset % 16 == 0 && offset < 0x400);
    if (offset == PROF_LAPIC_LEFT && machine.stuck)
        return *reg(PROF_LAPIC_COUNT);
    if (offset == PROF_LAPIC_LEFT)
        return end <= machine.now || end == NEVER || is_mode(PROF_LAPIC_BY_TSC)
                   ? 0
                   : (uint32_t)counts_in(end - machine.now);
    if (offset == PROF_LAPIC_REQUESTS + VECTOR / 32 * 16)
        return (uint32_t)machine.pending << VECTOR % 32;
    return *reg(offset);
}

static void write_reg(uint32_t offset, uint32_t value)
{
    machine.now += ACCESS_CYCLES;
    assert_true(offset % 16 == 0 && offset < 0x400);
    assert_false(machine.interrupts); /* a handler could come between */
    if (offset == PROF_LAPIC_EOI) {
        machine.acknowledged++;
        return;
    }
    if (offset == PROF_LAPIC_COUNT && is_mode(PROF_LAPIC_BY_TSC))
        return;
    if (offset == PROF_LAPIC_TIMER &&
        ((value ^ *reg(offset)) & PROF_LAPIC_MODE) != 0) {
        machine.armed_at = NEVER; /* another mode disarms it */
        machine.deadline = 0;
    }
    *reg(offset) = value;
    if (offset == PROF_LAPIC_COUNT)
        machine.armed_at = value != 0 ? machine.now : NEVER;
}

uint64_t prof_msr(uint32_t number)
{
    if (number == PROF_MSR_APIC_BASE)
        return machine.base;
    if (number == PROF_MSR_TSC_DEADLINE)
        return machine.deadline;
    assert_true(machine.by_msr && number >= PROF_MSR_X2APIC);
    return read_reg((number - PROF_MSR_X2APIC) * 16);
}

void prof_set_msr(uint32_t number, uint64_t value)
{
    if (number == PROF_MSR_APIC_BASE) {
        machine.base = value;
        return;
    }
    if (number == PROF_MSR_TSC_DEADLINE) {
        machine.now += ACCESS_CYCLES;
        if (is_mode(PROF_LAPIC_BY_TSC))
            machine.deadline = value;
        return;
    }
    assert_true(machine.by_msr && number >= PROF_MSR_X2APIC);
    write_reg((number - PROF_MSR_X2APIC) * 16, (uint32_t)value);
}

struct prof_cpuid prof_cpuid_raw(uint32_t leaf)
{
    switch (leaf) {
    case 0:
        return (struct prof_cpuid){.a = 0x16};
    case 1:
        return machine.leaf_1;
    case 0x15:
        return machine.leaf_15;
    case 0x16:
        return machine.leaf_16;
    case 0x40000000:
        return (struct prof_cpuid){.a = 0x40000010};
    case 0x40000010:
        return machine.leaf_rates;
    default:
        return (struct prof_cpuid){0};
    }
}

static uint32_t read_memory(uint32_t offset)
{
    assert_false(machine.by_msr);
    return read_reg(offset);
}

static void write_memory(uint32_t offset, uint32_t value)
{
    assert_false(machine.by_msr);
    write_reg(offset, value);
}

static const struct prof_lapic_test registers = {
    .read = read_memory,
    .write = write_memory,
    .tsc = the_tsc,
};

#define APIC_AND_MSR (1u << 9 | 1u << 5)
#define HYPERVISOR (1u << 31)
#define BASE_ON (1u << 11)
#define BASE_X2 (1u << 10)
#define DIVIDE_BY_1 0x0bu
#define DIVIDE_BY_16 0x03u

/* A machine whose kernel has set its timer up in (mode). */
static void new_machine(uint64_t tsc_hz, uint64_t hz, bool by_msr,
                        uint32_t mode)
{
    memset(&machine, 0, sizeof machine);
    machine.tsc_hz = tsc_hz;
    machine.hz = hz;
    machine.leaf_1.d = APIC_AND_MSR;
    machine.by_msr = by_msr;
    machine.base = 0xfee00000u | BASE_ON | (by_msr ? BASE_X2 : 0);
    machine.now = 1000;
    machine.armed_at = NEVER;
    *reg(PROF_LAPIC_SPURIOUS) = 0x1ff;
    *reg(PROF_LAPIC_DIVIDE) = DIVIDE_BY_1;
    *reg(PROF_LAPIC_TIMER) = mode | VECTOR;
    prof_lapic_test = &registers;
}

/* ---- instead of the IDT and the PIT */

static bool pit_is_there, pit_one_shot;

bool prof_gate_enter(uint8_t vector, void (*stub)(void), size_t next)
{
    assert_int_equal(vector, VECTOR);
    assert_true(stub == prof_lapic_enter || stub == prof_parasite);
    assert_int_equal(next, offsetof(struct prof_cpu, lapic.handler));
    return true;
}

void prof_gate_leave(void)
{
}

void prof_gate_check(uint64_t period)
{
    (void)period;
}

bool prof_pit_counts(void)
{
    return pit_is_there;
}

struct prof_pit_state prof_pit_read(void)
{
    return (struct prof_pit_state){0};
}

bool prof_pit_is_one_shot(struct prof_pit_state state)
{
    (void)state;
    return pit_one_shot;
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

bool prof_port_interrupts_off(void)
{
    bool on = machine.interrupts;

    machine.interrupts = false;
    return on;
}

/* ---- the kernel */

static struct {
    uint64_t due; /* NEVER: nothing is armed */
    uint64_t late_most, early_most;
    uint32_t came, stray;
} kernel;

static struct {
    uint64_t last;
    uint32_t count;
} sampled;

static void arm_kernel(uint64_t cycles)
{
    machine.now += 50;
    if (is_mode(PROF_LAPIC_BY_TSC)) {
        kernel.due = machine.now + cycles;
        prof_set_msr(PROF_MSR_TSC_DEADLINE, prof_lapic_arm_tsc(kernel.due));
        return;
    }
    /* what it means is what the count comes to */
    cycles = (uint64_t)counts_in(cycles) + 1;
    kernel.due = machine.now + count_cycles(cycles);
    write_reg(PROF_LAPIC_COUNT, prof_lapic_arm((uint32_t)cycles));
}

/* What the gate's stubs do, and the kernel's handler. */
static void interrupt(void)
{
    struct prof_cpu *cpu = prof_cpu_here();
    uint64_t off;
    bool sample;

    machine.now += DELIVERY_CYCLES;
    sample = machine.now >= cpu->lapic.sample_due;
    if (sample) {
        sampled.count++;
        sampled.last = machine.now;
    }
    if (!prof_lapic_turn(sample))
        return;
    if (kernel.due == NEVER) {
        kernel.stray++;
        return;
    }
    kernel.came++;
    off = machine.now - kernel.due;
    if (machine.now >= kernel.due && off > kernel.late_most)
        kernel.late_most = off;
    if (machine.now < kernel.due && 0 - off > kernel.early_most)
        kernel.early_most = 0 - off;
    kernel.due = NEVER;
}

void prof_port_interrupts_restore(bool on)
{
    if (on && machine.pending) {
        machine.pending = false;
        interrupt();
    }
    machine.interrupts = on;
}

static void run_until(uint64_t end)
{
    while (fires_at() <= end) {
        uint64_t fires = fires_at();

        if (fires > machine.now)
            machine.now = fires;
        machine.armed_at = NEVER;
        machine.deadline = 0;
        interrupt();
    }
    if (machine.now < end)
        machine.now = end;
}

static struct prof_config config_here(void)
{
    return (struct prof_config){
        .tsc_hz = machine.tsc_hz,
        .tick = {.kind = PROF_TICK_LAPIC,
                 .lapic_vector = VECTOR,
                 .lapic_shared = true,
                 .lapic_at = 0x1000},
    };
}

static void open_and_start(void)
{
    struct prof_config config = config_here();

    memset(&kernel, 0, sizeof kernel);
    memset(&sampled, 0, sizeof sampled);
    kernel.due = NEVER;
    memset(prof_cpus, 0, sizeof prof_cpus);
    prof_cpus[0].ring.begin = prof_cpus[0].ring.head = prof_cpus[0].ring.tail =
        calloc(2, sizeof(struct prof_entry));
    prof_cpus[0].ring.end = prof_cpus[0].ring.begin + 2;
    assert_true(prof_source_open(&config) == &prof_source_lapic);
    assert_int_equal(prof_source_lapic.start(false), PROF_OK);
}

static void stop_and_close(void)
{
    prof_source_lapic.stop(false);
    free(prof_cpus[0].ring.begin);
    memset(prof_cpus, 0, sizeof prof_cpus);
    prof_lapic_test = NULL;
}

static void end(void)
{
    prof_lapic_test = NULL;
    (void)prof_option("prof.tick=kernel");
    (void)prof_option("prof.hz=1000");
    world_end();
}

FIXTURE(NULL, end);

/* ---- how fast it counts */

static uint32_t measured(uint64_t tsc_hz, uint64_t hz)
{
    struct prof_lapic lapic = {0};

    assert_true(prof_lapic_find(&lapic, 0x1000, false));
    machine.tsc_hz = tsc_hz;
    machine.hz = hz;
    machine.interrupts = true;
    hz = prof_lapic_measure(&lapic, tsc_hz);
    assert_true(machine.interrupts);
    machine.interrupts = false;
    return (uint32_t)hz;
}

static void expect_near(uint32_t got, uint64_t wanted, uint64_t part)
{
    uint64_t off = got > wanted ? got - wanted : wanted - got;

    if (off > wanted / part)
        fail_msg("%u instead of %llu", got, (unsigned long long)wanted);
}

TEST(the_timer_is_measured_against_the_tsc)
{
    static const struct {
        uint64_t tsc_hz, hz;
    } rows[] = {
        {1000000000, 1000000000}, {2900000000, 25000000},
        {3700000000, 24000000},   {800000000, 1000000000},
        {5000000000, 100000000},  {2100000000, 19200000},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        new_machine(rows[i].tsc_hz, rows[i].hz, i % 2 != 0,
                    PROF_LAPIC_ONE_SHOT);
        expect_near(measured(rows[i].tsc_hz, rows[i].hz), rows[i].hz, 50000);
        assert_int_equal(*reg(PROF_LAPIC_TIMER), VECTOR);
        assert_int_equal(*reg(PROF_LAPIC_DIVIDE), DIVIDE_BY_1);
    }
}

TEST(what_is_said_counts_where_the_timer_bears_it_out)
{
    new_machine(3000000000u, 24000000, false, PROF_LAPIC_ONE_SHOT);
    machine.leaf_15 = (struct prof_cpuid){2, 250, 24000000, 0};
    assert_int_equal(measured(3000000000u, 24000000), 24000000);
    /* the crystal by the nominal frequency */
    machine.leaf_15.c = 0;
    machine.leaf_16.a = 3000;
    assert_int_equal(measured(3000000000u, 24000000), 24000000);
    /* a hypervisor's own word */
    machine.leaf_1.c = HYPERVISOR;
    machine.leaf_rates.b = 1000000;
    assert_int_equal(measured(3000000000u, 1000000000), 1000000000);
    /* the processor's, which its hypervisor passes on, but counts otherwise */
    machine.leaf_rates.b = 0;
    machine.leaf_15.c = 24000000;
    expect_near(measured(3000000000u, 1000000000), 1000000000, 50000);
}

TEST(a_timer_that_does_not_count_is_none)
{
    new_machine(1000000000, 1000000000, false, PROF_LAPIC_ONE_SHOT);
    machine.stuck = true;
    assert_int_equal(measured(1000000000, 1000000000), 0);
}

TEST(a_deadline_by_tsc_outlives_the_measurement)
{
    new_machine(2000000000, 100000000, false, PROF_LAPIC_BY_TSC);
    machine.deadline = 123456789;
    (void)measured(2000000000, 100000000);
    assert_true(machine.deadline == 123456789);
    assert_int_equal(*reg(PROF_LAPIC_TIMER), PROF_LAPIC_BY_TSC | VECTOR);
}

TEST(the_division_is_read)
{
    static const uint8_t values[] = {0, 1, 2, 3, 8, 9, 10, 11};
    static const uint8_t divisors[] = {2, 4, 8, 16, 32, 64, 128, 1};
    struct prof_lapic lapic = {.at = 0x1000};

    new_machine(1000000000, 1000000000, false, PROF_LAPIC_ONE_SHOT);
    for (size_t i = 0; i < COUNT(values); i++) {
        *reg(PROF_LAPIC_DIVIDE) = values[i];
        assert_int_equal(prof_lapic_divisor(&lapic), divisors[i]);
    }
}

TEST(an_apic_that_is_off_or_missing_is_not_found)
{
    struct prof_lapic lapic = {0};

    new_machine(1000000000, 1000000000, false, PROF_LAPIC_ONE_SHOT);
    machine.leaf_1.d = 0;
    assert_false(prof_lapic_find(&lapic, 0, true));
    machine.leaf_1.d = APIC_AND_MSR;
    machine.base = 0xfee00000u;
    assert_false(prof_lapic_find(&lapic, 0, false));
    *reg(PROF_LAPIC_SPURIOUS) = 0xff;
    assert_true(prof_lapic_find(&lapic, 0, true));
    assert_true((machine.base & BASE_ON) != 0);
    assert_int_equal(*reg(PROF_LAPIC_SPURIOUS), 0x1ff);
    assert_int_equal(*reg(PROF_LAPIC_LINT0), 0x700); /* the PIC's line */
    assert_true(lapic.at == 0xfee00000u);
    *reg(PROF_LAPIC_SPURIOUS) = 0xff;
    assert_false(prof_lapic_find(&lapic, 0, false));
}

/* ---- deadlines and samples */

static void expect_exact(uint64_t tsc_hz, uint64_t hz, uint32_t divide,
                         const char *rate)
{
    uint64_t least = tsc_hz / 500000, begin, count = count_cycles(1);

    *reg(PROF_LAPIC_DIVIDE) = divide;
    count = count_cycles(1);
    assert_int_equal(prof_option(rate), PROF_OK);
    open_and_start();
    begin = machine.now;
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t most = (uint32_t)(tsc_hz / (i % 8 == 0 ? 20 : 2000));

        arm_kernel(least + unit_below(most));
        run_until(kernel.due + tsc_hz / 10000);
        assert_true(kernel.due == NEVER);
    }
    assert_int_equal(kernel.came, 2000);
    assert_int_equal(kernel.stray, 0);
    /* the handler's start, and the timer's own grain */
    if (kernel.late_most > tsc_hz / 1000000 + count ||
        kernel.early_most > tsc_hz / 1000000)
        fail_msg("%llu of %llu Hz: %llu cycles late, %llu early",
                 (unsigned long long)hz, (unsigned long long)tsc_hz,
                 (unsigned long long)kernel.late_most,
                 (unsigned long long)kernel.early_most);
    /* the period is the first one: the stub would have it vary */
    begin = (machine.now - begin) / prof_cpu_here()->lapic.period;
    if (sampled.count > begin + 1 || sampled.count + 2 < begin)
        fail_msg("%u samples instead of %llu", sampled.count,
                 (unsigned long long)begin);
    stop_and_close();
}

TEST(deadlines_are_exact_beside_samples)
{
    static const struct {
        uint64_t tsc_hz, hz;
        uint32_t divide, mode;
    } rows[] = {
        {1000000000, 1000000000, DIVIDE_BY_1, PROF_LAPIC_ONE_SHOT},
        {2900000000, 25000000, DIVIDE_BY_1, PROF_LAPIC_ONE_SHOT},
        {3700000000, 24000000, DIVIDE_BY_1, PROF_LAPIC_ONE_SHOT},
        {800000000, 1000000000, DIVIDE_BY_1, PROF_LAPIC_ONE_SHOT},
        {2100000000, 100000000, DIVIDE_BY_16, PROF_LAPIC_ONE_SHOT},
        {2900000000, 25000000, DIVIDE_BY_1, PROF_LAPIC_BY_TSC},
        {5100000000, 1000000000, DIVIDE_BY_1, PROF_LAPIC_BY_TSC},
    };
    static const char *const rates[] = {"prof.hz=1000", "prof.hz=20000",
                                        "prof.hz=30"};

    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t j = 0; j < 2 * COUNT(rates); j++) {
            new_machine(rows[i].tsc_hz, rows[i].hz, j % 2 != 0, rows[i].mode);
            expect_exact(rows[i].tsc_hz, rows[i].hz, rows[i].divide,
                         rates[j / 2]);
        }
}

/* Further away than what the timer is armed for at once; and none at all. */
TEST(a_far_deadline_comes_in_time)
{
    new_machine(2900000000, 25000000, false, PROF_LAPIC_ONE_SHOT);
    assert_int_equal(prof_option("prof.hz=20"), PROF_OK);
    open_and_start();
    arm_kernel(9 * machine.tsc_hz);
    run_until(kernel.due - machine.tsc_hz / 1000);
    assert_int_equal(kernel.came, 0);
    run_until(kernel.due + machine.tsc_hz / 1000);
    assert_int_equal(kernel.came, 1);
    /* by the ratio of the clocks, which is known to some parts in a million */
    assert_true(kernel.late_most < 9 * machine.tsc_hz / 50000);
    assert_true(kernel.early_most < 9 * machine.tsc_hz / 50000);
    write_reg(PROF_LAPIC_COUNT, prof_lapic_arm(0));
    run_until(machine.now + machine.tsc_hz);
    assert_int_equal(kernel.came, 1);
    assert_true(sampled.count > 150);
    stop_and_close();
}

/* A deadline beyond a step is the timer's own when sampling ends: nobody would
 * arm it again. */
static void expect_far_after_stop(uint32_t mode, uint64_t seconds, bool waiting)
{
    uint64_t slack;

    new_machine(2900000000, 25000000, false, mode);
    open_and_start();
    arm_kernel(seconds * machine.tsc_hz);
    run_until(machine.now + machine.tsc_hz / 2);
    assert_true(sampled.count > 400);
    machine.pending = waiting;
    prof_source_lapic.stop(waiting);
    assert_false(machine.pending);
    slack = mode == PROF_LAPIC_BY_TSC ? 0 : seconds * machine.tsc_hz / 50000;
    if (fires_at() + slack < kernel.due || fires_at() > kernel.due + slack)
        fail_msg("at %llu instead of %llu", (unsigned long long)fires_at(),
                 (unsigned long long)kernel.due);
    assert_int_equal(kernel.came, 0);
    free(prof_cpus[0].ring.begin);
    memset(prof_cpus, 0, sizeof prof_cpus);
}

TEST(a_far_deadline_is_the_kernels_again_after_a_stop)
{
    for (int waiting = 0; waiting < 2; waiting++) { /* a sample's tick */
        expect_far_after_stop(PROF_LAPIC_ONE_SHOT, 2, waiting != 0);
        /* nearly 2^32 counts */
        expect_far_after_stop(PROF_LAPIC_ONE_SHOT, 171, waiting != 0);
        expect_far_after_stop(PROF_LAPIC_BY_TSC, 2, waiting != 0);
        expect_far_after_stop(PROF_LAPIC_BY_TSC, 100000, waiting != 0);
    }
}

/* From some 2^40 cycles on: a slow clock, divided, and a large count. */
TEST(a_count_of_minutes_is_not_early)
{
    static const uint32_t counts[] = {1u << 29, 1u << 30, UINT32_MAX};

    for (size_t i = 0; i < COUNT(counts); i++) {
        uint64_t due, slack;

        new_machine(2900000000, 25000000, false, PROF_LAPIC_ONE_SHOT);
        *reg(PROF_LAPIC_DIVIDE) = DIVIDE_BY_16;
        open_and_start();
        due = machine.now + count_cycles(counts[i]);
        write_reg(PROF_LAPIC_COUNT, prof_lapic_arm(counts[i]));
        slack = count_cycles(counts[i]) / 50000;
        assert_true(prof_cpu_here()->lapic.kernel_due > due - slack);
        assert_true(prof_cpu_here()->lapic.kernel_due < due + slack);
        run_until(machine.now + machine.tsc_hz / 10);
        assert_int_equal(kernel.stray, 0);
        prof_source_lapic.stop(false);
        assert_true(fires_at() > due - slack && fires_at() < due + slack);
        free(prof_cpus[0].ring.begin);
        memset(prof_cpus, 0, sizeof prof_cpus);
    }
}

static bool is_opened(uint64_t tsc_hz, uint64_t hz)
{
    struct prof_config config;

    new_machine(tsc_hz, hz, false, PROF_LAPIC_ONE_SHOT);
    config = config_here();
    world_output_bytes = 0;
    world_output[0] = '\0';
    return prof_source_open(&config) != NULL;
}

TEST(a_timer_whose_counts_do_not_fit_is_refused)
{
    assert_true(is_opened(100000000, 1500000000));
    assert_string_equal(world_output, "");
    assert_false(is_opened(100000000, 1700000000));
    assert_string_equal(world_output, "prof: the local APIC's timer counts too "
                                      "fast for the TSC\n");
    assert_true(is_opened(100000000, 1300000));
    assert_false(is_opened(100000000, 1100000));
    assert_string_equal(world_output,
                        "prof: the local APIC's timer does not count\n");
}

static void expect_taken_over(uint32_t mode)
{
    new_machine(2000000000, 100000000, false, mode);
    arm_kernel(30000000); /* 15 ms */
    {
        uint64_t due = kernel.due;

        open_and_start();
        kernel.due = due;
    }
    /* measuring has taken 10 ms; a count went on from there */
    if (mode == PROF_LAPIC_ONE_SHOT)
        kernel.due += machine.tsc_hz / 100;
    run_until(machine.now + 10000000);
    prof_source_lapic.stop(false);
    assert_int_equal(kernel.came, mode == PROF_LAPIC_BY_TSC);
    assert_true(sampled.count > 2);
    if (mode == PROF_LAPIC_ONE_SHOT) { /* it is the kernel's again */
        uint64_t left = fires_at() - kernel.due;

        assert_true(left < 40000 || left > UINT64_MAX - 40000);
    } else {
        assert_true(fires_at() == NEVER);
    }
    free(prof_cpus[0].ring.begin);
    memset(prof_cpus, 0, sizeof prof_cpus);
}

TEST(a_deadline_that_was_armed_before_stays)
{
    expect_taken_over(PROF_LAPIC_ONE_SHOT);
    expect_taken_over(PROF_LAPIC_BY_TSC);
}

TEST(a_tick_that_waits_when_sampling_begins_is_the_kernels)
{
    new_machine(1000000000, 1000000000, false, PROF_LAPIC_ONE_SHOT);
    machine.pending = true;
    open_and_start();
    machine.pending = false;
    kernel.due = 0;
    interrupt();
    assert_int_equal(kernel.came, 1);
    stop_and_close();
}

/* A busy host's emulator: the timer has counted down, and its interrupt is not
 * even pending. What is then written to the timer cancels it. */
TEST(a_tick_that_the_emulator_is_late_with_is_the_kernels)
{
    new_machine(1000000000, 1000000000, false, PROF_LAPIC_ONE_SHOT);
    write_reg(PROF_LAPIC_COUNT, 1000);
    kernel.due = machine.now + 1000;
    machine.now += 5000;
    {
        uint64_t due = kernel.due;

        open_and_start();
        kernel.due = due;
    }
    run_until(machine.now + machine.tsc_hz / 10);
    assert_int_equal(kernel.came, 1);
    assert_int_equal(kernel.stray, 0);
    assert_true(sampled.count > 90);
    stop_and_close();
}

static void check_after(uint64_t cycles, uint32_t taken_back)
{
    machine.now += cycles;
    prof_source_lapic_check();
    assert_int_equal(prof_tick_counts.lapic_taken_back, taken_back);
}

TEST(a_tick_of_ours_that_is_late_was_not_taken_by_others)
{
    new_machine(1000000000, 1000000000, false, PROF_LAPIC_ONE_SHOT);
    open_and_start();
    prof_tick_counts.lapic_taken_back = 0;
    check_after(machine.tsc_hz / 2, 0); /* of a rate of 30 to 20,000 Hz */
    assert_true(strstr(world_output, "armed by other code") == NULL);
    check_after(machine.tsc_hz, 1); /* it will not come */
    assert_true(strstr(world_output, "armed by other code") != NULL);
    /* another count; and none */
    run_until(machine.now + machine.tsc_hz / 10);
    check_after(0, 1);
    write_reg(PROF_LAPIC_COUNT, 123456789);
    check_after(0, 2);
    write_reg(PROF_LAPIC_COUNT, 0);
    check_after(0, 3);
    run_until(machine.now + machine.tsc_hz / 10);
    stop_and_close();
}

TEST(while_nothing_is_sampled_nothing_is_changed)
{
    memset(prof_cpus, 0, sizeof prof_cpus);
    assert_int_equal(prof_lapic_arm(12345), 12345);
    assert_int_equal(prof_lapic_arm(0), 0);
    assert_true(prof_lapic_arm_tsc(1ull << 40) == 1ull << 40);
}

TEST(each_tick_of_the_samplers_own_is_acknowledged_once)
{
    new_machine(1000000000, 1000000000, true, PROF_LAPIC_ONE_SHOT);
    open_and_start();
    run_until(machine.now + machine.tsc_hz);
    assert_true(sampled.count > 900);
    assert_int_equal(machine.acknowledged, sampled.count);
    stop_and_close();
}

/* ---- which timer */

/* What is chosen for (config), or an error; what was said is in
 * world_output. */
static int chosen(struct prof_config config)
{
    int error;

    world_output_bytes = 0;
    world_output[0] = '\0';
    error = prof_source_choose(&config);
    return error != PROF_OK ? error : (int)config.tick.kind;
}

TEST(the_timer_that_is_there_is_taken)
{
    struct prof_config config;

    new_machine(1000000000, 1000000000, false, PROF_LAPIC_ONE_SHOT);
    config = config_here();
    config.tick.kind = PROF_TICK_AUTO;
    config.tick.vector = 32;
    config.tick.kernel_divisor = 11932;
    pit_is_there = true;
    pit_one_shot = false;
    assert_int_equal(chosen(config), PROF_TICK_PIT);
    assert_string_equal(world_output, "");
    config.tick.kernel_divisor = 0;
    assert_int_equal(chosen(config), PROF_TICK_OWN_PIT);
    config.tick.kernel_divisor = 11932;
    pit_one_shot = true;
    assert_int_equal(chosen(config), PROF_TICK_LAPIC);
    assert_string_equal(world_output,
                        "prof: sampling by the local APIC's timer: the kernel "
                        "uses the PIT in one-shot mode\n");
    pit_is_there = pit_one_shot = false;
    assert_int_equal(chosen(config), PROF_TICK_LAPIC);
    assert_string_equal(world_output,
                        "prof: sampling by the local APIC's timer: there is no "
                        "PIT\n");
    machine.leaf_1.d = 0;
    assert_int_equal(chosen(config), PROF_ETIMER);
    assert_string_equal(world_output,
                        "prof: no timer to sample by: there is no PIT; the CPU "
                        "has no local APIC, or it is off\n");
    pit_is_there = true;
    assert_int_equal(chosen(config), PROF_TICK_PIT);
    assert_string_equal(world_output, "");
}

TEST(the_option_comes_first_and_says_what_it_does)
{
    struct prof_config config;

    new_machine(1000000000, 1000000000, false, PROF_LAPIC_ONE_SHOT);
    config = config_here();
    config.tick.kind = PROF_TICK_PIT;
    config.tick.vector = 32;
    config.tick.kernel_divisor = 11932;
    pit_is_there = true;
    pit_one_shot = false;
    assert_int_equal(prof_option("prof.tick=lapic"), PROF_OK);
    assert_int_equal(chosen(config), PROF_TICK_LAPIC);
    assert_string_equal(world_output,
                        "prof: sampling by the local APIC's timer: as "
                        "prof.tick says\n");
    config.tick.lapic_vector = 0;
    assert_int_equal(chosen(config), PROF_TICK_PIT);
    assert_string_equal(world_output,
                        "prof: sampling by the PIT: the kernel leaves no local "
                        "APIC's timer to the profiler\n");
    config.tick.lapic_vector = VECTOR;
    assert_int_equal(prof_option("prof.tick=pit"), PROF_OK);
    pit_is_there = false;
    assert_int_equal(chosen(config), PROF_TICK_LAPIC);
    pit_is_there = true;
    assert_int_equal(prof_option("prof.tick=auto"), PROF_OK);
    assert_int_equal(chosen(config), PROF_TICK_PIT);
    assert_string_equal(world_output,
                        "prof: sampling by the PIT: it is there, and "
                        "periodic\n");
    config.tick.kind = PROF_TICK_HOOK;
    assert_int_equal(chosen(config), PROF_TICK_HOOK);
    assert_true(strstr(world_output, "prof.tick has no effect") != NULL);
    assert_int_equal(prof_option("prof.tick=hpet"), PROF_EVALUE);
}
