/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What is asked of KVM, and how its structures are read: with a CPUID, with
 * registers and with structures that are made up, as no test has them.
 */

#include "../single_step.h"
#include "../unit.h"

#include "profiler_world.h"

#include "base/cpu_features.h"
#include "tick/kvm.h"

#include <prof/kvm.h>
#include <signal.h>

#define MSR_CLOCK 0x4b564d01u
#define MSR_STEAL 0x4b564d03u
#define OFFSET 0x1000u /* of the image */

#define KVM 0x4b4d564b, 0x564b4d56, 0x4d
#define TCG 0x54474354, 0x43544743, 0x47435447
#define HYPER_V 0x7263694d, 0x666f736f, 0x76482074

/* ---- a machine */

static struct leaf {
    uint32_t leaf;
    struct prof_cpuid of;
} leaves[16];
static size_t leaf_count;
static unsigned hypervisor_reads; /* of its leaves */

static uint64_t clock_msr, steal_msr;
static unsigned msr_writes;
static uint64_t lent; /* the last structure that a register was given */
static uint32_t scale;
static int8_t shift;
static bool odd; /* versions that KVM leaves */

struct prof_cpuid prof_cpuid_raw(uint32_t leaf)
{
    hypervisor_reads += leaf >> 16 == 0x4000;
    for (size_t i = 0; i < leaf_count; i++)
        if (leaves[i].leaf == leaf)
            return leaves[i].of;
    return (struct prof_cpuid){0, 0, 0, 0};
}

uint64_t prof_msr(uint32_t number)
{
    if (number != MSR_CLOCK && number != MSR_STEAL)
        fail_msg("rdmsr %#x", number);
    return number == MSR_CLOCK ? clock_msr : steal_msr;
}

void prof_set_msr(uint32_t number, uint64_t value)
{
    msr_writes++;
    *(number == MSR_CLOCK ? &clock_msr : &steal_msr) = value;
    if ((value & 1) == 0)
        return;
    lent = value - 1;
    assert_int_equal((lent + OFFSET) % 64, 0);
    if (number == MSR_CLOCK) {
        struct prof_kvm_clock *clock = (void *)(uintptr_t)(lent + OFFSET);

        clock->version = odd ? 3 : 2;
        clock->tsc_to_ns = scale;
        clock->tsc_shift = shift;
    }
}

static void add_leaf(uint32_t leaf, uint32_t a, uint32_t b, uint32_t c,
                     uint32_t d)
{
    leaves[leaf_count++] = (struct leaf){leaf, {a, b, c, d}};
}

/* A CPU with leaves up to (most), under a hypervisor or not. */
static void machine(uint32_t most, bool hypervisor)
{
    leaf_count = 0;
    hypervisor_reads = 0;
    clock_msr = steal_msr = 0;
    msr_writes = 0;
    odd = false;
    add_leaf(0, most, 0, 0, 0);
    add_leaf(1, 0, 0, hypervisor ? 1u << 31 : 0, 0);
}

/* One whose interface of KVM is at (first), with leaves up to (most) and
 * (features). */
static void kvm_machine(uint32_t first, uint32_t most, uint32_t features)
{
    machine(0xd, true);
    add_leaf(first, most, KVM);
    add_leaf(first + 1, features, 0, 0, 0);
}

#define CLOCK (1u << 3)
#define STEAL (1u << 5)

static uint64_t stated(void)
{
    return prof_tsc_hz_stated(true, OFFSET);
}

FIXTURE(NULL, NULL);

/* ---- the frequency */

TEST(the_hypervisor_says_it_first)
{
    kvm_machine(0x40000000, 0x40000010, CLOCK);
    add_leaf(0x40000010, 2400000, 0, 0, 0);
    assert_int_equal(stated(), 2400000000u);
    assert_int_equal(msr_writes, 0);
}

/* A leaf beyond the last repeats another one's values, so it must not count. */
TEST(a_leaf_beyond_the_last_says_nothing)
{
    machine(0xd, true);
    add_leaf(0x40000000, 0x40000001, TCG);
    add_leaf(0x40000010, 7, 7, 7, 7);
    add_leaf(0x15, 2, 200, 24000000, 0);
    assert_int_equal(stated(), 0);
}

TEST(without_a_hypervisor_its_leaves_are_not_read)
{
    machine(0x16, false);
    add_leaf(0x40000000, 0x40000010, KVM);
    add_leaf(0x40000010, 2400000, 0, 0, 0);
    add_leaf(0x15, 2, 200, 24000000, 0);
    assert_int_equal(stated(), 2400000000u);
    assert_int_equal(hypervisor_reads, 0);
    assert_int_equal(msr_writes, 0);
}

/* A crystal that is not known: 0. */
TEST(a_ratio_alone_is_no_frequency)
{
    machine(0x16, false);
    add_leaf(0x15, 2, 200, 0, 0);
    assert_int_equal(stated(), 0);
}

/* scale and shift as Linux's kvm_get_time_scale() has them for these. */
TEST(the_clock_implies_it)
{
    static const struct {
        uint32_t scale;
        int8_t shift;
        uint64_t hz;
    } rates[] = {
        {0x80000000, 1, 1000000000},
        {0x80000000, 0, 2000000000},
        {3579139413u, -1, 2400000000},
        {2863311531u, 0, 1500000000},
        {0x80000000, -2, 8000000000},
        {0xffffffff, 3, 125000000},
        {4294967u, 0, 1000000076102},
        {0, 0, 0},
        {0x80000000, 32, 0},
        {0x80000000, -32, 0},
        {1, -31, 0},
        {0x80000000, INT8_MIN, 0},
        {0x80000000, INT8_MAX, 0},
        {0xffffffff, 31, 0},
    };

    for (size_t i = 0; i < COUNT(rates); i++) {
        struct prof_kvm_clock clock = {.version = 2,
                                       .tsc_to_ns = rates[i].scale,
                                       .tsc_shift = rates[i].shift};
        uint64_t hz = prof_kvm_clock_hz(&clock);
        uint64_t off = hz > rates[i].hz ? hz - rates[i].hz : rates[i].hz - hz;

        if (off > rates[i].hz / 100000000)
            fail_msg("%#x, %d: %llu", rates[i].scale, rates[i].shift,
                     (unsigned long long)hz);
        clock.version++; /* being written, for ever */
        assert_int_equal(prof_kvm_clock_hz(&clock), 0);
    }
}

TEST(the_clock_is_lent_for_a_moment)
{
    kvm_machine(0x40000000, 0x40000001, CLOCK);
    scale = 3579139413u;
    shift = -1;
    assert_in_range(stated(), 2399999990u, 2400000010u);
    assert_int_equal(msr_writes, 2);
    assert_int_equal(clock_msr, 0);
}

TEST(it_is_not_lent_where)
{
    /* its physical address is not known */
    kvm_machine(0x40000000, 0x40000001, CLOCK);
    assert_int_equal(prof_tsc_hz_stated(false, OFFSET), 0);
    assert_int_equal(msr_writes, 0);
    /* the image has a clock of its own */
    clock_msr = 0x5000 | 1;
    assert_int_equal(stated(), 0);
    assert_int_equal(msr_writes, 0);
    assert_int_equal(clock_msr, 0x5001);
    /* KVM has none with these registers */
    kvm_machine(0x40000000, 0x40000001, ~CLOCK);
    assert_int_equal(stated(), 0);
    assert_int_equal(msr_writes, 0);
    /* it is another hypervisor, whose bits mean something else */
    machine(0xd, true);
    add_leaf(0x40000000, 0x40000001, TCG);
    add_leaf(0x40000001, ~0u, ~0u, ~0u, ~0u);
    assert_int_equal(stated(), 0);
    assert_int_equal(msr_writes, 0);
}

TEST(kvm_is_found_behind_another_interface)
{
    kvm_machine(0x40000100, 0x40000101, CLOCK);
    add_leaf(0x40000000, 0x40000005, HYPER_V);
    add_leaf(0x40000001, 0, 0, 0, 0); /* Hyper-V's */
    scale = 0x80000000;
    shift = 0;
    assert_int_equal(stated(), 2000000000u);
}

/* Before 2010 it did not say how many leaves there are. */
TEST(an_old_kvm_has_one_leaf)
{
    kvm_machine(0x40000000, 0, CLOCK);
    scale = 0x80000000;
    shift = 0;
    assert_int_equal(stated(), 2000000000u);
}

TEST(a_clock_that_is_never_complete_says_nothing)
{
    kvm_machine(0x40000000, 0x40000001, CLOCK);
    odd = true;
    assert_int_equal(stated(), 0);
    assert_int_equal(clock_msr, 0); /* and it is not lent any longer */
}

/* ---- stolen time */

static struct prof_kvm_steal_time page;

static void open_with(bool physical, const struct prof_kvm_steal_time *own)
{
    const struct prof_config config = {
        .physical = physical, .image_offset = OFFSET, .steal_time = own};

    prof_kvm_open(&config);
}

TEST(kvm_is_asked_for_stolen_time)
{
    struct prof_kvm_steal_time *own;
    uint64_t ns;

    kvm_machine(0x40000000, 0x40000001, STEAL);
    open_with(true, NULL);
    assert_true(prof_kvm_steals());
    assert_int_equal(msr_writes, 1);
    own = (void *)(uintptr_t)(lent + OFFSET);
    own->steal_ns = 1ull << 40 | 5;
    own->version = 2;
    assert_true(prof_kvm_stolen_ns(&ns));
    assert_int_equal(ns, 1ull << 40 | 5);
    own->version = 3;
    assert_false(prof_kvm_stolen_ns(&ns));
}

TEST(it_is_not_asked_where)
{
    kvm_machine(0x40000000, 0x40000001, STEAL);
    open_with(false, NULL); /* the physical address is not known */
    assert_false(prof_kvm_steals());
    steal_msr = 0x7000 | 1; /* the image has asked already, */
    open_with(true, NULL);
    assert_false(prof_kvm_steals());
    open_with(true, &page); /* and says where */
    assert_true(prof_kvm_steals());
    assert_int_equal(msr_writes, 0);
    kvm_machine(0x40000000, 0x40000001, ~STEAL);
    open_with(true, NULL);
    assert_false(prof_kvm_steals());
    machine(0xd, false);
    open_with(true, NULL);
    assert_false(prof_kvm_steals());
    assert_int_equal(msr_writes, 0);
}

/* ---- reads beside a host that writes between any two instructions */

#define PAUSE 400u

static volatile sig_atomic_t stores, waits, updates;
static volatile unsigned pause_steps; /* between two updates */

/* One store of an update, whose halves are always the same number. */
static void write_some(int number)
{
    uint32_t half = (uint32_t)updates + 1;

    (void)number;
    if (waits > 0) {
        waits--;
        return;
    }
    switch (stores++ % 4) {
    case 0:
        page.version++;
        break;
    case 1:
        page.steal_ns = (page.steal_ns & 0xffffffff00000000) | half;
        break;
    case 2:
        page.steal_ns = (page.steal_ns & 0xffffffff) | (uint64_t)half << 32;
        break;
    case 3:
        page.version++;
        updates++;
        waits = (int)pause_steps;
        break;
    default:
        break;
    }
}

TEST(no_read_is_torn)
{
    struct sigaction action = {.sa_handler = write_some};
    unsigned read = 0, changed = 0;
    uint64_t last = 0;

    page = (struct prof_kvm_steal_time){.steal_ns = 0};
    stores = waits = updates = 0;
    open_with(false, &page);
    assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
    for (unsigned i = 0; i < 600; i++) {
        uint64_t ns = 0;
        bool done;

        pause_steps = i % 2 == 0 ? PAUSE + 5 * i : 20 + i % 7;
        STEP_ON();
        done = prof_kvm_stolen_ns(&ns);
        STEP_OFF();
        if (!done)
            continue;
        read++;
        changed += ns != last;
        last = ns;
        if (ns >> 32 != (ns & 0xffffffff))
            fail_msg("torn: %#llx", (unsigned long long)ns);
    }
    assert_true(read > 200);
    assert_true(changed > 20);
}
