/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The source `lapic`: the local APIC's timer.
 *
 * A timer of our own is periodic. The gate has the stub that the PIT's has,
 * and each tick goes on to one that acknowledges it: a store, where the PIC
 * takes a port access. The period varies every so many ticks, as the PIT's.
 *
 * A shared timer is armed for the sooner of the next sample and the kernel's
 * deadline, both by the TSC. Samples are due on a grid of periods; a tick that
 * comes late moves on to the next place of it that is still to come, so that
 * the time base sees what a periodic timer would have missed. Where the tick
 * is for the kernel's deadline alone there is no sample: samples must have
 * nothing to do with what the program waits for.
 *
 * Of several CPUs each one has a timer that only it can program. So another CPU
 * begins and ends by itself, when it comes to a call or to a tick: `may_run` is
 * the first one's word, and `state` its own (tests/model/lapic.pml). Its timer
 * is always armed tick by tick, as a shared one, also where it is not the
 * kernel's. Its periods vary by a generator of its own, and no entry says how:
 * each sample is worth the time since the one before.
 *
 * Deadlines beyond CYCLES_MAX are reached in steps, while there is somebody to
 * take them: when sampling ends, the timer is armed for the deadline itself.
 */

#include "tick/source.h"

#include "base/cpu.h"
#include "base/options.h"
#include "sample/cpus.h"
#include "tick/clock.h"
#include "tick/floor.h"
#include "tick/idt_gate.h"
#include "tick/jitter.h"
#include "tick/lapic.h"
#include "tick/meter.h"
#include "tick/pit.h"
#include "tick/rate.h"

#include <prof/lapic.h>
#include <prof/port.h>
#include <prof/text.h>
#include <stddef.h>

#define CYCLES_BITS 28 /* so that scale may have 36 */
#define CYCLES_MAX (1u << CYCLES_BITS)
#define SCALE_SHIFT 32
#define FASTER_MAX 16u /* than the TSC, for these 36 bits */
#define INVERSE_SHIFT 24
#define HANDLER offsetof(struct prof_cpu, lapic.handler)
#define LATE_PERIODS 2    /* after which a tick should have come */
#define PATIENCE_PART 50u /* of a second: other CPUs have ended by then */
#define UNFIT 2u          /* looks that find a CPU so, one after the other */

static struct {
    struct prof_pit_rate rate; /* (kernel) is the longest that there is */
    uint32_t hz;               /* counts per second at a division by 1 */
    uint8_t vector;
    bool shared;
    bool running;
    bool said; /* that somebody else has armed it */
#if PROF_CPUS_MAX > 1
    bool keeps_gate;     /* it has stopped, and other CPUs have not yet */
    uint32_t spread;     /* of (rate), for other CPUs (tick/jitter.h) */
    uint32_t generation; /* counts its changes, and those of (hz) */
    uint32_t taken_back; /* by other CPUs, as far as it is counted */
    uint8_t unfit[PROF_CPUS_MAX];  /* checks that found it so, up to UNFIT */
    uintptr_t at;                  /* config.tick.lapic_at */
    void (*kick)(uint32_t number); /* config.kick */
#endif
} source;

static struct prof_lapic *lapic_here(void)
{
    return &prof_cpu_here()->lapic;
}

/* With several CPUs, the first one reads it; see begin_another(). */
static void set_state(struct prof_lapic *lapic, enum prof_lapic_state state)
{
    __atomic_store_n(&lapic->state, state,
                     PROF_CPUS_MAX > 1 ? __ATOMIC_SEQ_CST : __ATOMIC_RELAXED);
}

/* ---- between counts of the timer and cycles */

/* For a timer that counts (hz) times a second. */
static void set_scale(struct prof_lapic *lapic, uint32_t hz)
{
    uint64_t cycles = prof_clock.tsc_hz, counts = hz;
    uint32_t shift = 0;

    lapic->inverse = prof_divide(cycles << INVERSE_SHIFT, hz);
    for (; cycles >> 32 != 0; cycles >>= 1)
        shift++;
    lapic->scale =
        prof_divide(counts << SCALE_SHIFT, (uint32_t)cycles) >> shift;
}

/* By halves of (count): inverse has up to 47 bits. */
static uint64_t cycles_of(const struct prof_lapic *lapic, uint32_t count)
{
    uint64_t high = (count >> 16) * lapic->inverse;
    uint64_t low = (count & 0xffff) * lapic->inverse + ((high & 0xff) << 16);

    return (high >> (INVERSE_SHIFT - 16)) + (low >> INVERSE_SHIFT) + 1;
}

/* Never 0, never too few. (cycles): up to CYCLES_MAX. */
static uint32_t counts_of(const struct prof_lapic *lapic, uint64_t cycles)
{
    return (uint32_t)(cycles * lapic->scale >> SCALE_SHIFT) + 1;
}

/* The same for any that the timer can be armed for; more are all of it. */
static uint32_t far_counts_of(const struct prof_lapic *lapic, uint64_t cycles)
{
    uint64_t high = (cycles >> CYCLES_BITS) * lapic->scale;
    uint64_t low = (cycles & (CYCLES_MAX - 1)) * lapic->scale +
                   ((high & 15) << CYCLES_BITS);
    uint64_t counts =
        (high >> (SCALE_SHIFT - CYCLES_BITS)) + (low >> SCALE_SHIFT) + 1;

    return counts < UINT32_MAX ? (uint32_t)counts : UINT32_MAX;
}

/* ---- a shared timer */

/* What it is to be armed for at (now), in cycles; 0: for nothing. */
static uint64_t cycles_to_go(const struct prof_lapic *lapic, uint64_t now)
{
    uint64_t due = lapic->sample_due < lapic->kernel_due ? lapic->sample_due
                                                         : lapic->kernel_due;
    uint64_t cycles = due > now ? due - now : 1;

    if (due == PROF_LAPIC_NEVER)
        return 0;
    return cycles < CYCLES_MAX ? cycles : CYCLES_MAX;
}

static void arm(struct prof_lapic *lapic, uint64_t now)
{
    uint64_t cycles = cycles_to_go(lapic, now);

    if (lapic->by_tsc) {
        prof_set_msr(PROF_MSR_TSC_DEADLINE, cycles != 0 ? now + cycles : 0);
        return;
    }
    lapic->written = cycles != 0 ? counts_of(lapic, cycles) : 0;
    prof_lapic_write(lapic, PROF_LAPIC_COUNT, lapic->written);
}

/* The next sample is due at the first place of the grid after (now). */
static void advance(struct prof_lapic *lapic, uint64_t now)
{
    uint64_t late = now - lapic->sample_due;

    lapic->sample_due += lapic->period;
    if (late >= lapic->period) /* places were missed */
        lapic->sample_due += prof_divide(late, lapic->period) * lapic->period;
}

#if PROF_CPUS_MAX > 1
static bool is_ours(const struct prof_lapic *lapic);
static bool turn_of_nobody(void);
static void rearm(struct prof_lapic *lapic, uint64_t now, bool sampled,
                  bool kernels);
static bool update_sharing(struct prof_lapic *lapic);
#else
#define is_ours(lapic) true
#define turn_of_nobody() false

static inline void rearm(struct prof_lapic *lapic, uint64_t now, bool sampled,
                         bool kernels)
{
    if (sampled)
        advance(lapic, now);
    if (kernels)
        lapic->kernel_due = PROF_LAPIC_NEVER;
    arm(lapic, now);
}

static inline bool update_sharing(const struct prof_lapic *lapic)
{
    return lapic->state == PROF_LAPIC_SHARED;
}
#endif

bool prof_lapic_turn(bool sampled)
{
    struct prof_cpu *cpu = prof_cpu_here();
    struct prof_lapic *lapic = &cpu->lapic;
    uint64_t now = prof_lapic_tsc();
    bool kernels = now >= lapic->kernel_due;

    if (!is_ours(lapic))
        return turn_of_nobody();
    rearm(lapic, now, sampled, kernels);
    if (!kernels)
        prof_lapic_write(lapic, PROF_LAPIC_EOI, 0);
    cpu->interrupt_cycles += prof_lapic_tsc() - now;
    return kernels;
}

#if PROF_CPUS_MAX > 1
uintptr_t prof_lapic_turn_to(bool sampled)
{
    return prof_lapic_turn(sampled) ? lapic_here()->handler : 0;
}
#endif

uint32_t prof_lapic_arm(uint32_t count)
{
    struct prof_lapic *lapic = lapic_here();
    uint64_t now, cycles, counts;

    if (!update_sharing(lapic))
        return count;
    now = prof_lapic_tsc();
    lapic->by_tsc = false;
    lapic->kernel_due =
        count != 0 ? now + cycles_of(lapic, count) : PROF_LAPIC_NEVER;
    cycles = cycles_to_go(lapic, now);
    counts = cycles != 0 ? counts_of(lapic, cycles) : 0;
    /* its own deadline, to the count */
    lapic->written = count != 0 && count < counts ? count : (uint32_t)counts;
    return lapic->written;
}

uint64_t prof_lapic_arm_tsc(uint64_t deadline)
{
    struct prof_lapic *lapic = lapic_here();
    uint64_t now, cycles;

    if (!update_sharing(lapic))
        return deadline;
    lapic->by_tsc = true;
    lapic->kernel_due = deadline != 0 ? deadline : PROF_LAPIC_NEVER;
    if (deadline != 0 && deadline <= lapic->sample_due)
        return deadline;
    now = prof_lapic_tsc();
    cycles = cycles_to_go(lapic, now);
    return cycles != 0 ? now + cycles : 0;
}

/* For jitter: the period from now on. */
static void set_shared(uint32_t divisor)
{
    struct prof_lapic *lapic = lapic_here();

    lapic->period = prof_rate_cycles(divisor);
    lapic->sample_due = prof_lapic_tsc();
}

/* Takes over what the kernel has armed. */
static void begin_sharing(struct prof_lapic *lapic, uint32_t timer)
{
    uint64_t now = prof_lapic_tsc(), deadline;
    uint32_t left;

    set_scale(lapic, source.hz / prof_lapic_divisor(lapic));
    lapic->by_tsc = (timer & PROF_LAPIC_MODE) == PROF_LAPIC_BY_TSC;
    lapic->kernel_due = PROF_LAPIC_NEVER;
    if (lapic->by_tsc) {
        deadline = prof_msr(PROF_MSR_TSC_DEADLINE);
        if (deadline != 0)
            lapic->kernel_due = deadline;
    } else {
        left = prof_lapic_left(lapic);
        if (left != 0)
            lapic->kernel_due = now + cycles_of(lapic, left);
    }
    if (prof_lapic_is_set(lapic, PROF_LAPIC_REQUESTS, source.vector))
        lapic->kernel_due = now;
}

static int start_shared(struct prof_lapic *lapic)
{
    uint32_t timer = prof_lapic_read(lapic, PROF_LAPIC_TIMER);

    if (!prof_lapic_find(lapic, lapic->at, false) ||
        (timer & (PROF_LAPIC_MASKED | 0xff)) != source.vector ||
        (timer & PROF_LAPIC_MODE) == PROF_LAPIC_PERIODIC ||
        prof_lapic_divisor(lapic) > source.hz)
        return PROF_ELAPIC;
    if (!prof_gate_enter(source.vector, prof_lapic_enter, HANDLER))
        return PROF_EGATE;
    prof_cpu_here()->tick.next_handler = (uintptr_t)prof_lapic_sampled;
    begin_sharing(lapic, timer);
    set_state(lapic, PROF_LAPIC_SHARED);
    prof_jitter_begin(&source.rate);
    lapic->sample_due += lapic->period;
    arm(lapic, prof_lapic_tsc());
    return PROF_OK;
}

/* Arms for the kernel's deadline in one step: nobody will take another. */
static void arm_for_kernel(struct prof_lapic *lapic)
{
    uint64_t now = prof_lapic_tsc(), due = lapic->kernel_due;

    if (due == PROF_LAPIC_NEVER || due <= now || due - now < CYCLES_MAX) {
        arm(lapic, now);
    } else if (lapic->by_tsc) {
        prof_set_msr(PROF_MSR_TSC_DEADLINE, due);
    } else {
        lapic->written = far_counts_of(lapic, due - now);
        prof_lapic_write(lapic, PROF_LAPIC_COUNT, lapic->written);
    }
}

/* A tick of a sample, or a step, that has come is let in while the stub is
 * there to take it. Then the timer may be armed for a step again. A deadline
 * that is less than one away is not written twice: its tick may have come. */
static void stop_shared(struct prof_lapic *lapic, bool on)
{
    lapic->sample_due = PROF_LAPIC_NEVER;
    arm_for_kernel(lapic);
    prof_interrupts_let_in(on);
    if (lapic->kernel_due != PROF_LAPIC_NEVER &&
        lapic->kernel_due > prof_lapic_tsc() + CYCLES_MAX / 2)
        arm_for_kernel(lapic);
    set_state(lapic, PROF_LAPIC_OFF);
}

/* ---- a timer of our own */

static void set_own(uint32_t divisor)
{
    struct prof_lapic *lapic = lapic_here();

    lapic->period = prof_rate_cycles(divisor);
    lapic->written =
        (uint32_t)prof_divide((uint64_t)source.hz * divisor, PROF_PIT_HZ);
    prof_lapic_write(lapic, PROF_LAPIC_COUNT, lapic->written);
}

static void program_own(struct prof_lapic *lapic)
{
    prof_lapic_write(lapic, PROF_LAPIC_TIMER,
                     PROF_LAPIC_MASKED | source.vector);
    prof_lapic_write(lapic, PROF_LAPIC_DIVIDE, PROF_LAPIC_BY_1);
    prof_lapic_write(lapic, PROF_LAPIC_TIMER,
                     PROF_LAPIC_PERIODIC | source.vector);
    prof_jitter_begin(&source.rate);
    if (PROF_WITH_BUILTIN)
        prof_floor_look();
}

static int start_own(struct prof_lapic *lapic)
{
    if (!prof_lapic_find(lapic, lapic->at, true))
        return PROF_ELAPIC;
    if (!prof_gate_enter(source.vector,
                         PROF_CPUS_MAX == 1 ? prof_parasite : prof_lapic_enter,
                         HANDLER))
        return PROF_EGATE;
    if (PROF_CPUS_MAX > 1) {
        lapic->sample_due = 0; /* every tick is a sample */
        set_state(lapic, PROF_LAPIC_OWN);
    }
    prof_cpu_here()->tick.next_handler =
        (uintptr_t)(lapic->at != 0 ? prof_lapic_done : prof_lapic_done_by_msr);
    lapic->timer_before = prof_lapic_read(lapic, PROF_LAPIC_TIMER);
    lapic->divide_before = prof_lapic_read(lapic, PROF_LAPIC_DIVIDE);
    program_own(lapic);
    return PROF_OK;
}

static void stop_own(struct prof_lapic *lapic, bool on)
{
    prof_lapic_write(lapic, PROF_LAPIC_COUNT, 0);
    prof_interrupts_let_in(on);
    if (PROF_CPUS_MAX > 1) {
        lapic->sample_due = PROF_LAPIC_NEVER;
        set_state(lapic, PROF_LAPIC_OFF);
    }
    prof_lapic_write(lapic, PROF_LAPIC_TIMER, lapic->timer_before);
    prof_lapic_write(lapic, PROF_LAPIC_DIVIDE, lapic->divide_before);
}

/* ---- ticks that do not come */

/* The kernel has armed it behind our back: what it has written is its
 * deadline. */
static void take_unknown(struct prof_lapic *lapic, uint64_t now)
{
    uint32_t left = prof_lapic_read(lapic, PROF_LAPIC_LEFT);

    if (prof_lapic_read(lapic, PROF_LAPIC_COUNT) != lapic->written)
        left = prof_lapic_left(lapic);
    if (left != 0)
        lapic->kernel_due = now + cycles_of(lapic, left);
    if (now >= lapic->sample_due)
        advance(lapic, now);
    arm(lapic, now);
}

/* A tick has not come for much too long. One that the timer is done counting
 * for is on its way: an emulator may not come to it for long. */
static bool is_overdue(const struct prof_lapic *lapic, uint64_t now)
{
    uint64_t late = now > lapic->sample_due ? now - lapic->sample_due : 0;

    if (late <= LATE_PERIODS * (uint64_t)lapic->period)
        return false;
    return lapic->by_tsc || late >= prof_clock.tsc_hz ||
           prof_lapic_read(lapic, PROF_LAPIC_LEFT) != 0;
}

/* A tick waits, or this is a drain in one. */
static bool is_in_tick(const struct prof_lapic *lapic)
{
    return prof_lapic_is_set(lapic, PROF_LAPIC_REQUESTS, source.vector) ||
           prof_lapic_is_set(lapic, PROF_LAPIC_IN_SERVICE, source.vector);
}

/* ---- other CPUs */

#if PROF_CPUS_MAX > 1
static bool may_run(const struct prof_lapic *lapic)
{
    return __atomic_load_n(&lapic->may_run, __ATOMIC_ACQUIRE);
}

/* The rate has changed, or (hz). A CPU that reads while they change again reads
 * each of the two words as it was or as it is, and both again at its next tick.
 * They have nothing to do with each other. */
static void publish(void)
{
    __atomic_store_n(&source.spread, prof_jitter_spread(&source.rate),
                     __ATOMIC_RELAXED);
    __atomic_add_fetch(&source.generation, 1, __ATOMIC_RELEASE);
}

/* The period from now on. */
static void vary(struct prof_lapic *lapic)
{
    uint32_t generation = __atomic_load_n(&source.generation, __ATOMIC_ACQUIRE);

    if (lapic->generation != generation) {
        lapic->generation = generation;
        if (lapic->state == PROF_LAPIC_OWN) /* it may be measured anew */
            set_scale(lapic, __atomic_load_n(&source.hz, __ATOMIC_RELAXED));
        prof_jitter_plan(&lapic->vary,
                         __atomic_load_n(&source.spread, __ATOMIC_RELAXED),
                         prof_cpu_number(prof_cpu_here()));
    }
    lapic->period = prof_rate_cycles(prof_jitter_step(&lapic->vary));
}

/* Makes the timer of this CPU, which the kernel does not use, ours. */
static void take_timer(struct prof_lapic *lapic, uint32_t timer)
{
    lapic->timer_kept = timer;
    lapic->divide_kept = prof_lapic_read(lapic, PROF_LAPIC_DIVIDE);
    set_scale(lapic, source.hz);
    lapic->by_tsc = false;
    lapic->kernel_due = PROF_LAPIC_NEVER;
}

static void program_another(const struct prof_lapic *lapic)
{
    prof_lapic_write(lapic, PROF_LAPIC_DIVIDE, PROF_LAPIC_BY_1);
    prof_lapic_write(lapic, PROF_LAPIC_TIMER,
                     PROF_LAPIC_ONE_SHOT | source.vector);
}

/* Takes this CPU's timer, if it is as it should be. */
static bool take_or_share(struct prof_lapic *lapic)
{
    uint32_t timer;

    if (!prof_lapic_find(lapic, source.at, !source.shared))
        return false;
    timer = prof_lapic_read(lapic, PROF_LAPIC_TIMER);
    if (!source.shared) {
        if ((timer & PROF_LAPIC_MASKED) == 0)
            return false;
        take_timer(lapic, timer);
        program_another(lapic);
        return true;
    }
    if ((timer & (PROF_LAPIC_MASKED | 0xff)) != source.vector ||
        (timer & PROF_LAPIC_MODE) == PROF_LAPIC_PERIODIC ||
        prof_lapic_divisor(lapic) > source.hz)
        return false;
    begin_sharing(lapic, timer);
    return true;
}

/* Begins on this CPU, if it may; the caller arms the timer. That it does is
 * said before it is asked whether it may (A), while the first CPU writes the
 * latter before it reads the former (B), so that one of them sees the other: no
 * tick of ours comes to a gate that was given back. */
static void begin_another(struct prof_lapic *lapic)
{
    bool may, begins;

    set_state(lapic, source.shared ? PROF_LAPIC_SHARED : PROF_LAPIC_OWN);
    may = __atomic_load_n(&lapic->may_run, __ATOMIC_SEQ_CST); /* (A) */
    begins = may && take_or_share(lapic);
    __atomic_store_n(&lapic->unfit, may && !begins, __ATOMIC_RELAXED);
    if (!begins) {
        set_state(lapic, PROF_LAPIC_OFF);
        return;
    }
    lapic->generation = source.generation - 1; /* another one */
    vary(lapic);
    lapic->begun_tsc = prof_lapic_tsc();
    lapic->sample_due = lapic->begun_tsc + lapic->period;
}

/* Ends on this CPU; (state): what its timer is then. The caller arms a shared
 * one for the kernel. */
static void end_another(struct prof_lapic *lapic, enum prof_lapic_state state)
{
    lapic->sample_due = PROF_LAPIC_NEVER;
    if (lapic->state == PROF_LAPIC_OWN) {
        prof_lapic_write(lapic, PROF_LAPIC_COUNT, 0);
        prof_lapic_write(lapic, PROF_LAPIC_TIMER, lapic->timer_kept);
        prof_lapic_write(lapic, PROF_LAPIC_DIVIDE, lapic->divide_kept);
    }
    set_state(lapic, state);
}

/* A tick comes to the gate, which may be ours where the timer is not. Of a
 * timer of our own, the first CPU's are no turn until that has stopped. */
static bool is_ours(const struct prof_lapic *lapic)
{
    return lapic->state == PROF_LAPIC_SHARED || lapic->state == PROF_LAPIC_OWN;
}

/* A tick has come where the timer is not ours. Returns whether it is the
 * kernel's. With a vector of our own it is not: it was pending when this CPU
 * left, whose APIC is no longer known; the first one's is at the same place. */
static bool turn_of_nobody(void)
{
    if (source.shared)
        return true;
    prof_lapic_write(&PROF_CPU_FIRST->lapic, PROF_LAPIC_EOI, 0);
    PROF_FOR_EACH_CPU (cpu)
        if (cpu->lapic.state == PROF_LAPIC_LEAVING && prof_cpu_was(cpu))
            set_state(&cpu->lapic, PROF_LAPIC_OFF);
    return false;
}

/* What the timer is for after a tick. */
static void rearm(struct prof_lapic *lapic, uint64_t now, bool sampled,
                  bool kernels)
{
    bool another = lapic != &PROF_CPU_FIRST->lapic;

    if (kernels)
        lapic->kernel_due = PROF_LAPIC_NEVER;
    if (another && !may_run(lapic)) {
        end_another(lapic, PROF_LAPIC_OFF);
        arm_for_kernel(lapic);
        return;
    }
    if (another && sampled)
        vary(lapic);
    if (sampled)
        advance(lapic, now);
    arm(lapic, now);
}

/* The kernel is about to arm its timer, by which another CPU begins, or ends,
 * to be sampled here, as the first one says. Returns whether it is shared. */
static bool update_sharing(struct prof_lapic *lapic)
{
    if (lapic != &PROF_CPU_FIRST->lapic && source.shared) {
        if (lapic->state == PROF_LAPIC_SHARED && !may_run(lapic))
            end_another(lapic, PROF_LAPIC_OFF);
        else if (lapic->state == PROF_LAPIC_OFF && may_run(lapic))
            begin_another(lapic);
    }
    return lapic->state == PROF_LAPIC_SHARED;
}

/* Whether a tick was lost, which also ends what the first CPU has stopped: then
 * somebody else has armed this CPU's timer, or programmed it. */
static void check_another(struct prof_lapic *lapic)
{
    uint64_t now = prof_lapic_tsc();

    if (!is_ours(lapic) || !is_overdue(lapic, now) || is_in_tick(lapic))
        return;
    if (lapic->state == PROF_LAPIC_SHARED) {
        take_unknown(lapic, now);
    } else {
        program_another(lapic);
        advance(lapic, now);
        arm(lapic, now);
    }
    __atomic_store_n(&lapic->taken_back, lapic->taken_back + 1,
                     __ATOMIC_RELAXED);
}

/* An own timer is given back in its tick, so that none is left pending. */
static void look(struct prof_cpu *cpu)
{
    struct prof_lapic *lapic = &cpu->lapic;

    if (lapic->state == PROF_LAPIC_OFF && may_run(lapic)) {
        begin_another(lapic);
        if (lapic->state != PROF_LAPIC_OFF)
            arm(lapic, prof_lapic_tsc());
    } else if (lapic->state == PROF_LAPIC_SHARED && !may_run(lapic)) {
        end_another(lapic, PROF_LAPIC_OFF);
        arm_for_kernel(lapic);
    } else {
        check_another(lapic);
    }
}

static int join(struct prof_cpu *cpu)
{
    struct prof_lapic found = {0};

    __atomic_store_n(&cpu->lapic.unfit, false, __ATOMIC_RELAXED);
    return prof_lapic_find(&found, source.at, !source.shared) ? PROF_OK
                                                              : PROF_ELAPIC;
}

/* Interrupts are off: a tick of our own that has come stays pending, and the
 * gate must be ours until it is taken. */
static void leave_cpu(struct prof_cpu *cpu)
{
    struct prof_lapic *lapic = &cpu->lapic;
    enum prof_lapic_state after = PROF_LAPIC_OFF;

    if (!is_ours(lapic))
        return;
    if (lapic->state == PROF_LAPIC_OWN) {
        prof_lapic_write(lapic, PROF_LAPIC_COUNT, 0);
        if (prof_lapic_is_set(lapic, PROF_LAPIC_REQUESTS, source.vector))
            after = PROF_LAPIC_LEAVING;
    }
    end_another(lapic, after);
    if (source.shared)
        arm_for_kernel(lapic);
}

static bool is_leaving(const struct prof_cpu *cpu)
{
    return __atomic_load_n(&cpu->lapic.state, __ATOMIC_ACQUIRE) ==
           PROF_LAPIC_LEAVING;
}

/* Whether (cpu) may begin: its gate, and what its stub goes on to, are set
 * before. It may have joined since prof_gate_enter() took those of others. */
static void let_run(struct prof_cpu *cpu, bool may)
{
    if (may) {
        (void)prof_gate_join(cpu);
        cpu->tick.next_handler = (uintptr_t)prof_lapic_sampled;
        cpu->tick.jitter.counts = cpu->tick.jitter.rest = 0;
        cpu->tick.pass_due = cpu->tick.pass_period = 0;
    }
    __atomic_store_n(&cpu->lapic.may_run, may, __ATOMIC_SEQ_CST); /* (B) */
    if (may && source.kick != NULL)
        source.kick(prof_cpu_number(cpu));
}

static void let_all_run(bool may)
{
    PROF_FOR_EACH_CPU (cpu)
        if (cpu != PROF_CPU_FIRST && (!may || prof_cpu_has_joined(cpu)))
            let_run(cpu, may);
}

static bool any_runs(void)
{
    PROF_FOR_EACH_CPU (cpu)
        if (cpu != PROF_CPU_FIRST &&
            __atomic_load_n(&cpu->lapic.state, __ATOMIC_SEQ_CST) != /* (B) */
                PROF_LAPIC_OFF)
            return true;
    return false;
}

/* The others end at their next ticks. One that has interrupts off for long, or
 * that the host does not run, ends later: so long the gate stays. */
static void await_others(bool on)
{
    uint64_t begin = prof_lapic_tsc();
    uint64_t most = prof_divide(prof_clock.tsc_hz, PATIENCE_PART);

    while (on && any_runs() && prof_lapic_tsc() - begin < most)
        prof_interrupts_let_in(on);
}

static void leave_gate(void)
{
    source.keeps_gate = any_runs();
    if (!source.keeps_gate)
        prof_gate_leave();
}

/* Gives the gate back that was kept when it stopped, if all have ended. */
static void end_late(void)
{
    if (!source.running && source.keeps_gate)
        leave_gate();
}

/* How often other CPUs took theirs back since the last call. */
static uint32_t taken_back_elsewhere(void)
{
    uint32_t before = source.taken_back;

    source.taken_back = 0;
    PROF_FOR_EACH_CPU (cpu)
        source.taken_back +=
            __atomic_load_n(&cpu->lapic.taken_back, __ATOMIC_RELAXED);
    return source.taken_back - before;
}

static void say_unfit(const struct prof_cpu *cpu)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_format(&out,
                     "prof: CPU %u is not sampled: ", prof_cpu_number(cpu));
    if (source.shared)
        prof_text_format(&out,
                         "its local APIC's timer is not one-shot at vector "
                         "%u\n",
                         (uint32_t)source.vector);
    else
        prof_text_string(&out, "its local APIC's timer is not masked\n");
    prof_text_flush(&out);
}

/* A CPU may try before its kernel has its timer as it is to be. So it is said
 * of one that is still unfit at the next look; and once. */
static void look_for_unfit(void)
{
    PROF_FOR_EACH_CPU (cpu) {
        uint8_t *looks = &source.unfit[prof_cpu_number(cpu)];

        if (*looks == UNFIT)
            continue;
        if (!prof_cpu_has_joined(cpu) ||
            !__atomic_load_n(&cpu->lapic.unfit, __ATOMIC_RELAXED))
            *looks = 0;
        else if (++*looks == UNFIT)
            say_unfit(cpu);
    }
}

static void taken(struct prof_cpu *cpu)
{
    if (source.running)
        let_run(cpu, true);
}

static void let_go(struct prof_cpu *cpu)
{
    let_run(cpu, false);
    prof_gate_quit(cpu);
}

static uint64_t begun(const struct prof_cpu *cpu)
{
    return cpu->lapic.begun_tsc;
}

/* Nothing is due on any CPU, and who comes to the gate goes on. */
static void open_others(void)
{
    __builtin_memset(source.unfit, 0, sizeof source.unfit);
    for (uint32_t i = 1; i < PROF_CPU_STATES; i++)
        prof_cpus[i].lapic = (struct prof_lapic){
            .sample_due = PROF_LAPIC_NEVER, .kernel_due = PROF_LAPIC_NEVER};
}
#else
#define publish() ((void)0)
#define let_all_run(may) ((void)0)
#define await_others(on) ((void)0)
#define open_others() ((void)0)
#define end_late() ((void)0)
#define taken_back_elsewhere() 0u
#define look_for_unfit() ((void)0)

static inline void leave_gate(void)
{
    prof_gate_leave();
}
#endif

/* ---- the source */

static int start_lapic(bool on)
{
    struct prof_cpu *cpu = prof_cpu_here();
    int error;

    (void)on;
    cpu->tick.pass_due = cpu->tick.pass_period = 0; /* each tick goes on */
    error = source.shared ? start_shared(&cpu->lapic) : start_own(&cpu->lapic);
    source.running = error == PROF_OK;
    if (source.running) {
        publish();
        let_all_run(true);
    }
    return error;
}

static void stop(bool on)
{
    struct prof_lapic *lapic = lapic_here();

    source.running = false;
    let_all_run(false);
    prof_jitter_end(&source.rate);
    if (source.shared)
        stop_shared(lapic, on);
    else
        stop_own(lapic, on);
    await_others(on);
    leave_gate();
}

/* Begins anew at the rate in force, where it runs. */
static void begin_again(void)
{
    struct prof_lapic *lapic = lapic_here();

    prof_clock_set_counts(source.rate.ours, source.rate.ours);
    publish();
    if (!source.running)
        return;
    if (!source.shared) {
        program_own(lapic);
        return;
    }
    prof_jitter_begin(&source.rate);
    lapic->sample_due += lapic->period;
    arm(lapic, prof_lapic_tsc());
}

static int set_period(uint32_t hz, bool on)
{
    (void)on;
    if (prof_rate_change_alone(&source.rate.ours, hz))
        begin_again();
    return PROF_OK;
}

const struct prof_source prof_source_lapic = {
    .start = start_lapic,
    .stop = stop,
    .set_period = set_period,
#if PROF_CPUS_MAX > 1
    .join = join,
    .leave = leave_cpu,
    .look = look,
    .begun = begun,
    .taken = taken,
    .is_leaving = is_leaving,
    .let_go = let_go,
#endif
};

#if PROF_WITH_BUILTIN
static void print_hz(void)
{
    struct prof_text out;

    prof_text_open(&out, prof_port_write);
    prof_text_format(&out,
                     "prof: the local APIC's timer counts at %u Hz, which is "
                     "used from now on\n",
                     source.hz);
    prof_text_flush(&out);
}

/* Ticks of a timer of our own are (period) apart, a 24.8 number: its frequency
 * is another one. That of a shared one shows in no tick, for each is armed by
 * the TSC. */
static prof_meter_print *take_period(uint64_t period)
{
    const struct prof_timebase *clock = prof_clock_of(prof_cpu_here());
    uint32_t cycles = (uint32_t)(period >> PROF_PERIOD_SHIFT);
    bool on;

    if (source.shared || cycles == 0)
        return NULL;
    source.hz = (uint32_t)prof_divide(
        (uint64_t)source.hz * (uint32_t)(clock->nominal >> PROF_PERIOD_SHIFT),
        cycles);
    on = prof_interrupts_save();
    begin_again();
    prof_interrupts_restore(on);
    return print_hz;
}
#endif

bool prof_source_lapic_open(const struct prof_config *config)
{
    const struct prof_tick *tick = &config->tick;
    struct prof_lapic *lapic = lapic_here();

    *lapic = (struct prof_lapic){.sample_due = PROF_LAPIC_NEVER,
                                 .kernel_due = PROF_LAPIC_NEVER};
    open_others();
#if PROF_CPUS_MAX > 1
    source.at = tick->lapic_at;
    source.taken_back = 0;
    source.kick = config->kick;
#endif
    source.vector = tick->lapic_vector;
    source.shared = tick->lapic_shared;
    source.running = source.said = false;
    if (source.vector < PROF_VECTOR_MIN ||
        !prof_lapic_find(lapic, tick->lapic_at, !source.shared))
        return false;
    source.hz = prof_lapic_measure(lapic, config->tsc_hz);
    if (source.hz < PROF_PIT_HZ) {
        prof_message("prof: the local APIC's timer does not count\n");
        return false;
    }
    if (source.hz / FASTER_MAX >= config->tsc_hz) {
        prof_message("prof: the local APIC's timer counts too fast for the "
                     "TSC\n");
        return false;
    }
    source.rate.kernel = PROF_DIVISOR_MAX;
    if (PROF_WITH_BUILTIN)
        prof_floor_open(&source.rate, "the local APIC's timer");
    prof_rate_change_alone(&source.rate.ours, prof_options()->hz);
    prof_jitter_open(source.shared ? set_shared : set_own);
    prof_clock_set_counts(source.rate.ours, source.rate.ours);
#if PROF_WITH_BUILTIN
    prof_meter_begin(true, false, take_period);
#endif
    return true;
}

/* ---- whether it is as it should be */

static bool own_is_changed(const struct prof_lapic *lapic)
{
    return prof_lapic_read(lapic, PROF_LAPIC_TIMER) !=
               (PROF_LAPIC_PERIODIC | source.vector) ||
           prof_lapic_read(lapic, PROF_LAPIC_DIVIDE) != PROF_LAPIC_BY_1 ||
           prof_lapic_read(lapic, PROF_LAPIC_COUNT) != lapic->written;
}

static bool shared_is_changed(const struct prof_lapic *lapic, uint64_t now)
{
    return !is_in_tick(lapic) &&
           ((!lapic->by_tsc &&
             prof_lapic_read(lapic, PROF_LAPIC_COUNT) != lapic->written) ||
            is_overdue(lapic, now));
}

void prof_source_lapic_check(void)
{
    struct prof_lapic *lapic = lapic_here();
    uint32_t taken_back;
    bool on, changed;
    uint64_t now;

    end_late();
    if (!source.running)
        return;
    on = prof_interrupts_save();
    now = prof_lapic_tsc();
    changed =
        source.shared ? shared_is_changed(lapic, now) : own_is_changed(lapic);
    if (changed && source.shared)
        take_unknown(lapic, now);
    else if (changed)
        begin_again();
    prof_interrupts_restore(on);
    look_for_unfit();
    taken_back = changed + taken_back_elsewhere();
    prof_tick_counts.lapic_taken_back += taken_back;
    if (taken_back == 0 || source.said)
        return;
    source.said = true;
    prof_message("prof: the local APIC's timer was armed by other code; the "
                 "kernel's must call prof_lapic_arm()\n");
}
