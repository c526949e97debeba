/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_RECORDER_H
#define PROF_TRACE_RECORDER_H

/*
 * The ring of what <prof/trace.h> reports, one per CPU. Written by threads and
 * by interrupts in the middle of them, wait-free; read by the drain, or by a
 * panic wherever it comes.
 *
 *     head  -> positions are multiples of 32, taken by one xadd
 *     at       of the slot at offset position % size:
 *                its position     whole
 *                position + 3     whole and held: not yet in the table of
 *                                 objects (objects.h)
 *                other odd values being written
 *                anything else    of another lap
 *
 * A producer takes a position, marks the slot as being written by one bts,
 * writes it, and stores the position last (A). Only interrupts come in between,
 * and each ends before the producer goes on. One that wraps around to the slot
 * finds it being written and skips it (B). So no slot has two writers, and a
 * slot that carries its position is whole.
 *
 * The ring overwrites its oldest events, in all modes. But an event that begins
 * or ends an object is held until the table of objects has it: the bts detects
 * that, and the producer then updates the table up to there. Usually the drain
 * has done so.
 *
 * The reader copies a slot and then checks that it still has its position (C).
 * Otherwise the event is lost: overwritten, skipped (B), or interrupted by a
 * panic. So losses are exact, and known where they happened.
 *
 * Time is read last. So an event that an interrupt has split comes before the
 * interrupt's, with a later time, which the reader lowers to that of the next.
 *
 * xadd and bts have no lock prefix: all writers of a ring are on its CPU.
 * Positions repeat after 2^27 events. tests/model/trace.pml has the proof.
 *
 * The first CPU's drain reads the rings of all. A record of another CPU whose
 * position is taken may still be written: the reader waits for it, until half
 * of the ring is behind it (reader.c). A CPU that has not joined has no ring,
 * and records nothing.
 */

#include "base/cpu.h"
#include "sample/cpu_state.h"

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
#define PROF_TRACE_HELD 3u  /* in at: whole, and held */
_Static_assert(sizeof(struct prof_trace_record) == PROF_TRACE_STEP,
               "positions are bytes");

/* A record that an interrupt has copied for the table of objects. */
struct prof_trace_aside {
    uint32_t at; /* position */
    uint32_t a, b, what;
};

#define PROF_TRACE_ASIDE_MAX 16u

/* The part of the table of objects that is a CPU's (objects.h). */
struct prof_objects {
    struct prof_object *slots;
    uint32_t mask;
    uint32_t next;      /* number of its next object */
    uint32_t untracked; /* objects that are not in the table */
};

#if PROF_CPUS_MAX > 1
/* Ends and labels of other CPUs' objects that these have not in their part of
 * the table yet. */
#define PROF_TRACE_STRAYS_MAX 32u

struct prof_trace_stray {
    uint32_t a, what;
    uint32_t until; /* a position of that CPU's: until there it has it, or never
                       will */
};

struct prof_trace_strays {
    uint32_t count;
    struct prof_trace_stray all[PROF_TRACE_STRAYS_MAX];
};
#endif

/* How far the table of objects has followed a ring (objects.h). */
struct prof_trace_follower {
    uint32_t tail;  /* position of the next record */
    uint32_t busy;  /* 1: somebody updates the table */
    uint32_t count; /* of records set aside meanwhile */
    struct prof_trace_aside aside[PROF_TRACE_ASIDE_MAX];
};

/* What the numbers of objects count from, in a packet (encode.c). */
struct prof_trace_bases {
    bool has_near; /* OBJECTS was put: */
    bool has_tiny; /* RECENT was put: */
    uint32_t near;
    uint32_t tiny;
};

/* Reads a ring, and puts its events into packets (reader.h). */
struct prof_trace_reader {
    uint32_t tail;   /* the next position */
    uint32_t lost;   /* events before that, since the last LOST */
    uint32_t before; /* events passed before its first packet */
    bool unsure;     /* LOST was put, and who is current was not */
    uint64_t tsc;    /* time of the last event; later ones have no earlier */
    uint64_t read;   /* events so far, lost ones included */
    uint64_t missed; /* events that were lost */

#if PROF_CPUS_MAX > 1
    const struct prof_trace_cpu *cpu; /* whose ring it is */
#endif

    /* The encoder's (reader.h). */
    struct prof_packet_writer *to;
    uint32_t *notes;  /* by name: what interning.h keeps, 0 at first */
    uint32_t packet;  /* that the last event went to */
    uint32_t current; /* the last object that was switched to */
    struct prof_trace_bases bases; /* in this packet */
    uint64_t bytes;                /* of all events so far */
};

/* A CPU's part of the dump that is being made (modes.c). */
struct prof_trace_dump {
    bool begun;      /* HISTORY was put */
    uint32_t until;  /* position at which it ends */
    uint32_t object; /* next slot of the table */
    uint64_t begin;  /* time of its first event */
#if PROF_CPUS_MAX > 1
    uint32_t sequence; /* of its next packet */
#endif
};

struct prof_trace_cpu {
    /* Written by that CPU, and before anything is recorded. */
    PROF_OWN_LINE uint32_t head; /* the next position; by the producers */
    uint32_t mask;               /* of positions: bytes of the ring less 1 */
    uint32_t current;            /* the current object; by the producers */
    struct prof_trace_record *records; /* NULL: none */
    struct prof_objects objects;
    struct prof_trace_follower follower;
#if PROF_CPUS_MAX > 1
    struct prof_trace_strays strays;
#endif

    /* Written by the drain. */
    PROF_OWN_LINE uint64_t due; /* before this time nothing recorded is to be
                                   sent; UINT64_MAX while nothing is to be sent
                                   at all */
    struct prof_trace_reader stream;
    struct prof_trace_reader history; /* for dumps */
    struct prof_trace_dump dump;
    uint32_t objects_sent;  /* slots that a new reader of the stream knows of;
                               beyond the last slot: all */
    uint32_t objects_after; /* they are sent once the table has the records
                               before this position */
};

/* By their numbers; with several, one more for those that have not joined. */
extern struct prof_trace_cpu prof_trace_cpus[PROF_CPU_STATES];

/* The recorder of the current CPU: with one CPU, a constant address. */
static inline struct prof_trace_cpu *prof_trace_cpu_here(void)
{
    return PROF_CPUS_MAX == 1
               ? &prof_trace_cpus[0]
               : &prof_trace_cpus[prof_cpu_number(prof_cpu_here())];
}

static inline struct prof_trace_cpu *
prof_trace_cpu_of(const struct prof_cpu *cpu)
{
    return &prof_trace_cpus[prof_cpu_number(cpu)];
}

/* The number of (cpu), and its state. */
static inline uint32_t prof_trace_cpu_number(const struct prof_trace_cpu *cpu)
{
    return PROF_CPUS_MAX == 1 ? 0 : (uint32_t)(cpu - prof_trace_cpus);
}

static inline struct prof_cpu *
prof_trace_sampled(const struct prof_trace_cpu *cpu)
{
    return &prof_cpus[prof_trace_cpu_number(cpu)];
}

/* Whose ring (reader) reads. */
static inline const struct prof_trace_cpu *
prof_trace_reader_cpu(const struct prof_trace_reader *reader)
{
#if PROF_CPUS_MAX > 1
    return reader->cpu;
#else
    (void)reader;
    return &prof_trace_cpus[0];
#endif
}

/* Whether (cpu) has a ring: with one CPU, whoever records. */
static inline bool prof_trace_has_ring(const struct prof_trace_cpu *cpu)
{
    return PROF_CPUS_MAX == 1 || cpu->records != NULL;
}

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

/* Claims a slot for writing. False: it is being written, or held. */
static inline bool prof_trace_claim(struct prof_trace_record *record)
{
    bool odd;

    __asm__ volatile("btsl $0, %1" : "=@ccc"(odd), "+m"(record->at));
    return !odd;
}

/* After prof_trace_claim() has failed: if the slot is held, releases it and
 * claims it. False: it is being written. */
PROF_TRACE_CALL bool prof_trace_claim_held(struct prof_trace_record *record);

/* Calls that and keeps all registers, so that the caller neither saves any nor
 * makes a frame. */
static inline bool prof_trace_claim_again(struct prof_trace_record *record)
{
#ifdef PROF_HOSTED
    return prof_trace_claim_held(record);
#else
    bool claimed;

#ifdef __i386__
    __asm__ volatile("pushal\n\t"
                     "movl %1, %%eax\n\t"
                     "call prof_trace_claim_held\n\t"
                     "testb %%al, %%al\n\t"
                     "popal"
                     : "=@ccnz"(claimed)
                     : "r"(record)
                     : "memory");
#else
    __asm__ volatile("pushq %%rax; pushq %%rcx; pushq %%rdx\n\t"
                     "pushq %%rsi; pushq %%rdi; pushq %%r8\n\t"
                     "pushq %%r9; pushq %%r10; pushq %%r11\n\t"
                     "movq %1, %%rdi\n\t"
                     "call prof_trace_claim_held\n\t"
                     "testb %%al, %%al\n\t"
                     "popq %%r11; popq %%r10; popq %%r9\n\t"
                     "popq %%r8; popq %%rdi; popq %%rsi\n\t"
                     "popq %%rdx; popq %%rcx; popq %%rax"
                     : "=@ccnz"(claimed)
                     : "r"(record)
                     : "memory");
#endif
    return claimed;
#endif
}

/* Takes position (*at), and claims its slot. False: it is being written (B), or
 * there is no ring. */
static inline bool prof_trace_begin(struct prof_trace_cpu *cpu, uint32_t *at,
                                    struct prof_trace_record **record)
{
    if (!prof_trace_has_ring(cpu))
        return false;
    *at = prof_trace_take(cpu);
    *record = prof_trace_slot(cpu, *at);
    if (__builtin_expect(!prof_trace_claim(*record), 0) &&
        __builtin_expect(!prof_trace_claim_again(*record), 0))
        return false;
    PROF_TRACE_ORDERED();
    return true;
}

/* Writes the time, and that the event at position (at) is whole; (held): 0 or
 * PROF_TRACE_HELD. Returns its (a). */
static inline uint32_t prof_trace_end(struct prof_trace_record *record,
                                      uint32_t at, uint32_t held)
{
    uint32_t low, high, a;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    record->tsc_low = low;
    record->tsc_high = high;
    a = record->a;
    __atomic_store_n(&record->at, at + held, __ATOMIC_RELEASE); /* (A) */
    return a;
}

/* Records an event. Contexts: any. */
static inline void prof_trace_store(struct prof_trace_cpu *cpu, uint32_t what,
                                    uint32_t a, uint32_t b, uint32_t held)
{
    struct prof_trace_record *record;
    uint32_t at;

    if (!prof_trace_begin(cpu, &at, &record))
        return;
    record->what = what;
    record->a = a;
    record->b = b;
    (void)prof_trace_end(record, at, held);
}

#endif
