/* SPDX-License-Identifier: Apache-2.0 */

/*
 * How CPUs join (<prof/cpus.h>, sample/cpus.h), and how far apart their time
 * stamp counters are.
 *
 * The CPU that joins asks, and the first one answers with its counter. That was
 * read between the question and the answer, so in the middle of that time it is
 * wrong by half of it at most. Of many such round trips the shortest is taken:
 * a host that runs one of the CPUs late makes some of them long. Counters that
 * may agree by that are taken to agree, as they do on all machines but few.
 */

#include "base/cpu.h"
#include "sample/cpus.h"
#include "tick/clock.h"
#include "tick/idt_gate.h"
#include "tick/source.h"

#include <prof/config.h>
#include <prof/cpus.h>
#include <stddef.h>

#if PROF_CPUS_MAX > 1

#define ROUNDS 64u
#define WAIT_FOR_ANSWERS 50u     /* of a second, for all rounds */
#define WAIT_FOR_QUESTIONS 1000u /* of a second, for the next one */
#define READING_CYCLES 64u /* by so much a counter may be read early or late */

/* How many CPUs ask. Each also says so in its own bit, in asks. */
static PROF_OWN_LINE uint64_t asking;

static void set_asking(uint32_t number, bool asks)
{
    uint64_t bit = (uint64_t)1 << number;

#ifdef __i386__
    uint32_t *half = (uint32_t *)&asking + number / 32;
    uint32_t mask = (uint32_t)1 << number % 32;

    (void)bit;
    if (asks)
        __atomic_fetch_or(half, mask, __ATOMIC_SEQ_CST);
    else
        __atomic_fetch_and(half, ~mask, __ATOMIC_SEQ_CST);
#else
    if (asks)
        __atomic_fetch_or(&asking, bit, __ATOMIC_SEQ_CST);
    else
        __atomic_fetch_and(&asking, ~bit, __ATOMIC_SEQ_CST);
#endif
}

static bool is_asking(uint32_t number)
{
    const uint32_t *half = (const uint32_t *)&asking + number / 32;

    return (__atomic_load_n(half, __ATOMIC_ACQUIRE) >> number % 32 & 1) != 0;
}

/* Lets another CPU run where a host has fewer of them. */
static void pause_for_others(void)
{
    __asm__ volatile("pause" : : : "memory");
}

/* One round trip. False: no answer until (until). */
static bool ask(struct prof_cpu_link *link, uint64_t until, uint64_t *begin,
                uint64_t *end)
{
    uint32_t question = link->ping + 1;

    *begin = prof_tsc();
    __atomic_store_n(&link->ping, question, __ATOMIC_RELEASE);
    do {
        if (__atomic_load_n(&link->pong, __ATOMIC_ACQUIRE) == question) {
            *end = prof_tsc();
            return true;
        }
        pause_for_others();
    } while ((int64_t)(prof_tsc() - until) < 0);
    return false;
}

/* The offset and its error by one round trip, if that was shorter than those
 * before it. */
static void take_round(const struct prof_cpu_link *link, uint64_t begin,
                       uint64_t end, int64_t *offset, uint32_t *error)
{
    uint64_t half = (end - begin) / 2 + READING_CYCLES;

    if (half >= *error)
        return;
    *error = (uint32_t)half;
    *offset = (int64_t)(link->pong_tsc - (begin + (end - begin) / 2));
}

/* Whether 0 is as good as (offset). */
static bool may_be_zero(int64_t offset, uint32_t error)
{
    return (offset < 0 ? -offset : offset) <= (int64_t)error;
}

static bool compare(struct prof_cpu *cpu)
{
    struct prof_cpu_link *link = prof_cpu_link(cpu);
    uint64_t until =
                 prof_tsc() + prof_divide(prof_clock.tsc_hz, WAIT_FOR_ANSWERS),
             begin, end;
    uint32_t error = PROF_CPU_TSC_UNKNOWN;
    int64_t offset = 0;

    set_asking(prof_cpu_number(cpu), true);
    for (uint32_t i = 0; i < ROUNDS && ask(link, until, &begin, &end); i++)
        take_round(link, begin, end, &offset, &error);
    if (error <= link->tsc_error && error != PROF_CPU_TSC_UNKNOWN) {
        link->tsc_offset = may_be_zero(offset, error) ? 0 : offset;
        link->tsc_error = error;
    } /* else it is known better */
    /* the first CPU, which answers until then, sees both or none */
    set_asking(prof_cpu_number(cpu), false);
    return error != PROF_CPU_TSC_UNKNOWN;
}

/* Answers the questions of one CPU until it has no more. */
static void answer_to(uint32_t number)
{
    struct prof_cpu_link *link = &prof_cpu_links[number];
    uint64_t wait = prof_divide(prof_clock.tsc_hz, WAIT_FOR_QUESTIONS);
    uint64_t until = prof_tsc() + wait;

    while (is_asking(number) && (int64_t)(prof_tsc() - until) < 0) {
        uint32_t question = __atomic_load_n(&link->ping, __ATOMIC_ACQUIRE);

        if (question == link->pong) {
            pause_for_others();
            continue;
        }
        link->pong_tsc = prof_tsc();
        __atomic_store_n(&link->pong, question, __ATOMIC_RELEASE);
        until = prof_tsc() + wait;
    }
}

void prof_cpu_answer(void)
{
    for (uint32_t i = 1; i < prof_cpu_count(); i++)
        if (is_asking(i))
            answer_to(i);
}

/* Makes the current CPU (cpu). False: another has the same identification. */
static bool claim_key(struct prof_cpu *cpu)
{
#ifdef PROF_HOSTED
    prof_cpu_hosted = cpu;
    return true;
#else
    uint32_t key = prof_cpu_key_here();
    struct prof_cpu *nobody = PROF_CPU_NOBODY;

    if (PROF_CPU_BY == PROF_CPU_BY_TASK && key == 0)
        return false; /* no TSS */
    prof_cpu_link(cpu)->key = key;
    return __atomic_compare_exchange_n(&prof_cpu_keys[key].cpu, &nobody, cpu,
                                       false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
#endif
}

static void note_idt(struct prof_cpu_link *link)
{
#if PROF_WITH_PIT && !defined(PROF_HOSTED)
    prof_gate_note(link);
#else
    (void)link;
#endif
}

int prof_cpu_join(uint32_t number)
{
    struct prof_cpu_link *link;
    struct prof_cpu *cpu;
    int error;

    if (prof_cpu_count() == 0)
        return PROF_ESTATE;
    if (number == 0 || number >= prof_cpu_count())
        return PROF_EVALUE;
    cpu = &prof_cpus[number];
    link = prof_cpu_link(cpu);
    if (__atomic_load_n(&link->state, __ATOMIC_ACQUIRE) != PROF_CPU_FREE ||
        !prof_cpu_may_be(number))
        return PROF_ESTATE;
    link->tsc_offset = 0;
    link->tsc_error = PROF_CPU_TSC_UNKNOWN;
    (void)compare(cpu);
    note_idt(link);
    link->joined_tsc = prof_tsc();
    prof_overflow_resume(&cpu->overflow, link->joined_tsc);
    if (!claim_key(cpu))
        return PROF_ECPU;
    error = prof_source_join(cpu);
    if (error != PROF_OK)
        prof_cpus_forget(cpu);
    __atomic_store_n(&link->state,
                     error == PROF_OK ? PROF_CPU_JOINED : PROF_CPU_LEFT,
                     __ATOMIC_RELEASE); /* (D) */
    return error;
}

void prof_cpu_leave(void)
{
    struct prof_cpu *cpu = prof_cpu_here();

    if (cpu == PROF_CPU_NOBODY || cpu == PROF_CPU_FIRST)
        return;
    prof_source_leave(cpu);
    prof_cpus_forget(cpu); /* before the drain may let it go */
    prof_clock_leave(cpu);
    __atomic_store_n(&prof_cpu_link(cpu)->state, PROF_CPU_LEFT,
                     __ATOMIC_RELEASE); /* (D) */
}

void prof_source_poll(void)
{
    struct prof_cpu *cpu = prof_cpu_here();
    bool on;

    if (cpu == PROF_CPU_NOBODY || cpu == PROF_CPU_FIRST)
        return;
    on = prof_interrupts_save();
    prof_source_look(cpu);
    prof_interrupts_restore(on);
}

bool prof_cpu_compare(void)
{
    struct prof_cpu *cpu = prof_cpu_here();

    return cpu != PROF_CPU_NOBODY && cpu != PROF_CPU_FIRST && compare(cpu);
}

#endif
