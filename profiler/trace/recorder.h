/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_RECORDER_H
#define PROF_TRACE_RECORDER_H

/*
 * The ring of what <prof/trace.h> reports, one per CPU. Written by threads and
 * by interrupts in the middle of them, wait-free; read by the drain, or by a
 * panic wherever it comes.
 *
 *     head  -> positions are multiples of 32, taken by one xadd
 *     at       of the slot that lies (position % bytes of the ring) into it:
 *                its position   it is whole
 *                odd            it is being written
 *                anything else  it is of another lap
 *
 * A producer takes a position, marks the slot as being written, writes it, and
 * stores the position last (A). Only interrupts come in between, and each of
 * them ends before it goes on. So many may come that the ring wraps around to
 * the slot: such a one finds it being written and leaves it alone (B). So no
 * slot is ever written by two at once, and one that carries its position is
 * whole.
 *
 * The ring overwrites its oldest events, in all modes; the producer knows no
 * tail. The reader goes from position to position. It copies a slot and then
 * looks again whether it still has that position (C); if not, or if it never
 * had, that event is lost: it was overwritten, or left out (B), or is one that
 * a panic has interrupted. So losses are exact, and known where they happened.
 *
 * Time is read last. So an event that an interrupt has split comes before the
 * interrupt's, with a later time, which the reader lowers to that of the next.
 *
 * xadd has no lock prefix: it need only be one instruction, for all who write
 * a ring are on its CPU. Positions repeat after 2^27 events. tests/model/
 * trace.pml has the proof.
 */

#include <prof/trace.h>
#include <stdbool.h>
#include <stdint.h>

struct prof_trace_record {
    uint32_t a, b;
    uint32_t what; /* enum prof_trace_what, a byte, the number of a name */
    uint32_t tsc_low, tsc_high;
    uint32_t at;
    uint32_t unused[2]; /* to the next power of two: no multiplication */
};

#define PROF_TRACE_STEP 32u /* from one position to the next */
#define PROF_TRACE_ODD 1u   /* in at: being written */
_Static_assert(sizeof(struct prof_trace_record) == PROF_TRACE_STEP,
               "positions are bytes");

struct prof_trace_cpu {
    uint32_t head;    /* the next position; by the producers */
    uint32_t mask;    /* of positions: bytes of the ring less 1 */
    uint32_t current; /* the current object; by the producers */
    struct prof_trace_record *records;
};

/* One CPU, as for samples (sample/cpu_state.h). */
extern struct prof_trace_cpu prof_trace_cpus[1];

/* The slot of position (at). */
static inline struct prof_trace_record *
prof_trace_slot(const struct prof_trace_cpu *cpu, uint32_t at)
{
    return (void *)((char *)cpu->records + (at & cpu->mask));
}

/* Makes an empty ring of (slots), a power of two. Contexts: thread, nothing is
 * recorded. */
void prof_trace_ring_open(struct prof_trace_cpu *cpu,
                          struct prof_trace_record *records, uint32_t slots);

/* Reader: copies the record at position (at). False: it is lost. */
bool prof_trace_ring_read(const struct prof_trace_cpu *cpu, uint32_t at,
                          struct prof_trace_record *copy);

static inline uint64_t
prof_trace_record_tsc(const struct prof_trace_record *record)
{
    return (uint64_t)record->tsc_high << 32 | record->tsc_low;
}

/* The parts of record->what. */
static inline uint32_t prof_trace_what_of(uint32_t what)
{
    return what & 0xff;
}

static inline uint32_t prof_trace_byte_of(uint32_t what)
{
    return what >> 8 & 0xff;
}

static inline uint32_t prof_trace_name_of(uint32_t what)
{
    return what >> 16;
}

/* A compiler's barrier: one CPU sees its own stores in their order, and x86
 * shows them in that order to others. */
#define PROF_TRACE_ORDERED() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Takes a position. */
static inline uint32_t prof_trace_take(struct prof_trace_cpu *cpu)
{
    uint32_t at = PROF_TRACE_STEP;

    __asm__ volatile("xaddl %0, %1" : "+r"(at), "+m"(cpu->head) : : "cc");
    return at;
}

/* Records an event. Contexts: any. */
static inline void prof_trace_store(struct prof_trace_cpu *cpu, uint32_t what,
                                    uint32_t a, uint32_t b)
{
    uint32_t at = prof_trace_take(cpu);
    struct prof_trace_record *record = prof_trace_slot(cpu, at);
    uint32_t low, high;

    if (__builtin_expect((record->at & PROF_TRACE_ODD) != 0, 0))
        return; /* (B) */
    __atomic_store_n(&record->at, PROF_TRACE_ODD, __ATOMIC_RELAXED);
    PROF_TRACE_ORDERED();
    record->a = a;
    record->b = b;
    record->what = what;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    record->tsc_low = low;
    record->tsc_high = high;
    __atomic_store_n(&record->at, at, __ATOMIC_RELEASE); /* (A) */
}

#endif
