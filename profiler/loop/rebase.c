/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What runs and pauses leave to the next of them at the latest: time in
 * interrupts is taken off what they have interrupted, and times that do not fit
 * in 32 bits are moved where they do. The last change was within the same 2^32
 * cycles as the last rebase: until their end 32 bits tell all self times.
 */

#include "loop/loop.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

static struct prof_loop_site *long_site; /* only its histograms.notable */

void prof_loop_rebase_open(void *memory)
{
    *(uint32_t *)memory = 0;
    if (PROF_CPUS_MAX == 1 || long_site == NULL) /* one serves all CPUs */
        long_site = memory;
}

static void move_time(struct prof_loop_frame *frame, uint64_t so_far)
{
    if (prof_loop_was_rebased(frame)) {
        frame->before += so_far;
    } else {
        frame->before = so_far;
        frame->begin_high = prof_loop_cpu_here()->high;
    }
    frame->site = long_site;
    frame->start = 0;
}

/* The upper half of the clock has become another. */
static void move_all(uint64_t now, uint64_t away)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    uint64_t last = (uint64_t)cpu->high << 32 | UINT32_MAX;
    struct prof_loop_frame *top = cpu->top;
    uint32_t depth = 0;

    move_time(top,
              (uint32_t)((uint32_t)last - top->start) + (now - last) - away);
    top->start = (uint32_t)now;
    for (struct prof_loop_frame *at = top->outer;
         at != NULL && depth < PROF_LOOP_DEPTH_MAX; at = at->outer, depth++)
        move_time(at, (uint32_t)-at->start);
    cpu->high = (uint32_t)(now >> 32);
}

/* The present moment, and the cycles in interrupts until then: an NMI may come,
 * and add its own, between the two. */
static ALWAYS_INLINE uint64_t read_both(uint64_t *away)
{
    const volatile uint64_t *cycles = &prof_loop_sampled()->interrupt_cycles;
    uint64_t tsc;

    do {
        *away = *cycles;
        tsc = prof_loop_tsc();
    } while (*cycles != *away);
    return tsc;
}

#if PROF_CPUS_MAX == 1

/* Subtracts in memory, so that nothing is lost that an NMI adds meanwhile. */
static ALWAYS_INLINE void subtract(uint64_t *sum, uint64_t value)
{
#ifdef __i386__
    prof_loop_half *half = (prof_loop_half *)sum;

    __asm__ volatile("subl %2, %0\n\tsbbl %3, %1"
                     : "+m"(half[0]), "+m"(half[1])
                     : "r"((uint32_t)value), "r"((uint32_t)(value >> 32))
                     : "cc");
#else
    __asm__ volatile("subq %1, %0" : "+m"(*sum) : "r"(value) : "cc");
#endif
}

/* (cycles) are those since the last rebase. */
static ALWAYS_INLINE void take_cycles(uint64_t *cycles)
{
    subtract(&prof_cpu_here()->interrupt_cycles, *cycles);
    prof_cpu_here()->taken_cycles += *cycles;
}

#else

/* Nothing is taken out, for the first CPU reads them meanwhile. */
static ALWAYS_INLINE void take_cycles(uint64_t *cycles)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    uint64_t total = *cycles;

    *cycles -= cpu->away_seen;
    cpu->away_seen = total;
}

#endif

/* With interrupts off, for the guard reads all this. */
static ALWAYS_INLINE uint64_t rebase(struct prof_loop_now *now)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    bool on = prof_interrupts_save();
    uint64_t away, tsc = read_both(&away);

    take_cycles(&away);
    if ((uint32_t)(tsc >> 32) != cpu->high)
        move_all(tsc, away);
    else
        cpu->top->start += (uint32_t)away;
    if (now != NULL)
        *now = (struct prof_loop_now){.tsc = tsc,
                                      .away = prof_loop_away_seen(),
                                      .irq_cycles = cpu->irq_cycles,
                                      .irqs = cpu->irqs};
    prof_interrupts_restore(on);
    return tsc;
}

void prof_loop_rebase(struct prof_loop_now *now)
{
    (void)rebase(now);
    if (now != NULL)
        prof_loop_cpu_here()->read_tsc = now->tsc;
}

/* The same under a name by which tests/loop knows the readings of changes. */
uint64_t prof_loop_put_rebase(void)
{
    return rebase(NULL);
}

/* ---- interrupts
 *
 * They stop the clock of the loop: their time is added to that in which it
 * stood still. The sampler may interrupt them, and has added its own time
 * already.
 */

/* In one instruction for each half, since an NMI may add to it, too. */
static inline void add_in_memory(uint64_t *sum, uint64_t value)
{
#ifdef __i386__
    prof_loop_half *half = (prof_loop_half *)sum;

    __asm__ volatile("addl %2, %0; adcl %3, %1"
                     : "+m"(half[0]), "+m"(half[1])
                     : "r"((uint32_t)value), "r"((uint32_t)(value >> 32))
                     : "cc");
#else
    __asm__ volatile("addq %1, %0" : "+m"(*sum) : "r"(value) : "cc");
#endif
}

void prof_loop_put_irq_enter(void)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();

    if (cpu->depth++ != 0)
        return;
    cpu->enter_away = prof_loop_away();
    cpu->enter_tsc = prof_loop_tsc();
}

void prof_loop_put_irq_exit(void)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    uint64_t cycles;

    if (cpu->depth == 0 || --cpu->depth != 0)
        return;
    cycles = prof_loop_tsc() - cpu->enter_tsc;
    cycles -= prof_loop_away() - cpu->enter_away;
    cpu->irqs++;
    if (__builtin_expect(cycles >= cpu->long_runs.noted_least, 0)) {
        cpu->long_irq_enter = cpu->enter_tsc;
        cpu->long_irq_exit = cpu->enter_tsc + cycles;
    }
    add_in_memory(&cpu->irq_cycles, cycles);
    add_in_memory(&prof_loop_sampled()->interrupt_cycles, cycles);
    add_in_memory(&prof_loop_sampled()->observed_cycles, cycles);
}
