/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KVM_TIMER_H
#define KVM_TIMER_H

/*
 * A machine in virtual time: a CPU that its host may suspend, and a PIT or a
 * periodic local APIC's timer like KVM's (docs/kvm.md has each difference from
 * the devices). It is the profiler's PIT by its ports, its local APIC by the
 * registers in memory, with a timer of 1 GHz, and the profiler's clock. Time
 * passes where the clock is read, and in kvm_run(); then the timer expires, and
 * the CPU takes the interrupt, if it runs and has them on. A cycle of the TSC
 * is a nanosecond.
 *
 * Included by the one .c file of a test program, after profiler_world.h.
 */

#include "tick/idt_gate.h"
#include "tick/jitter.h"
#include "tick/lapic.h"
#include "tick/pit.h"

#include <prof/kvm.h>

#define KVM_TSC_HZ 1000000000u
#define KVM_READ_NS 20u     /* that a read of the clock takes */
#define KVM_HANDLER_NS 800u /* interrupt to acknowledge */
#define KVM_NEVER UINT64_MAX

/* What differs from one host to another. */
struct kvm_host {
    uint32_t min_period_ns; /* of periodic timers; 0: QEMU's, any */
    bool reinject;    /* lost_tick_policy: delay, or with false, discard */
    uint32_t late_ns; /* its timer expires so much too late, at most */
    uint32_t steal_every_us, steal_us; /* on average, 0: never */
    bool says;                         /* how much it has stolen */
    bool lapic; /* the timer is the local APIC's, periodic: one tick at most is
                   pending, and the first comes no sooner either */
};

static struct {
    struct kvm_host host;
    uint64_t now;
    bool interrupts; /* on */
    uint64_t steal_at, stolen;

    /* the PIT, channel 0 */
    uint8_t mode, status;
    uint8_t writes, reads; /* of the bytes in turn */
    uint32_t count;        /* as it was written, from 1 on */
    uint16_t latch;
    uint64_t period, due, late; /* due: without late; KVM_NEVER: stopped */
    uint32_t pending;           /* expired, and not acknowledged */
    bool acknowledged;

    uint32_t apic_timer, apic_divide, apic_count;

    bool requested;     /* by the interrupt controller, of the CPU */
    uint64_t coalesced; /* expired while that was so */
    uint64_t expired;
    uint64_t programmed; /* times */
    uint64_t dropped;    /* held back when it was programmed anew */

    uint64_t ticks, kernel_ticks;
} kvm;

static struct prof_kvm_steal_time kvm_steal_time;

/* ---- the timer */

static void kvm_raise(void)
{
    if ((kvm.apic_timer & PROF_LAPIC_MASKED) != 0)
        return;
    if (kvm.host.reinject) {
        if (!kvm.acknowledged)
            return;
        kvm.acknowledged = false;
    }
    kvm.coalesced += kvm.requested;
    kvm.requested = true;
}

static void kvm_acknowledge(void)
{
    kvm.acknowledged = true;
    if (kvm.pending > 0 && --kvm.pending > 0)
        kvm_raise();
}

static void kvm_expire(void)
{
    bool periodic = kvm.mode == 2 || kvm.mode == 3;

    kvm.expired++;
    if (kvm.host.reinject)
        kvm.pending++;
    kvm_raise();
    kvm.due = periodic ? kvm.due + kvm.period : KVM_NEVER;
    kvm.late = kvm.host.late_ns != 0 ? unit_below(kvm.host.late_ns) : 0;
}

static uint64_t kvm_ns_of(uint64_t counts)
{
    return counts * 1000000000u / PROF_PIT_HZ;
}

/* The count is complete: the timer begins anew. Only the period is limited: the
 * first time is what was asked for. */
static void kvm_load(void)
{
    uint64_t asked = kvm_ns_of(kvm.count);

    kvm.programmed++;
    kvm.dropped += kvm.pending > 1 ? kvm.pending - 1 : 0;
    kvm.pending = 0;
    kvm.acknowledged = true;
    kvm.period =
        asked < kvm.host.min_period_ns ? kvm.host.min_period_ns : asked;
    kvm.due = kvm.now + (kvm.host.lapic ? kvm.period : asked);
    if (kvm.mode == 1)
        kvm.due = KVM_NEVER;
    kvm.late = 0;
}

/* What is read of the count wraps at what was written, though the period may be
 * longer, and begins anew in time, though the timer expires late. */
static uint16_t kvm_count(void)
{
    uint64_t end = kvm.now + kvm.period;
    uint64_t passed = end > kvm.due ? end - kvm.due : 0;

    if (kvm.due == KVM_NEVER)
        return (uint16_t)kvm.count;
    return (uint16_t)(kvm.count -
                      passed * PROF_PIT_HZ / 1000000000u % kvm.count);
}

void prof_out8(uint16_t port, uint8_t value)
{
    if (port == PROF_PIT_COMMAND && value >> 6 == 3) {
        kvm.latch = kvm_count();
        kvm.status = (uint8_t)(0x30 | kvm.mode << 1);
        kvm.reads = 0;
    } else if (port == PROF_PIT_COMMAND) {
        kvm.mode = value >> 1 & 7;
        kvm.writes = 0;
        if (kvm.mode == 1)
            kvm.due = KVM_NEVER;
    } else if (kvm.writes++ % 2 == 0) {
        kvm.latch = value;
    } else {
        kvm.count = (uint32_t)value << 8 | (kvm.latch & 0xff);
        if (kvm.count == 0)
            kvm.count = 65536;
        kvm_load();
    }
}

uint8_t prof_in8(uint16_t port)
{
    uint8_t turn = kvm.reads++ % 3;

    (void)port;
    if (turn == 0)
        return kvm.status;
    return (uint8_t)(turn == 1 ? kvm.latch : kvm.latch >> 8);
}

static void kvm_pass(uint64_t ns);

/* Of leaf 1, the last one, MSR and a local APIC, where there is one. */
struct prof_cpuid prof_cpuid_raw(uint32_t leaf)
{
    const bool apic = prof_lapic_test != NULL;

    return (struct prof_cpuid){.a = leaf == 0,
                               .d = apic && leaf == 1 ? 1u << 9 | 1u << 5 : 0};
}

uint64_t prof_msr(uint32_t number)
{
    assert_int_equal(number, PROF_MSR_APIC_BASE);
    return 0xfee00000u | 1u << 11;
}

static uint32_t kvm_apic_read(uint32_t offset)
{
    kvm_pass(KVM_READ_NS);
    switch (offset) {
    case PROF_LAPIC_SPURIOUS:
        return 0x1ff;
    case PROF_LAPIC_TIMER:
        return kvm.apic_timer;
    case PROF_LAPIC_DIVIDE:
        return kvm.apic_divide;
    case PROF_LAPIC_COUNT:
        return kvm.apic_count;
    case PROF_LAPIC_LEFT:
        return kvm.due != KVM_NEVER && kvm.due > kvm.now
                   ? (uint32_t)(kvm.due - kvm.now)
                   : 0;
    default:
        fail_msg("register %x", offset);
        return 0;
    }
}

static void kvm_apic_load(uint32_t count)
{
    kvm.programmed++;
    kvm.apic_count = count;
    kvm.period = count;
    if (kvm.mode == 2 && count < kvm.host.min_period_ns)
        kvm.period = kvm.host.min_period_ns;
    kvm.due = count != 0 ? kvm.now + kvm.period : KVM_NEVER;
    kvm.late = 0;
    kvm.requested = kvm.requested && count != 0;
}

static void kvm_apic_write(uint32_t offset, uint32_t value)
{
    kvm_pass(KVM_READ_NS);
    if (offset == PROF_LAPIC_TIMER) {
        if (((kvm.apic_timer ^ value) & PROF_LAPIC_MODE) != 0)
            kvm_apic_load(0);
        kvm.apic_timer = value;
        kvm.mode = (value & PROF_LAPIC_PERIODIC) != 0 ? 2 : 0;
    } else if (offset == PROF_LAPIC_DIVIDE) {
        kvm.apic_divide = value;
    } else if (offset == PROF_LAPIC_COUNT) {
        assert_int_equal(kvm.apic_divide, PROF_LAPIC_BY_1);
        kvm_apic_load(value);
    }
}

static const struct prof_lapic_test kvm_apic = {
    .read = kvm_apic_read,
    .write = kvm_apic_write,
    .tsc = prof_port_tsc,
};

/* ---- the CPU */

/* What the stub does (tick/<width>/parasite.asm). */
static void kvm_interrupt(void)
{
    struct prof_cpu *cpu = &prof_cpus[0];

    kvm.requested = false;
    kvm.interrupts = false;
    kvm.now += KVM_HANDLER_NS / 2;
    kvm.ticks++;
    world_tick(0x1000, kvm.now);
    if (--cpu->tick.jitter.ticks_left == 0)
        prof_jitter_turn((uint32_t)kvm.now);
    if (kvm.now >= cpu->tick.pass_due) {
        kvm.kernel_ticks++;
        cpu->tick.pass_due += cpu->tick.pass_period;
    }
    kvm.now += KVM_HANDLER_NS / 2;
    kvm_acknowledge();
    kvm.interrupts = true;
}

static void kvm_steal_next(void)
{
    kvm.steal_at =
        kvm.host.steal_every_us == 0
            ? KVM_NEVER
            : kvm.now + 1 + unit_below(2000 * kvm.host.steal_every_us);
}

/* The host does not run the CPU; its timer goes on. */
static void kvm_steal(uint64_t ns)
{
    kvm.now += ns;
    kvm.stolen += ns;
    kvm_steal_time.steal_ns += ns;
    while (kvm.due != KVM_NEVER && kvm.due + kvm.late <= kvm.now)
        kvm_expire();
    kvm_steal_next();
}

static void kvm_pass(uint64_t ns)
{
    uint64_t end = kvm.now + ns;

    do {
        uint64_t next = end;
        bool steal = kvm.steal_at < next, expire;

        if (steal)
            next = kvm.steal_at;
        expire = kvm.due != KVM_NEVER && kvm.due + kvm.late <= next;
        if (expire)
            next = kvm.due + kvm.late;
        if (next > kvm.now)
            kvm.now = next;
        if (expire)
            kvm_expire();
        else if (steal)
            kvm_steal(1000 + unit_below(2000 * kvm.host.steal_us));
        while (kvm.interrupts && kvm.requested)
            kvm_interrupt();
    } while (kvm.now < end);
}

uint64_t prof_port_tsc(void)
{
    if (kvm.now != 0)
        kvm_pass(KVM_READ_NS);
    return kvm.now;
}

bool prof_port_interrupts_off(void)
{
    bool on = kvm.interrupts;

    kvm.interrupts = false;
    return on;
}

void prof_port_interrupts_restore(bool on)
{
    kvm.interrupts = on;
    kvm_pass(KVM_READ_NS);
}

bool prof_gate_enter(uint8_t vector, void (*stub)(void), size_t next)
{
    (void)stub;
    (void)next;
    return vector != 0;
}

void prof_gate_leave(void)
{
}

void prof_gate_check(uint64_t period)
{
    (void)period;
}

/* ---- what a test calls */

/* The program computes for (ms) of time, and drains when that is due. */
static inline void kvm_run(uint32_t ms)
{
    uint64_t end = kvm.now + ms * 1000000ull;

    while (kvm.now < end) {
        uint64_t drain = kvm.now + prof_drain_ms() * 1000000ull;

        kvm_pass((drain < end ? drain : end) - kvm.now);
        prof_drain();
    }
}

/* A kernel on (host) whose PIT is as in (tick), sampled at (hz). */
static inline void kvm_start(struct kvm_host host, struct prof_tick tick,
                             uint32_t hz)
{
    const struct prof_config config = {
        .tsc_hz = KVM_TSC_HZ,
        .tick = tick,
        .idle = {0x9000, 0x9010},
        .text = {0x1000, 0x1000000},
        .steal_time = host.says ? &kvm_steal_time : NULL,
    };

    world_end();
    world_memory = malloc(PROF_MEMORY_DEFAULT);
    memset(prof_cpus, 0, sizeof prof_cpus);
    memset(&kvm, 0, sizeof kvm);
    prof_control_forget();
    world_output_bytes = 0;
    world_output[0] = '\0';
    world_refuse_from = -1;
    kvm.host = host;
    kvm.now = 1000000;
    kvm.due = KVM_NEVER;
    kvm.interrupts = true;
    kvm.apic_timer = tick.kind == PROF_TICK_LAPIC ? PROF_LAPIC_MASKED : 0;
    kvm.apic_divide = PROF_LAPIC_BY_1;
    prof_lapic_test = tick.kind == PROF_TICK_LAPIC ? &kvm_apic : NULL;
    kvm_steal_next();
    prof_options_in_force.hz = hz;
    prof_options_in_force.drain_ms = 0;
    if (tick.kind == PROF_TICK_PIT) { /* as the kernel has programmed it */
        prof_out8(PROF_PIT_COMMAND, 0x34);
        prof_out8(0x40, (uint8_t)tick.kernel_divisor);
        prof_out8(0x40, (uint8_t)(tick.kernel_divisor >> 8));
    }
    if (prof_init(world_memory, PROF_MEMORY_DEFAULT, &config) != 0 ||
        prof_start() != 0)
        abort();
    world_output_bytes = 0;
    world_output[0] = '\0';
}

#endif
