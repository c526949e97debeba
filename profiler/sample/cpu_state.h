/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CPU_STATE_H
#define PROF_CPU_STATE_H

/*
 * The state that the interrupt reads and writes, one struct per CPU. It writes
 * nothing else, but for a drain in it (tick_drain). The assembly stubs get the
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
    void (*set)(uint32_t divisor); /* programs it, with interrupts off */
    uint64_t random;               /* the generator's state */
    uint32_t ticks_left;           /* ticks until the divisor changes */
    uint32_t divisor; /* the current period, in counts of the PIT */
    uint32_t least;   /* smallest divisor that is chosen */
    uint32_t counts;  /* number of divisors to choose from, 0 = fixed */
    uint32_t turn;    /* divisors chosen so far */
    uint32_t shuffle; /* the order of the parts of their range */
    uint32_t rest;    /* ticks until the divisor changes, after those of
                            ticks_left: the drain looks sooner */
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
 * until the sooner of both. Times are of the TSC; PROF_LAPIC_NEVER: none.
 */
#define PROF_LAPIC_NEVER UINT64_MAX

/* Whose a CPU's timer is. */
enum prof_lapic_state {
    PROF_LAPIC_OFF,     /* not the profiler's */
    PROF_LAPIC_SHARED,  /* its and the kernel's, whose deadlines are known */
    PROF_LAPIC_OWN,     /* the profiler's alone */
    PROF_LAPIC_LEAVING, /* it was its own. The CPU has left with a tick of it
                           pending, to which the gate must be ours */
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
    uint8_t state;    /* enum prof_lapic_state; written by its CPU alone */
    bool by_tsc;      /* armed by a TSC value, instead of a count */
#if PROF_CPUS_MAX > 1
    /* Of other CPUs, whose timer is theirs alone to program: */
    bool may_run;            /* whether it is to sample; written by the first */
    uint32_t timer_kept;     /* of a timer of its own, to be put back */
    uint32_t divide_kept;    /* the same */
    uint32_t taken_back;     /* how often its ticks had been lost */
    uint32_t generation;     /* of the rate in force */
    uint64_t begun_tsc;      /* no sample covers the time before */
    struct prof_jitter vary; /* what the periods are */
#endif

    uintptr_t at;      /* of the APIC's registers; 0 = x2APIC, by MSR */
    uintptr_t handler; /* the kernel's own, found in the gate */
};

#if PROF_WITH_NMI
/* The source `nmi`, owned by tick/source_nmi.c; see prof_nmi(). */
struct prof_nmi {
    uint32_t end;        /* when the last sample was done with, by the TSC's low
                            half; written by the interrupt */
    uint32_t near;       /* no tick comes within so many cycles from then;
                            PROF_NMI_STOPPED: NMIs are the kernel's;
                            PROF_NMI_JOINING: all of them are ignored */
    uint32_t duplicates; /* that came nearer; written by the interrupt */
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
                             above it in the stack; 0 = there is none */
    uintptr_t last_frame; /* highest frame, in words from address 0 */
};

/* Makes (bounds) those of a stack in [begin, end); no word of it may be read if
 * it is shorter than two. */
void prof_stack_bounds_set(struct prof_stack_bounds *bounds, uintptr_t begin,
                           uintptr_t end);

/* Between two looks whether the interrupt is to drain, at most. The stubs look
 * where the PIT's period changes, which is as often, or sooner (jitter.h). */
#define PROF_TICK_DRAIN_TICKS 32u

struct prof_cpu {
    PROF_OWN_LINE
    struct prof_ring ring;     /* for who writes what see ring.h */
    struct prof_frames frames; /* and frames.h */
    struct prof_overflow overflow;
    struct prof_cpu_tick tick;

    /* Written only by the interrupt. */
    uint32_t ticks;            /* modulo 2^32; the drain extends it */
    uint64_t interrupt_cycles; /* time spent in the interrupt handler, and in
                                  those that prof_loop_irq_enter() announces,
                                  without taken_cycles */
    uint64_t observed_cycles;  /* of all these: in the latter, and in drains */

    /* Written in one store; the target is complete by then. */
    const struct prof_stack_bounds *stack; /* one of the next three */
    struct prof_stack_bounds stacks[2];

    /* Written by the interrupt, where no stack is set (below). */
    struct prof_stack_bounds found;
    uintptr_t end_place, end_next; /* last end of a walk that was found to be
                                      one: the arguments (below) */
    bool found_exact;              /* nothing may be read beyond (found) */
    bool unknown_stack;            /* written by the thread: that is so */
    bool user_seen;                /* user code was interrupted */
    uint8_t space; /* written by any context: user code's address space */

    /* Written by the thread with interrupts off. */
    uint64_t taken_cycles; /* taken out of interrupt_cycles (loop/rebase.c) */
    uint32_t (*tick_drain)(void); /* returns in how many ticks it is to be
                                     called again; NULL: none */
    uint32_t tick_drain_left;     /* these ticks, for prof_sample() */
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
 * The states, reached by the following, and by the stubs. Where there may be
 * several CPUs one state more, the last, is that of all that have not joined
 * (<prof/cpus.h>): the stubs need not ask. Its vector is a single entry, which
 * is always free, it has no callers, and nobody reads it.
 */
#define PROF_CPU_STATES (PROF_CPUS_MAX == 1 ? 1 : PROF_CPUS_MAX + 1)
extern struct prof_cpu prof_cpus[PROF_CPU_STATES];

/* The one that prof_init() is called on, which drains all vectors. */
#define PROF_CPU_FIRST (&prof_cpus[0])

#if PROF_CPUS_MAX == 1

/* The state of the current CPU: with one CPU a constant address. Contexts:
 * any. */
static inline struct prof_cpu *prof_cpu_here(void)
{
    return PROF_CPU_FIRST;
}

#else

#define PROF_CPU_NOBODY (&prof_cpus[PROF_CPUS_MAX])

#ifdef PROF_HOSTED

/* A program that plays several CPUs says which one it is. */
extern struct prof_cpu *prof_cpu_hosted;

static inline struct prof_cpu *prof_cpu_here(void)
{
    return prof_cpu_hosted;
}

#else

/* The state by what identifies CPUs (PROF_CPU_BY): PROF_CPU_NOBODY unless
 * a CPU has joined with that key. Eight bytes each on both widths, so that a
 * selector is an offset. Written by the CPU that joins or leaves. */
struct prof_cpu_key {
    struct prof_cpu *cpu;
} __attribute__((aligned(8)));

extern struct prof_cpu_key prof_cpu_keys[PROF_CPU_KEYS];

/* The index of the current CPU in that table. Volatile, since a thread may go
 * on to another CPU. */
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

/* The state of the current CPU, or PROF_CPU_NOBODY; the stubs do the same
 * (<width>/cpu_here.inc). Contexts: any. */
static inline struct prof_cpu *prof_cpu_here(void)
{
    return prof_cpu_keys[prof_cpu_key_here()].cpu;
}

#endif
#endif

/* The number of (cpu), by which other rooms index what they keep for each
 * CPU. */
static inline uint32_t prof_cpu_number(const struct prof_cpu *cpu)
{
    return PROF_CPUS_MAX == 1 ? 0 : (uint32_t)(cpu - prof_cpus);
}

/* (cpu), or the only one there may be: a constant address, which the compiler
 * cannot see in a function that is called with it. */
static inline struct prof_cpu *prof_cpu_only(const struct prof_cpu *cpu)
{
    return PROF_CPUS_MAX == 1 ? PROF_CPU_FIRST : (struct prof_cpu *)cpu;
}

/* A sample of user mode has this address instead of its own: the space is all
 * that is kept of it. No code of the kernel is in the last 256 bytes. */
#define PROF_USER_BASE (UINTPTR_MAX - 255)

static inline bool prof_is_user(uintptr_t pc)
{
    return PROF_WITH_USER && pc - PROF_USER_BASE < PROF_SPACES;
}

/* Cycles in the sampler's own interrupts, so far. Contexts: interrupts off; or
 * any, for a reader that checks that no tick came meanwhile. */
static inline uint64_t prof_sampler_cycles(const struct prof_cpu *cpu)
{
#if PROF_CPUS_MAX > 1
    /* of another CPU, which adds to the former first */
    uint64_t observed = *(const volatile uint64_t *)&cpu->observed_cycles;

    return *(const volatile uint64_t *)&cpu->interrupt_cycles - observed;
#else
    return cpu->interrupt_cycles + cpu->taken_cycles - cpu->observed_cycles;
#endif
}

/* When the newest sample of (cpu) was taken, drained or not; 0: none yet. Two
 * words on i386, between which a tick may write both; so they are read again if
 * one came. Turning interrupts off would not stop an NMI. Contexts: thread. */
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
 * It counts the tick, stores the sample as ring.h says, and jumps to the
 * kernel's handler with the stack and every register as they were; or, for a
 * tick that the kernel did not ask for, acknowledges it and returns from the
 * interrupt. It touches no FPU or SSE state. Only it counts ticks, so a report
 * can compare the count with the drain's accounts. It relies on the drain to
 * leave no frames in free entries. Plain loads and stores acquire and release
 * on x86.
 */
void prof_parasite(void);

#if PROF_WITH_LAPIC
/*
 * Stubs of the local APIC's timer (tick/<width>/lapic_stubs.asm), never called
 * either. prof_lapic_enter() is what the gate of a timer points at that is
 * shared: where a sample is due it goes on to prof_parasite(), which passes
 * every tick on to prof_lapic_sampled(). Both come to prof_lapic_turn(), and
 * then to the kernel's handler or out of the interrupt. With a timer of our
 * own the gate has prof_parasite(), which goes on to prof_lapic_done() or, in
 * x2APIC mode, prof_lapic_done_by_msr(): they acknowledge.
 */
void prof_lapic_enter(void);
void prof_lapic_sampled(void);
void prof_lapic_done(void);
void prof_lapic_done_by_msr(void);

#if PROF_CPUS_MAX > 1
/* For these stubs: prof_lapic_turn(), which returns the kernel's handler or 0.
 * Where there may be several CPUs a gate always has prof_lapic_enter(). */
uintptr_t prof_lapic_turn_to(bool sampled);
#endif
#endif

#if PROF_WITH_NMI
/*
 * The stub of the NMI's gate (tick/<width>/nmi_stub.asm), never called either.
 * It stores a sample as prof_parasite() does, with a mark where interrupts were
 * off, and returns: no NMI is the kernel's while this source samples.
 *
 * One NMI is kept while another is handled. So a handler that takes longer than
 * a period would be entered again as soon as it returns, and the program stand
 * still; and some machines deliver a tick twice. An NMI that comes within a
 * part of a period after the last one's end is therefore no sample.
 */
void prof_nmi(void);

/* For the stub: the period changes, or the PIT is to be programmed, after a
 * sample whose time stamp ends in (tsc_low); or the latter after an NMI that
 * was none. Contexts: interrupt. */
void prof_nmi_turn(uint32_t tsc_low);
void prof_nmi_again(void);
#endif

/*
 * Entry of the slow path, while the vector is full: adds one sample of (pc) at
 * (marked_tsc), which has PROF_TSC_IRQS_OFF or not, to the overflow table, or
 * counts it as dropped. Called by the stubs and by prof_sample(), in the
 * interrupt. Wait-free: at most PROF_OVERFLOW_PROBES steps.
 */
void prof_sample_full(uintptr_t pc, uint64_t marked_tsc);

/* ---- bounds.c: bounds of stacks that nobody has set, and ends of stacks that
 * are not marked by a frame pointer of 0. Called by the walk where it would
 * give up, so that a walk in known bounds to a regular end costs no more. */

/* Takes what it needs of (config). Contexts: boot. */
void prof_bounds_open(const struct prof_config *config);

/*
 * Sets the bounds to those of the stack that (sp) is in, if none were set and
 * it can be known what may be read. False: it cannot, and nothing changed.
 * Contexts: the walk.
 */
bool prof_bounds_find(uintptr_t sp);

/*
 * Whether a walk that has come to (place), the first word above what it has
 * read, and cannot go on to a frame at (next), is complete: (next) is what user
 * code has left in the register; or nothing above (place) points into the code,
 * so that there is no caller. That is so in a task's first frame, and in a boot
 * frame whose frame pointer was never cleared. Contexts: the walk.
 */
bool prof_bounds_is_end(uintptr_t place, uintptr_t next);

#endif
