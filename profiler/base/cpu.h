/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CPU_H
#define PROF_CPU_H

/*
 * CPU instructions that cannot be expressed in C.
 *
 * With PROF_HOSTED the same sources run in a process, in which signals take the
 * place of interrupts: the program defines how to block them, or has none.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <prof/config.h>

#ifdef PROF_HOSTED
#include <prof/port.h>
#endif

/* With several CPUs, data written by different CPUs are this many bytes apart,
 * to avoid false sharing. */
#define PROF_CACHE_LINE 64
#if PROF_CPUS_MAX > 1
#define PROF_OWN_LINE __attribute__((aligned(PROF_CACHE_LINE)))
#else
#define PROF_OWN_LINE
#endif

/* Returns the time stamp counter, in cycles since reset (Intel SDM vol. 2B,
 * RDTSC). */
static inline uint64_t prof_tsc(void)
{
    uint32_t low, high;

#ifdef PROF_HOSTED
    if (prof_port_tsc != NULL)
        return prof_port_tsc();
#endif
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

/* *sum += more; in two instructions on i386, whatever registers are free. */
static inline void prof_add_to(uint64_t *sum, uint32_t more)
{
#ifdef __i386__
    typedef uint32_t __attribute__((may_alias)) half;
    half *halves = (half *)sum;

    __asm__("addl %2, %0\n\t"
            "adcl $0, %1"
            : "+m"(halves[0]), "+m"(halves[1])
            : "r"(more)
            : "cc");
#else
    *sum += more;
#endif
}

#ifdef PROF_HOSTED

static inline bool prof_interrupts_save(void)
{
    return prof_port_interrupts_off != NULL && prof_port_interrupts_off();
}

static inline uintptr_t prof_flags_save(void)
{
    return prof_interrupts_save();
}

static inline void prof_interrupts_restore(bool on)
{
    if (prof_port_interrupts_restore != NULL)
        prof_port_interrupts_restore(on);
}

static inline void prof_flags_restore(uintptr_t flags)
{
    prof_interrupts_restore(flags != 0);
}

#else

#define PROF_FLAGS_IF (1u << 9)

/* Turns interrupts off and returns the flags before. */
static inline uintptr_t prof_flags_save(void)
{
    uintptr_t flags;

    __asm__ volatile("pushf; pop %0; cli" : "=r"(flags) : : "memory");
    return flags;
}

/* The same, but whether they were on, which may be kept in memory. */
static inline bool prof_interrupts_save(void)
{
    return (prof_flags_save() & PROF_FLAGS_IF) != 0;
}

static inline void prof_interrupts_restore(bool on)
{
    if (on)
        __asm__ volatile("sti" : : : "memory");
}

static inline void prof_flags_restore(uintptr_t flags)
{
    prof_interrupts_restore((flags & PROF_FLAGS_IF) != 0);
}

#endif

/* With interrupts off: lets pending ones in for a moment if (on). */
static inline void prof_interrupts_let_in(bool on)
{
    prof_interrupts_restore(on);
    (void)prof_interrupts_save();
}

/* Copy (words) words. For large blocks, as `rep` has a high start-up cost. */
static inline void prof_copy_words(void *to, const void *from, size_t words)
{
#ifdef __x86_64__
    __asm__ volatile("rep movsq"
                     : "+D"(to), "+S"(from), "+c"(words)
                     :
                     : "memory");
#else
    __asm__ volatile("rep movsl"
                     : "+D"(to), "+S"(from), "+c"(words)
                     :
                     : "memory");
#endif
}

/* Zeroes the (words) machine words at (to). */
static inline void prof_clear_words(void *to, size_t words)
{
#ifdef __x86_64__
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(0l) : "memory");
#else
    __asm__ volatile("rep stosl" : "+D"(to), "+c"(words) : "a"(0l) : "memory");
#endif
}

/* Returns (n) / (d), where (d) is not 0; on i386 without libgcc's __udivdi3.
 */
static inline uint64_t prof_divide(uint64_t n, uint32_t d)
{
#ifdef __i386__
    uint32_t high = (uint32_t)(n >> 32), low = (uint32_t)n;
    uint32_t quotient = high / d, rest = high % d;

    __asm__("divl %4" : "=a"(low), "=d"(rest) : "a"(low), "d"(rest), "r"(d));
    return (uint64_t)quotient << 32 | low;
#else
    return n / d;
#endif
}

#endif
