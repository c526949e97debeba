/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The consumer: where the heap may be used, moves samples from the fixed vector
 * and the overflow table into the stack tree and to the stream, has the other
 * rooms send what they have, and looks after the timer. The last drain, in a
 * panic, only sends.
 *
 * Samples must be read in the order of time, since each covers the time since
 * the one before. They go to the overflow table only while the vector is full,
 * and each half of it records at which entry that was (overflow.h). The drain
 * reads up to that entry, releases the entries, empties the half, and goes on.
 * It does not turn interrupts off, which would not stop an NMI.
 *
 * Without memory for a new stack the remaining samples stay queued. Once half
 * of the vector is queued, samples that need memory are dropped, the oldest
 * first; those of known stacks are still counted.
 */

#include "aggregate/drain.h"

#include "base/busy.h"
#include "base/cpu.h"
#include "aggregate/accounts.h"
#include "aggregate/addresses.h"
#include "aggregate/image.h"
#include "aggregate/recent.h"
#include "aggregate/resolve.h"
#include "aggregate/stacks.h"
#include "aggregate/sums.h"
#include "causal/send.h"
#include "causal/shares.h"
#include "loop/loop.h"
#include "sample/cpu_state.h"
#include "stream/stream.h"
#include "tick/clock.h"
#include "tick/floor.h"
#include "tick/kvm.h"
#include "tick/meter.h"
#include "tick/source.h"
#include "trace/send.h"

#include <prof/config.h>
#include <prof/symbols.h>
#include <stddef.h>

/* More samples than these wait for the next drain. */
#define DRAIN_ENTRIES 1000u

/* Ticks during a drain cause another round; at most so many. */
#define ROUNDS_MAX 4

/* Prologues analysed in a drain beyond those that its samples need, and units
 * of work: as many as half of its samples may have new. */
#define PROLOGUES_MAX 128u
#define PROLOGUES_STEPS_MAX 5000u

/* A portion of a drain in the interrupt: samples, and units of work. */
#define PORTION_ENTRIES 4u
#define PORTION_WORK 250u

struct prof_accounts prof_accounts_by_cpu[PROF_CPUS_MAX];
struct prof_image prof_image;
struct prof_drain_state prof_drain_state;
static struct prof_drain_state *const drain = &prof_drain_state;

static struct reader {
    struct prof_entry *entry; /* next one of the vector */
    uint32_t frames;          /* words of the frame vector read so far */
    uint64_t ticks;           /* the producer's count, extended to 64 bits */
    struct prof_overflow_half *taken; /* that is being emptied, or NULL */
    uint32_t taken_at;                /* slots of it that are done with */
    uint64_t taken_gap; /* cycles of its time that may have been stolen */
#if PROF_CPUS_MAX > 1
    bool joined;    /* the CPU was found to have joined */
    uint64_t begun; /* the last prof_source_begun() that was seen */
#endif
} readers[PROF_CPUS_MAX];

static struct reader *reader_of(const struct prof_cpu *cpu)
{
    return &readers[prof_cpu_number(cpu)];
}

/* The frame vector stores 32-bit words, too short for 4 GiB of code or more. */
static void set_image(const struct prof_config *config)
{
    uintptr_t code = config->text.end - config->text.begin;

    prof_image = (struct prof_image){
        .text = config->text,
        .idle = config->idle,
        .text_base = config->text.begin + 1,
        .text_bytes = code < UINT32_MAX ? code : 0,
        .drained_by = config->drained_by,
    };
}

void prof_drain_open(const struct prof_config *config)
{
    set_image(config);
    prof_stacks_open();
    PROF_FOR_EACH_CPU (cpu) {
        *prof_accounts_of(cpu) = (struct prof_accounts){0};
        prof_stolen_open(cpu);
        *reader_of(cpu) = (struct reader){.entry = cpu->ring.tail};
    }
    prof_recent_open();
    prof_sums_expire();
    *drain = (struct prof_drain_state){
        .open = true, .most = DRAIN_ENTRIES, .ended_tsc = prof_tsc()};
}

/* Whether recorder, loop statistics and the like are about (cpu), too. */
static inline bool is_first(const struct prof_cpu *cpu)
{
    return PROF_CPUS_MAX == 1 || cpu == PROF_CPU_FIRST;
}

/* ---- one sample: which leaf it is, and what it is charged */

/* The leaf of a sample at (pc) without words. NULL: it stays queued. */
static inline const struct prof_recent_leaf *find_flat(uintptr_t pc)
{
    const struct prof_recent_leaf *leaf = prof_recent_find_flat(pc, 0);

    return leaf != NULL ? leaf : prof_resolve(pc, 0, NULL);
}

/* Whether (word) is a return address where the image was linked: what has
 * called the copy that the image runs in. */
static bool was_code_word(uint32_t word)
{
    return prof_is_code_word(word + (uint32_t)prof_symbols_moved_by());
}

/* The leaf of an entry with words, whose walk returned (walk). Counts the walk
 * if it ended early. */
static inline const struct prof_recent_leaf *
find_walked(struct prof_cpu *cpu, const struct prof_entry *entry, uint32_t walk)
{
    const uint32_t *kept = prof_frames_at(&cpu->frames, reader_of(cpu)->frames);
    const uint32_t *frames = kept + PROF_FRAMES_HEAD;
    uint32_t count = prof_walk_words(walk) - PROF_FRAMES_HEAD;
    uint32_t hash = prof_recent_hash(frames, count), stop;
    const struct prof_callers *callers =
        prof_recent_find_callers(frames, count, hash);
    const struct prof_recent_leaf *leaf;

    if (callers == NULL)
        callers = prof_resolve_callers(frames, count, hash);
    if (callers == NULL)
        return NULL;
    stop = prof_callers_stop(count, callers->count, prof_walk_reason(walk));
    if (PROF_WITH_BUILTIN && stop == PROF_WALK_NOT_CODE &&
        was_code_word(frames[callers->count]))
        stop = 0;
    leaf = prof_recent_find_leaf(entry->pc, callers->stack, kept);
    if (leaf == NULL)
        leaf = prof_resolve(entry->pc, callers->stack, kept);
    if (stop != 0 && leaf != NULL)
        prof_accounts_of(cpu)->stopped[stop]++;
    return leaf;
}

/* The leaf of an entry for whose walk there was no room. */
static inline const struct prof_recent_leaf *
find_unwalked(struct prof_cpu *cpu, const struct prof_entry *entry)
{
    const struct prof_recent_leaf *leaf = find_flat(entry->pc);

    if (leaf != NULL)
        prof_accounts_of(cpu)->stopped[prof_walk_reason(entry->frames)]++;
    return leaf;
}

/* Emits the ticks and the time that were lost before (tsc), after the events of
 * objects before it: times in a stream only grow. */
static void emit_lost_ticks(struct prof_cpu *cpu, uint64_t tsc)
{
    if (prof_stream_on())
        prof_trace_before(cpu, tsc);
    prof_stream_lost_ticks(cpu, tsc, prof_clock_of(cpu)->missed,
                           prof_accounts_of(cpu)->stolen_cycles);
}

static uint64_t charge(struct prof_cpu *cpu, uintptr_t pc, uint64_t tsc)
{
    uint64_t cycles = prof_timebase_step(prof_clock_of(cpu), tsc);
    uint64_t charged =
        prof_stolen_charge(cpu, pc, cycles, prof_clock_of(cpu)->gap);

    if (charged != cycles && is_first(cpu))
        prof_loop_stolen(tsc, cycles - charged);
    return charged;
}

/* Whether more than half of a vector is queued, so that it may fill up soon. */
static bool is_crowded(const struct prof_cpu *cpu)
{
    const struct prof_ring *ring = &cpu->ring;
    const struct reader *reader = reader_of(cpu);
    size_t waiting = prof_ring_bytes(ring, reader->entry, prof_ring_head(ring));
    size_t all = (size_t)((const char *)ring->end - (const char *)ring->begin);

    return waiting > all / 2 ||
           prof_frames_half_full(&cpu->frames, reader->frames);
}

static void drop_no_memory(struct prof_cpu *cpu, uint64_t tsc, uint32_t samples,
                           uint64_t cycles)
{
    prof_amount_add(&prof_accounts_of(cpu)->no_memory, samples, cycles);
    emit_lost_ticks(cpu, tsc);
    prof_stream_drop(cpu, tsc, samples, cycles);
}

static bool is_dying(void)
{
    return PROF_WITH_STREAM && drain->dying;
}

/* ---- the vector */

_Static_assert(offsetof(struct prof_entry, divisor) ==
                   offsetof(struct prof_entry, frames) + sizeof(uint16_t),
               "two halves of a word");

/* Advances from (entry) to the next one, and returns that. Clears this one, as
 * the producer relies on it (ring.h). */
static inline struct prof_entry *pass_entry(struct prof_cpu *cpu,
                                            struct prof_entry *entry)
{
    struct reader *reader = reader_of(cpu);
    uint32_t both = 0; /* frames and divisor, in one load */

    if (PROF_WITH_CALLERS || PROF_WITH_PIT) /* else they are always 0 */
        __builtin_memcpy(&both, &entry->frames, sizeof both);
    if (both != 0) {
        reader->frames += prof_walk_words(both);
        if (PROF_WITH_PIT && both > UINT16_MAX)
            prof_timebase_change(prof_clock_of(cpu), both >> 16);
        if (PROF_ENTRIES_ARE_CLEARED)
            entry->frames = entry->divisor = 0;
    }
    return reader->entry = prof_ring_next(&cpu->ring, entry);
}

/*
 * Handles an entry that was not resolved: this drain has resolved enough, or
 * there is no memory. Without memory its address is emitted in a panic, and the
 * sample is dropped if the vector may fill up soon. False: it stays queued.
 */
static bool drain_unresolved(struct prof_cpu *cpu,
                             const struct prof_entry *entry)
{
    uint64_t tsc = prof_entry_tsc(entry);

    if (prof_resolve_is_enough())
        return false;
    if (is_dying())
        prof_stream_overflow(cpu, tsc, entry->pc, 1,
                             prof_timebase_step(prof_clock_of(cpu), tsc));
    else if (is_crowded(cpu))
        drop_no_memory(cpu, tsc, 1, charge(cpu, entry->pc, tsc));
    else
        return false;
    return true;
}

#if PROF_WITH_NMI
/* What follows at (tsc), (samples) that cover (cycles), was sampled with
 * interrupts off. */
static void note_irqs_off(struct prof_cpu *cpu, uint64_t tsc, uint32_t samples,
                          uint64_t cycles)
{
    prof_amount_add(&prof_accounts_of(cpu)->irqs_off, samples, cycles);
    if (!prof_stream_on())
        return;
    prof_trace_before(cpu, tsc);
    prof_stream_irqs_off(cpu, tsc);
}

/* The cycles of a sample that is not regular, or was taken with interrupts off;
 * (marked): its time, with the mark of the latter. */
static __attribute__((noinline)) uint64_t
count_special(struct prof_cpu *cpu, uintptr_t pc, uint64_t marked)
{
    bool off = (marked & PROF_TSC_IRQS_OFF) != 0;
    uint64_t tsc = marked & ~PROF_TSC_IRQS_OFF, cycles;

    if (!off || !prof_timebase_step_regular(prof_clock_of(cpu), tsc, &cycles)) {
        cycles = charge(cpu, pc, tsc);
        emit_lost_ticks(cpu, tsc);
    }
    if (off)
        note_irqs_off(cpu, tsc, 1, cycles);
    return cycles;
}
#endif

/* A mark in the time stamp makes it one that is not regular, so that those
 * without are not asked. */
static inline void count_entry(struct prof_cpu *cpu,
                               const struct prof_entry *entry,
                               const struct prof_recent_leaf *leaf)
{
    uint64_t tsc = prof_entry_marked_tsc(entry), cycles;

    if (!prof_timebase_step_regular(prof_clock_of(cpu), tsc, &cycles)) {
#if PROF_WITH_NMI
        cycles = count_special(cpu, entry->pc, tsc);
        tsc &= ~PROF_TSC_IRQS_OFF;
#else
        cycles = charge(cpu, entry->pc, tsc);
        emit_lost_ticks(cpu, tsc);
#endif
    }
    prof_credit(cpu, leaf->stack, 1, cycles, tsc);
    if (is_first(cpu))
        prof_loop_sample(tsc, entry->pc);
    if (prof_stream_on()) {
        prof_trace_before(cpu, tsc);
        prof_stream_sample(cpu, tsc, leaf->number,
                           prof_stack_node(leaf->stack));
    }
}

static inline bool drain_entry(struct prof_cpu *cpu,
                               const struct prof_entry *entry)
{
    const struct prof_recent_leaf *leaf;
    uint32_t walk = entry->frames;

    if (!PROF_WITH_CALLERS || walk == 0)
        leaf = find_flat(entry->pc);
    else if (prof_walk_words(walk) != 0)
        leaf = find_walked(cpu, entry, walk);
    else
        leaf = find_unwalked(cpu, entry);
    if (leaf == NULL) {
        if (is_dying()) /* its address will be emitted; times only grow */
            prof_trace_before(cpu, prof_entry_tsc(entry));
        return drain_unresolved(cpu, entry);
    }
    count_entry(cpu, entry, leaf);
    return true;
}

/* The end of the entries that may be read now: head, or the entry at which the
 * overflow table came into use; and no more than one drain takes: *(more). */
static const struct prof_entry *read_until(const struct prof_cpu *cpu,
                                           bool *more)
{
    const struct prof_ring *ring = &cpu->ring;
    struct prof_entry *entry = reader_of(cpu)->entry;
    const struct prof_entry *until =
        prof_overflow_until(&cpu->overflow, ring, entry);
    uint32_t most = PROF_WITH_BUILTIN ? drain->most : DRAIN_ENTRIES;

    if (PROF_CPUS_MAX > 1) /* together as many as of one */
        most = most / prof_cpu_count() + 1;
    *more = false;
    if (prof_ring_bytes(ring, entry, until) <= most * sizeof *until)
        return until;
    *more = drain->behind = true;
    until = entry + most;
    return until < ring->end ? until : until - (ring->end - ring->begin);
}

#if PROF_CPUS_MAX > 1
/* A CPU that began by itself later than sampling did has samples from then
 * on. After samples of before, nothing is known of it: the next one covers the
 * time between. */
static void note_begin(struct prof_cpu *cpu, const struct prof_entry *first)
{
    struct reader *reader = reader_of(cpu);
    uint64_t begun = prof_source_begun(cpu);

    if (begun == reader->begun)
        return;
    reader->begun = begun;
    if (begun <= prof_clock_of(cpu)->last_tsc || prof_entry_tsc(first) < begun)
        return;
    prof_timebase_resume(prof_clock_of(cpu), begun);
    prof_stream_start(cpu, begun, prof_clock.rate_mhz, cpu->depth);
}
#endif

#if PROF_WITH_NMI
/*
 * No samples came for a while, and from a certain time on they did again: what
 * is queued up to (until) is read up to the first of those. Right before it the
 * stream begins again, unless one in the overflow table came first, which says
 * itself what it covers.
 */
static __attribute__((noinline)) const struct prof_entry *
note_interruption(struct prof_cpu *cpu, const struct prof_entry *until)
{
    struct prof_timebase *clock = prof_clock_of(cpu);
    struct prof_entry *entry = reader_of(cpu)->entry, *next = entry;
    uint64_t again = clock->resume_tsc;

    while (next != until && prof_entry_tsc(next) < again)
        next = prof_ring_next(&cpu->ring, next);
    if (next != entry || entry == until)
        return next;
    clock->interrupted = false;
    if (clock->last_tsc >= again)
        return until;
    if (prof_stream_on())
        prof_trace_before(cpu, again);
    prof_stream_start(cpu, again, prof_clock.rate_mhz, cpu->depth);
    return until;
}
#endif

/* Drains the vector. False: the rest stays queued. */
static bool drain_vector(struct prof_cpu *given)
{
    struct prof_cpu *cpu = prof_cpu_in_loop(given);
    struct reader *reader = reader_of(cpu);
    struct prof_entry *entry = reader->entry;
    bool more;
    const struct prof_entry *until = read_until(cpu, &more);

#if PROF_CPUS_MAX > 1
    if (entry != until && !is_first(cpu))
        note_begin(cpu, entry);
#else
    more = drain->behind; /* the same, in fewer instructions */
#endif
#if PROF_WITH_NMI
    if (prof_clock_of(cpu)->interrupted)
        until = note_interruption(cpu, until);
#endif
    while (entry != until && drain_entry(cpu, entry))
        entry = pass_entry(cpu, entry);
    prof_frames_release(&cpu->frames, reader->frames);
    return entry == until && !more;
}

/* ---- the overflow table */

/* Counts one slot of the half that was taken. False: it stays queued. */
static bool drain_slot(struct prof_cpu *cpu, const struct prof_slot *slot)
{
    const struct prof_recent_leaf *leaf = prof_resolve(slot->pc, 0, NULL);
    struct reader *reader = reader_of(cpu);
    uint64_t tsc = reader->taken->last_tsc, cycles = slot->cycles;
    bool memory = leaf != NULL;

    if (!memory && prof_resolve_is_enough())
        return false;
    if (!memory && !is_dying() && !is_crowded(cpu))
        return false;
    cycles = prof_stolen_charge_all(cpu, slot->pc, slot->count, cycles,
                                    &reader->taken_gap);
    if (!memory && !is_dying()) {
        drop_no_memory(cpu, tsc, slot->count, cycles);
        return true;
    }
    if (memory)
        prof_credit(cpu, leaf->stack, slot->count, cycles, tsc);
    emit_lost_ticks(cpu, tsc);
#if PROF_WITH_NMI
    if (slot->irqs_off != 0)
        note_irqs_off(cpu, tsc, slot->count, cycles);
#endif
    prof_stream_overflow(cpu, tsc, slot->pc, slot->count, cycles);
    prof_accounts_of(cpu)->overflowed += slot->count;
    return true;
}

/* Empties the half that was taken. False: the rest stays queued. */
static bool drain_taken(struct prof_cpu *cpu)
{
    struct reader *reader = reader_of(cpu);
    struct prof_overflow_half *half = reader->taken;

    if (half == NULL)
        return true;
    while (reader->taken_at < PROF_OVERFLOW_SLOTS) {
        const struct prof_slot *slot = &half->slots[reader->taken_at];

        if (slot->count != 0 && !drain_slot(cpu, slot))
            return false;
        reader->taken_at++;
    }
    reader->taken = NULL;
    prof_overflow_free(half);
    return true;
}

/* Whether the half at the entry to be read next may still be added to: on
 * another CPU, as long as head has not moved on. On this one the interrupt has
 * ended. */
static inline bool is_open(const struct prof_cpu *cpu)
{
#if PROF_CPUS_MAX > 1
    return cpu != PROF_CPU_FIRST && prof_cpu_has_joined(cpu) &&
           prof_ring_head(&cpu->ring) == reader_of(cpu)->entry;
#else
    (void)cpu;
    return false;
#endif
}

/* Releases the entries read so far, and takes the next half of the overflow
 * table, all of whose samples are newer. */
static void hand_over_vector(struct prof_cpu *given)
{
    struct prof_cpu *cpu = prof_cpu_only(given);
    struct reader *reader = reader_of(cpu);
    struct prof_timebase *clock = prof_clock_of(cpu);
    struct prof_amount *dropped = &prof_accounts_of(cpu)->dropped;
    struct prof_overflow_half *half =
        prof_overflow_take(&cpu->overflow, &cpu->ring, reader->entry);

    if (half == NULL || is_open(cpu))
        return;
    reader->taken = half;
    reader->taken_at = 0;
    prof_timebase_skip(clock, half->last_tsc,
                       prof_overflow_samples(half, 0) + half->dropped);
    reader->taken_gap = clock->gap;
    prof_amount_add(dropped, half->dropped,
                    prof_stolen_charge_all(cpu, 0, half->dropped,
                                           half->dropped_cycles,
                                           &reader->taken_gap));
    emit_lost_ticks(cpu, half->last_tsc);
    prof_stream_dropped(cpu, half->last_tsc, dropped->samples, dropped->cycles);
}

/* ---- all that is queued */

static bool is_more(const struct prof_cpu *given)
{
    const struct prof_cpu *cpu = prof_cpu_only(given);
    const struct reader *reader = reader_of(cpu);

    return reader->taken != NULL || reader->entry != prof_ring_head(&cpu->ring);
}

/* Drains as much as one drain may: (most), then it sets (behind), and what
 * resolve.h allows. */
static __attribute__((noinline)) void drain_queued(struct prof_cpu *cpu)
{
    bool all = true;

    for (int round = 0; all && round < ROUNDS_MAX; round++) {
        all = drain_taken(cpu) && drain_vector(cpu);
        if (reader_of(cpu)->taken == NULL)
            hand_over_vector(cpu);
        if (!is_more(cpu))
            break;
    }
}

static uint32_t count_taken(const struct prof_cpu *cpu)
{
    const struct reader *reader = reader_of(cpu);

    return reader->taken == NULL
               ? 0
               : prof_overflow_samples(reader->taken, reader->taken_at);
}

static uint32_t discard_taken(struct prof_cpu *cpu)
{
    struct reader *reader = reader_of(cpu);
    uint32_t samples = count_taken(cpu);

    if (reader->taken != NULL)
        prof_overflow_free(reader->taken);
    reader->taken = NULL;
    return samples;
}

static uint32_t discard_vector(struct prof_cpu *cpu)
{
    struct reader *reader = reader_of(cpu);
    struct prof_entry *until =
        prof_overflow_until(&cpu->overflow, &cpu->ring, reader->entry);
    struct prof_entry *entry;
    uint32_t samples =
        (uint32_t)prof_ring_distance(&cpu->ring, reader->entry, until);

    if (samples != 0)
        prof_timebase_skip(prof_clock_of(cpu),
                           prof_entry_tsc(prof_ring_before(&cpu->ring, until)),
                           samples);
    for (entry = reader->entry; entry != until;)
        entry = pass_entry(cpu, entry);
    prof_frames_release(&cpu->frames, reader->frames);
    return samples;
}

static uint64_t discard(struct prof_cpu *cpu)
{
    uint64_t samples = 0;

    do {
        samples += discard_taken(cpu);
        samples += discard_vector(cpu);
        hand_over_vector(cpu);
    } while (is_more(cpu));
    return samples;
}

uint64_t prof_drain_discard(void)
{
    uint64_t samples = 0;

    PROF_FOR_EACH_CPU (cpu)
        samples += discard(cpu);
    return samples;
}

static inline uint32_t ticks_low(const struct prof_cpu *cpu)
{
    return __atomic_load_n(&cpu->ticks, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) uint64_t ticks_of(const struct prof_cpu *cpu)
{
    uint64_t *ticks = &reader_of(cpu)->ticks;

    return *ticks += ticks_low(cpu) - (uint32_t)*ticks;
}

uint64_t prof_ticks(void)
{
    uint64_t ticks = 0;

    PROF_FOR_EACH_CPU (cpu)
        ticks += ticks_of(cpu);
    return ticks;
}

static uint64_t queued_of(const struct prof_cpu *cpu)
{
    const struct reader *reader;

    cpu = prof_cpu_only(cpu);
    reader = reader_of(cpu);
    return prof_ring_distance(&cpu->ring, reader->entry,
                              prof_ring_head(&cpu->ring)) +
           prof_overflow_waiting(&cpu->overflow, reader->taken) +
           count_taken(cpu);
}

/* All is read again if a tick came in between; turning interrupts off would not
 * stop an NMI. */
uint64_t prof_count_samples(const struct prof_cpu *cpu,
                            struct prof_sample_counts *counts)
{
    const struct prof_accounts *accounts;
    uint64_t queued;

    cpu = prof_cpu_only(cpu);
    accounts = prof_accounts_of(cpu);
    do {
        counts->ticks = ticks_of(cpu);
        counts->dropped =
            accounts->dropped.samples + accounts->no_memory.samples +
            prof_overflow_dropped(&cpu->overflow, reader_of(cpu)->taken);
        counts->interrupt_cycles = prof_sampler_cycles(cpu);
        queued = queued_of(cpu);
    } while (ticks_low(cpu) != (uint32_t)counts->ticks);
    return queued;
}

/* ---- drains */

/* Whether the samples stay queued, since it is still being measured how often
 * ticks come, on the first CPU; (now): no more will come soon. */
static bool is_measuring(bool now)
{
    const struct prof_cpu *cpu = PROF_CPU_FIRST;
    struct prof_entry *entry = reader_of(cpu)->entry;

    return PROF_WITH_BUILTIN &&
           (prof_meter_waits(cpu, entry, now) ||
            (PROF_WITH_PIT && prof_floor_waits(cpu, entry, now)));
}

#if PROF_CPUS_MAX > 1
static void flush_other(const struct prof_cpu *cpu)
{
    uint32_t mark = prof_trace_mark(cpu);
    const struct prof_entry *entry = reader_of(cpu)->entry;

    prof_trace_flush_other(cpu, mark,
                           entry != prof_ring_head(&cpu->ring)
                               ? prof_entry_tsc(entry)
                               : UINT64_MAX);
}
#endif

/* Sends events of objects: all, or only those before the samples that are left
 * for the next drain. */
static void flush_events(void)
{
    const struct prof_cpu *cpu = PROF_CPU_FIRST;
    const struct prof_entry *entry = reader_of(cpu)->entry;

#if PROF_CPUS_MAX > 1
    PROF_FOR_EACH_CPU (other)
        if (other != cpu && prof_drain_reads(other))
            flush_other(other);
#endif
    if (drain->behind && entry != prof_ring_head(&cpu->ring))
        prof_trace_before(cpu, prof_entry_tsc(entry));
    else
        prof_trace_flush();
}

/* At the time of the last sample that was read: those that have come since then
 * are sent by the next drain, and times in a stream only grow. */
static void send_totals(const struct prof_cpu *cpu)
{
    uint64_t tsc = prof_clock_of(cpu)->last_tsc;

    prof_stream_stopped_walks(cpu, tsc, prof_accounts_of(cpu)->stopped);
#if PROF_WITH_NMI
    if (prof_clock.by_nmi)
        prof_stream_nmis(cpu, tsc, cpu->nmi.duplicates, prof_clock_merged(cpu));
#endif
}

#if PROF_CPUS_MAX > 1
bool prof_drain_reads(const struct prof_cpu *cpu)
{
    return cpu == PROF_CPU_FIRST || reader_of(cpu)->joined;
}

/* A CPU that was found to have joined is taken over, and one that has left let
 * go once all that it has sampled was read. It may have done both since the
 * last drain. That it has left is read before what there is. */
static void look_at(struct prof_cpu *cpu)
{
    struct prof_cpu_link *link = prof_cpu_link(cpu);
    struct reader *reader = reader_of(cpu);
    uint32_t state = __atomic_load_n(&link->state, __ATOMIC_ACQUIRE); /* D' */
    bool more =
        state == PROF_CPU_LEFT &&
        (is_more(cpu) || prof_overflow_waiting(&cpu->overflow, NULL) != 0 ||
         prof_source_is_leaving(cpu));

    if (!reader->joined && (state == PROF_CPU_JOINED || more)) {
        reader->joined = true;
        prof_clock_join(cpu, link->joined_tsc);
        prof_source_taken(cpu);
        cpu->enabled = PROF_CPU_FIRST->enabled;
        prof_stream_join(cpu, link->joined_tsc);
        if (cpu->enabled)
            prof_stream_start(cpu, link->joined_tsc, prof_clock.rate_mhz,
                              cpu->depth);
    } else if (state == PROF_CPU_LEFT && !more) {
        prof_source_let_go(cpu); /* which may know it, if this does not */
        prof_clock_let_go(cpu);
        if (reader->joined)
            send_totals(cpu);
        cpu->enabled = 0;
        reader->joined = false;
        __atomic_store_n(&link->state, PROF_CPU_FREE, __ATOMIC_RELEASE);
    } else if (reader->joined && state == PROF_CPU_JOINED) {
        prof_stream_compared(cpu, prof_clock_of(cpu)->last_tsc);
    }
}

/* Each CPU's samples are in the order of time; those of several are not merged,
 * as nothing here compares them, and packets are a CPU's own. Who is behind
 * must not keep others waiting: the next drain begins with the next CPU. */
static void drain_all(void)
{
    static uint32_t turn;
    uint32_t count = prof_cpu_count();

    for (uint32_t i = 0; i < count; i++) {
        struct prof_cpu *cpu = &prof_cpus[(turn + i) % count];

        if (cpu != PROF_CPU_FIRST)
            look_at(cpu);
        if (prof_drain_reads(cpu))
            drain_queued(cpu);
    }
    turn++;
}
#else
static inline __attribute__((always_inline)) void drain_all(void)
{
    drain_queued(PROF_CPU_FIRST);
}
#endif

static bool is_any_more(void)
{
    PROF_FOR_EACH_CPU (cpu)
        if (is_more(cpu))
            return true;
    return false;
}

/* Reads what is queued, in one drain that takes up to (work). */
static inline __attribute__((always_inline)) void read_queued(uint32_t work)
{
    if (PROF_WITH_KVM && !drain->behind && prof_kvm_steals())
        prof_stolen_measure(PROF_CPU_FIRST);
    if (is_any_more())
        prof_recent_reserve();
    prof_resolve_begin(work);
    drain->behind = false;
    drain_all();
    drain->behind = drain->behind || prof_resolve_is_enough();
}

static inline __attribute__((always_inline)) void end_drain(uint64_t begin)
{
    uint64_t now = prof_tsc();

    (void)prof_ticks();
    drain->draining = false;
    if (PROF_WITH_BUILTIN) {
        if (begin - drain->ended_tsc > drain->longest && prof_running())
            drain->longest = begin - drain->ended_tsc;
        drain->ended_tsc = now;
    }
    prof_accounts_of(PROF_CPU_FIRST)->drain_cycles += now - begin;
}

static void send_all_totals(void)
{
    PROF_FOR_EACH_CPU (cpu)
        if (prof_drain_reads(cpu))
            send_totals(cpu);
}

static void flush_stream(void)
{
    PROF_FOR_EACH_CPU (cpu)
        prof_stream_flush(cpu, prof_cpu_tsc_at(cpu, prof_tsc()));
}

static void drain_once(void)
{
    const struct prof_cpu *cpu = PROF_CPU_FIRST;
    const struct prof_accounts *accounts = prof_accounts_of(cpu);
    uint64_t begin = prof_tsc();
    struct prof_loop_frame frame;

    prof_enter();
    prof_loop_profiler(&frame);
    drain->draining = true;
#if PROF_CPUS_MAX > 1
    prof_cpu_answer();
#endif
    prof_shares_drains();
    read_queued(PROF_RESOLVE_WORK);
    flush_events();
    if (!drain->behind) {
        send_all_totals();
        prof_loop_drained(prof_tsc(), accounts->stolen_cycles,
                          prof_clock_of(cpu)->step,
                          prof_clock_of(cpu)->last_tsc);
        prof_causal_drained(prof_tsc(), accounts->stolen_cycles);
    }
    flush_stream();
    if (PROF_WITH_PIT)
        prof_watchdog();
    if (PROF_WITH_CALLERS &&
        prof_resolve_work() < PROLOGUES_STEPS_MAX) /* nothing waits for it */
        prof_addresses_catch_up(PROLOGUES_MAX, PROLOGUES_STEPS_MAX);
    prof_shares_drained();
    end_drain(begin);
    prof_loop_leave(&frame);
    prof_leave();
}

/* Drains, unless that is being done or cannot be. (now): see is_measuring(). */
static __attribute__((noinline)) void drain_if_open(bool now)
{
    prof_enter();
    if (drain->open && !drain->draining && !is_measuring(now)) {
        if (PROF_WITH_BUILTIN)
            prof_meter_say();
        drain_once();
    }
    prof_leave();
}

void prof_drain_once(void)
{
    drain_if_open(false);
}

#if PROF_WITH_BUILTIN
bool prof_drain_in_tick(uint64_t cycles)
{
    uint64_t begin = prof_tsc();
    uint32_t work = cycles != 0 ? PORTION_WORK : PROF_RESOLVE_WORK;

    if (!drain->open || drain->draining || is_measuring(false))
        return false;
    prof_enter();
    drain->draining = true;
    if (cycles != 0)
        drain->most = PORTION_ENTRIES;
    do {
        read_queued(work);
    } while (drain->behind && prof_tsc() - begin < cycles);
    drain->most = DRAIN_ENTRIES;
    if (!drain->behind) {
        send_all_totals();
        if (PROF_WITH_CALLERS)
            prof_addresses_catch_up(PORTION_ENTRIES, work);
    }
    flush_stream();
    end_drain(begin);
    prof_leave();
    return drain->behind;
}
#endif

void prof_drain_whole(void)
{
    uint64_t most = 0; /* each drain takes one at least */

    if (drain->draining)
        return;
    PROF_FOR_EACH_CPU (cpu)
        most += queued_of(cpu);
    prof_enter();
    do {
        drain_if_open(true);
    } while (drain->behind && most-- > 0);
    prof_leave();
}

void prof_drain_clear(void)
{
    (void)prof_sums(); /* counts what is pending */
    prof_stacks_clear();
    prof_sums_expire();
    if (PROF_WITH_BUILTIN)
        drain->longest = 0;
}

#if PROF_WITH_STREAM
/* Emits the addresses in the vector: the panic has interrupted a drain, and no
 * other state can be trusted. */
static void emit_vector(struct prof_cpu *cpu)
{
    const struct prof_entry *head = prof_ring_head(&cpu->ring);
    struct reader *reader = reader_of(cpu);

    while (reader->entry != head) {
        (void)drain_unresolved(cpu, reader->entry);
        reader->entry = prof_ring_next(&cpu->ring, reader->entry);
    }
}

static void discard_last(struct prof_cpu *cpu)
{
    const struct prof_accounts *accounts = prof_accounts_of(cpu);

    prof_stream_discard(
        cpu, queued_of(cpu) + accounts->dropped.samples -
                 prof_encoder_of(cpu)->emitted.dropped +
                 prof_overflow_dropped(&cpu->overflow, reader_of(cpu)->taken));
}

void prof_drain_last(void)
{
    bool interrupted = drain->draining;

    if (!drain->open)
        return;
    drain->draining = drain->dying = true;
    prof_resolve_begin(PROF_RESOLVE_ALL);
    prof_table_freeze(true);
    PROF_FOR_EACH_CPU (cpu) {
        if (!prof_drain_reads(cpu))
            continue;
        if (interrupted)
            emit_vector(cpu);
        else
            drain_queued(cpu);
        discard_last(cpu);
    }
}
#endif
