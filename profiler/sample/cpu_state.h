/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CPU_STATE_H
#define PROF_CPU_STATE_H

/*
 * The state that the interrupt reads and writes, one struct per CPU. It writes
 * nothing else, unless it drains (tick_drain). The assembly stubs get the
 * layout from offsets.c.
 */

#include "base/cpu.h"
#include "sample/frames.h"
#include "sample/overflow.h"
#include "sample/ring.h"

#include <prof/config.h>
#include <prof/prof.h>
#include <stdbool.h>
#include <stdint.h>

/* How the timer's period varies; see tick/jitter.h. */
struct prof_jitter {
    void (*set)(uint32_t divisor); /* programs the timer, interrupts off */
    uint64_t random;               /* the generator's state */
    uint32_t ticks_left;           /* ticks until the divisor changes */
    uint32_t divisor; /* the current period, in counts of the PIT */
    uint32_t least;   /* smallest divisor that is chosen */
    uint32_t counts;  /* number of divisors to choose from, 0 = fixed */
    uint32_t turn;    /* divisors chosen so far */
    uint32_t shuffle; /* the order of the parts of their range */
    uint32_t rest;    /* ticks until the divisor changes, beyond ticks_left,
                            which is shorter if the interrupt may drain */
};

/* The tick source's share, owned by tick/. Written by the interrupt, and by
 * the thread with interrupts off. */
struct prof_cpu_tick {
    uint64_t pass_due;      /* TSC from which a tick is also the kernel's */
    uint64_t pass_period;   /* cycles between kernel ticks; 0 = all are */
    uintptr_t next_handler; /* the kernel's own, run after ours */
    struct prof_jitter jitter;
};

/*
 * The local APIC's timer, as a source of ticks; owned by tick/source_lapic.c.
 * The upper part is for a timer that is shared with the kernel, which then runs
 * until the earlier of both deadlines. Times are TSC values; PROF_LAPIC_NEVER:
 * none.
 */
#define PROF_LAPIC_NEVER UINT64_MAX

/* Who uses a CPU's timer. */
enum prof_lapic_state {
    PROF_LAPIC_OFF,     /* not the profiler */
    PROF_LAPIC_SHARED,  /* profiler and kernel, whose deadlines are known */
    PROF_LAPIC_OWN,     /* the profiler alone */
    PROF_LAPIC_LEAVING, /* it was the profiler's alone. The CPU has left with a
                           tick pending, until which the gate must be ours */
};

struct prof_lapic {
    uint64_t sample_due; /* of the next sample */
    uint64_t kernel_due; /* the kernel's own deadline */
    union {
        struct {
            uint64_t scale;   /* counts of the timer in 2^32 cycles */
            uint64_t inverse; /* cycles in 2^24 counts */
        };
        struct { /* of a timer that is not shared, to be put back: */
            uint32_t timer_before; /* its entry of the vector table */
            uint32_t divide_before;
        };
    };
    uint32_t period;  /* cycles between two samples */
    uint32_t written; /* the timer's initial count, as it should be */
    uint8_t state;    /* enum prof_lapic_state; written by its CPU only */
    bool by_tsc;      /* armed by a TSC value instead of a count */
#if PROF_CPUS_MAX > 1
    /* Of other CPUs, which must program their timers themselves: */
    bool may_run;            /* it is to sample; written by the first CPU */
    uint32_t timer_kept;     /* of a timer that is not shared, to be restored */
    uint32_t divide_kept;    /* its divider, to be restored */
    uint32_t taken_back;     /* times that its ticks had been lost */
    uint32_t generation;     /* of the rate in force */
    bool unfit;              /* it is to sample, but its timer is in use */
    uint64_t begun_tsc;      /* no sample covers the time before */
    struct prof_jitter vary; /* chooses the periods */
#endif

    uintptr_t at;      /* address of the APIC's registers; 0 = x2APIC, MSRs */
    uintptr_t handler; /* the kernel's own, found in the gate */
};

#if PROF_WITH_NMI
/* The source `nmi`, owned by tick/source_nmi.c; see prof_nmi(). */
struct prof_nmi {
    uint32_t end;        /* low half of the TSC at the end of the last sample;
                            written by the interrupt */
    uint32_t near;       /* an NMI within so many cycles after that is no tick;
                            PROF_NMI_STOPPED: NMIs are the kernel's;
                            PROF_NMI_JOINING: all of them are ignored */
    uint32_t duplicates; /* NMIs within that time; written by the interrupt */
    uint32_t again;      /* not 0: the PIT is programmed at each NMI */
#if PROF_CPUS_MAX > 1
    uint8_t to;       /* bits of its logical destination; written by the CPU */
    bool to_is_own;   /* the kernel had set none */
    bool waits;       /* the CPU sets it once (taken): until then it would get
                       another CPU's NMIs */
    bool taken;       /* NMIs may come to it; written by the first CPU */
    uint8_t asked;    /* how often it was asked to look at its destination;
                       written by the first CPU */
    uint8_t answered; /* how often it did */
    uint8_t moved;    /* and it was not as it had left it */
#endif
};
#define PROF_NMI_STOPPED UINT32_MAX
#define PROF_NMI_JOINING (UINT32_MAX - 1)
#endif

/* Bounds of the current stack, precomputed for the frame walk. */
struct prof_stack_bounds {
    uintptr_t begin;
    uintptr_t last_kept;  /* highest stack pointer with PROF_FRAMES_KEPT words
                             above it in the stack; 0 = none */
    uintptr_t last_frame; /* highest frame, in words from address 0 */
};

/* Sets (bounds) to those of a stack in [begin, end). If it is shorter than two
 * words, none of it may be read. */
void prof_stack_bounds_set(struct prof_stack_bounds *bounds, uintptr_t begin,
                           uintptr_t end);

/* Most ticks between two checks whether the interrupt is to drain. The stubs
 * check when the PIT's period changes, which is as often, or sooner
 * (jitter.h). */
#define PROF_TICK_DRAIN_TICKS 32u

struct prof_cpu {
    PROF_OWN_LINE
    struct prof_ring ring;     /* writers of its members: see ring.h */
    struct prof_frames frames; /* see frames.h */
    struct prof_overflow overflow;
    struct prof_cpu_tick tick;

    /* Written only by the interrupt. */
    uint32_t ticks;            /* modulo 2^32; the drain extends it */
    uint64_t interrupt_cycles; /* time spent in the interrupt handler, and in
                                  those that prof_loop_irq_enter() announces,
                                  without taken_cycles */
    uint64_t observed_cycles;  /* of these: in such handlers, and in drains */

    /* Written in one store, when the target is complete. */
    const struct prof_stack_bounds *stack; /* one of the next three */
    struct prof_stack_bounds stacks[2];

    /* Written by the interrupt if no stack is set (below). */
    struct prof_stack_bounds found;
    uintptr_t end_place, end_next; /* last arguments for which
                                      prof_bounds_is_end() returned true */
    bool found_exact;              /* nothing may be read beyond (found) */
    bool unknown_stack;            /* no stack is set; written by the thread */
    bool user_seen;                /* user mode was interrupted */
    uint8_t space; /* address space of user mode; written by any context */

    /* Written by the thread with interrupts off. */
    uint64_t taken_cycles; /* removed from interrupt_cycles (loop/rebase.c) */
    uint32_t (*tick_drain)(void); /* drains if needed; returns the number of
                                     ticks until the next call; NULL: none */
    uint32_t tick_drain_left;     /* ticks until that, for prof_sample() */
    uint32_t depth;               /* callers to be recorded, 0 = none */
    uint32_t enabled;             /* prof_sample() records */

#if PROF_WITH_LAPIC
    struct prof_lapic lapic; /* written as tick */
#endif
#if PROF_WITH_NMI
    struct prof_nmi nmi;
#endif
};

/*
 * The states of all CPUs. With several CPUs there is an additional state, the
 * last, for all CPUs that have not joined (<prof/cpus.h>), so that the stubs
 * need no test. Its vector is a single entry, which is always free; it records
 * no callers, and is never read.
 */
#define PROF_CPU_STATES (PROF_CPUS_MAX == 1 ? 1 : PROF_CPUS_MAX + 1)
extern struct prof_cpu prof_cpus[PROF_CPU_STATES];

/* The CPU that calls prof_init(), and drains all vectors. */
#define PROF_CPU_FIRST (&prof_cpus[0])

#if PROF_CPUS_MAX == 1

/* Returns the state of the current CPU, with one CPU a constant address.
 * Contexts: any. */
static inline struct prof_cpu *prof_cpu_here(void)
{
    return PROF_CPU_FIRST;
}

#else

#define PROF_CPU_NOBODY (&prof_cpus[PROF_CPUS_MAX])

#ifdef PROF_HOSTED

/* Set by a program that simulates several CPUs: the current one. */
extern struct prof_cpu *prof_cpu_hosted;

static inline struct prof_cpu *prof_cpu_here(void)
{
    return prof_cpu_hosted;
}

#else

/* Maps keys (PROF_CPU_BY) to states: PROF_CPU_NOBODY unless a CPU has joined
 * with that key. An entry has eight bytes on both widths, so that a selector is
 * an offset. Written by the CPU that joins or leaves. */
struct prof_cpu_key {
    struct prof_cpu *cpu;
} __attribute__((aligned(8)));

extern struct prof_cpu_key prof_cpu_keys[PROF_CPU_KEYS];

/* Returns the key of the current CPU. Volatile, as a thread may migrate to
 * another CPU. */
static inline uint32_t prof_cpu_key_here(void)
{
#if PROF_CPU_BY == PROF_CPU_BY_TASK
    uint32_t selector;

    __asm__ volatile("str %0" : "=r"(selector));
    return selector >> 3 & (PROF_CPU_KEYS - 1);
#else
    uint32_t low, high, aux;

    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(aux));
    return aux & (PROF_CPU_KEYS - 1);
#endif
}

/* Returns the state of the current CPU, or PROF_CPU_NOBODY. The stubs do the
 * same (<width>/cpu_here.inc). Contexts: any. */
static inline struct prof_cpu *prof_cpu_here(void)
{
    return prof_cpu_keys[prof_cpu_key_here()].cpu;
}

#endif
#endif

/* Returns the number of (cpu), by which other modules index their data for each
 * CPU. */
static inline uint32_t prof_cpu_number(const struct prof_cpu *cpu)
{
    return PROF_CPUS_MAX == 1 ? 0 : (uint32_t)(cpu - prof_cpus);
}

/* Returns (cpu); with one CPU as a constant address, which the compiler could
 * not deduce from a parameter. */
static inline struct prof_cpu *prof_cpu_only(const struct prof_cpu *cpu)
{
    return PROF_CPUS_MAX == 1 ? PROF_CPU_FIRST : (struct prof_cpu *)cpu;
}

/* The same for a loop over samples, on i386 only, whose registers are all in
 * use there; x86_64 has one for (cpu), which is shorter. */
static inline struct prof_cpu *prof_cpu_in_loop(struct prof_cpu *cpu)
{
    return sizeof(uintptr_t) == sizeof(uint32_t) ? prof_cpu_only(cpu) : cpu;
}

/* A sample of user mode has this address plus the number of its address space
 * instead of its own address. The kernel has no code in the last 256 bytes. */
#define PROF_USER_BASE (UINTPTR_MAX - 255)

static inline bool prof_is_user(uintptr_t pc)
{
    return PROF_WITH_USER && pc - PROF_USER_BASE < PROF_SPACES;
}

/* Returns the cycles spent in the sampling interrupt so far. Contexts:
 * interrupts off; or any, if the caller checks that no tick came meanwhile. */
static inline uint64_t prof_sampler_cycles(const struct prof_cpu *cpu)
{
#if PROF_CPUS_MAX > 1
    /* another CPU adds to interrupt_cycles first */
    uint64_t observed = *(const volatile uint64_t *)&cpu->observed_cycles;

    return *(const volatile uint64_t *)&cpu->interrupt_cycles - observed;
#else
    return cpu->interrupt_cycles + cpu->taken_cycles - cpu->observed_cycles;
#endif
}

/* Returns the TSC of the newest sample of (cpu), drained or not; 0: none yet.
 * On i386 a tick may come between the loads of its two words; so they are
 * loaded again if one came. Turning interrupts off would not stop an NMI.
 * Contexts: thread. */
static inline uint64_t prof_cpu_newest_tsc(const struct prof_cpu *cpu)
{
    uint64_t stored, overflowed;
    uint32_t ticks;

    do {
        ticks = __atomic_load_n(&cpu->ticks, __ATOMIC_ACQUIRE);
        stored = prof_ring_newest_tsc(&cpu->ring);
        overflowed = prof_overflow_newest(&cpu->overflow);
        __atomic_signal_fence(__ATOMIC_ACQ_REL);
    } while (__atomic_load_n(&cpu->ticks, __ATOMIC_ACQUIRE) != ticks);
    return stored > overflowed ? stored : overflowed;
}

/*
 * The interrupt stub of the timer's gate (tick/<width>/parasite.asm). Entered
 * by the CPU, with interrupts off; never call it.
 *
 * It counts the tick, stores the sample as described in ring.h, and jumps to
 * the kernel's handler with the stack and all registers unchanged; or, for a
 * tick that is not the kernel's, acknowledges it and returns from the
 * interrupt. It uses no FPU or SSE state. No other code counts ticks, so that a
 * report can compare the count with the drain's accounts. It relies on the
 * drain to clear frames in free entries. On x86 plain loads acquire, and plain
 * stores release.
 */
void prof_parasite(void);

#if PROF_WITH_LAPIC
/*
 * Stubs of the local APIC's timer (tick/<width>/lapic_stubs.asm); never call
 * them. The gate of a shared timer points to prof_lapic_enter(). If a sample is
 * due, it jumps to prof_parasite(), which chains every tick to
 * prof_lapic_sampled(). Both call prof_lapic_turn(), and then jump to the
 * kernel's handler or return from the interrupt. The gate of a timer that is
 * not shared points to prof_parasite(), which chains to prof_lapic_done() or,
 * in x2APIC mode, prof_lapic_done_by_msr(); these acknowledge the interrupt.
 */
void prof_lapic_enter(void);
void prof_lapic_sampled(void);
void prof_lapic_done(void);
void prof_lapic_done_by_msr(void);

#if PROF_CPUS_MAX > 1
/* For these stubs: like prof_lapic_turn(), but returns the kernel's handler, or
 * 0. With several CPUs a gate always points to prof_lapic_enter(). */
uintptr_t prof_lapic_turn_to(bool sampled);
#endif
#endif

#if PROF_WITH_NMI
/*
 * The stub of the NMI's gate (tick/<width>/nmi_stub.asm); never call it. It
 * stores a sample like prof_parasite(), marked if interrupts were off, and
 * returns: no NMI is the kernel's while this source samples.
 *
 * The CPU latches one NMI while another is handled. So if the handler took
 * longer than a period, it would be entered again as soon as it returns, and
 * the program would stall. And some machines deliver a tick twice. Therefore an
 * NMI that comes within a fraction of a period after the end of the last one is
 * not a sample.
 */
void prof_nmi(void);

/* For the stub. The first changes the period, or programs the PIT, after a
 * sample with the low half (tsc_low) of its time stamp. The second programs the
 * PIT after an NMI that was not a sample. Contexts: interrupt. */
void prof_nmi_turn(uint32_t tsc_low);
void prof_nmi_again(void);
#endif

/*
 * The slow path, while the vector is full: adds one sample of (pc) at
 * (marked_tsc), which may contain PROF_TSC_IRQS_OFF, to the overflow table, or
 * counts it as dropped. Contexts: interrupt, called by the stubs and by
 * prof_sample(). Wait-free: at most PROF_OVERFLOW_PROBES steps.
 */
void prof_sample_full(uintptr_t pc, uint64_t marked_tsc);

/* ---- bounds.c: bounds of stacks without prof_stack_set(), and ends of stacks
 * that are not marked by a frame pointer of 0. The walk calls these where it
 * would give up, so that a walk in known bounds to a regular end costs
 * nothing. */

/* Copies the members of (config) that it needs. Contexts: boot. */
void prof_bounds_open(const struct prof_config *config);

/*
 * Sets the bounds to those of the stack that (sp) is in, if none were set and
 * it is known what may be read. Returns false, without effect, if it is not.
 * Contexts: the walk.
 */
bool prof_bounds_find(uintptr_t sp);

/*
 * Returns whether a walk is complete that has reached (place), the first word
 * above those it has read, and cannot continue with a frame at (next). It is if
 * (next) is a value that user code left in the register; or if no word above
 * (place) points into the code, so that there is no caller, as in a task's
 * first frame, and in a boot frame whose frame pointer was never cleared.
 * Contexts: the walk.
 */
bool prof_bounds_is_end(uintptr_t place, uintptr_t next);

#endif
