/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_LOCK_H
#define KERNEL_LOCK_H

/*
 * A lock that one CPU holds and others spin for, and that its holder may take
 * again. It does not turn interrupts off: an interrupt that would need what is
 * locked asks lock_is_mine(), and does without. With one CPU it is a counter.
 */

#include <arch/cpu.h>
#include <arch/cpu_number.h>
#include <stdbool.h>
#include <stdint.h>

struct lock {
    volatile uint32_t depth; /* how often the owner has taken it */
#if ARCH_CPUS_MAX > 1
    volatile uint32_t owner; /* its number, and 1; 0: nobody */
#endif
};

#if ARCH_CPUS_MAX > 1

/* Whether it is ours now. With interrupts off, so that one that takes the lock
 * finds it whole. */
static inline bool lock_try(struct lock *lock)
{
    const uint32_t own = arch_cpu_number() + 1;
    const bool on = arch_interrupts_save();
    uint32_t nobody = 0;
    const bool is_ours =
        lock->owner == own ||
        __atomic_compare_exchange_n(&lock->owner, &nobody, own, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);

    if (is_ours)
        lock->depth++;
    arch_interrupts_restore(on);
    return is_ours;
}

static inline void lock_take(struct lock *lock)
{
    while (!lock_try(lock))
        arch_pause();
}

static inline void lock_give(struct lock *lock)
{
    const bool on = arch_interrupts_save();

    if (--lock->depth == 0)
        __atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
    arch_interrupts_restore(on);
}

#else

/* An interrupt looks at the depth: the compiler must not move what is in
 * between to before or after it. */
static inline void lock_take(struct lock *lock)
{
    lock->depth++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void lock_give(struct lock *lock)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lock->depth--;
}

#endif

/* Whether the calling CPU holds it, in what an interrupt has interrupted. */
static inline bool lock_is_mine(const struct lock *lock)
{
#if ARCH_CPUS_MAX > 1
    return lock->owner == arch_cpu_number() + 1;
#else
    return lock->depth != 0;
#endif
}

/* Takes it from whoever has it, who has stopped for good. */
static inline void lock_seize(struct lock *lock)
{
#if ARCH_CPUS_MAX > 1
    if (!lock_is_mine(lock)) {
        lock->depth = 0;
        lock->owner = 0;
    }
#else
    (void)lock;
#endif
}

#endif
