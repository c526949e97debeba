/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Shares of handlers by samples; see shares.h.
 *
 * Samples are looked at when a segment ends, in the program's time. What one
 * takes there delays the next rounds of the program, and so moves the places of
 * the next samples. If it depended much on where the sample was, a program of a
 * steady rhythm would come into step with the timer while the period holds, and
 * its shares would be wrong. So where a function's frame is set up, which takes
 * some ten thousand instructions to find out, is remembered with what the drain
 * knows of the function; before its first drain it is found out each time.
 */

#include "causal/shares.h"

#include "base/cpu.h"
#include "base/own_code.h"
#include "causal/causal.h"
#include "causal/own.h"
#include "causal/patch.h"
#include "causal/ranges.h"
#include "sample/cpu_state.h"
#include "unwind/prologue.h"

#include <prof/origin.h>
#include <prof/symbols.h>

#define PROBES 8u
#define HASH_FACTOR 0x9e3779b1u
#define HASH_SHIFT 26u /* to 0 to PROF_SHARES_KINDS - 1 */
#define REST 0u        /* the kind of the rest, and of those without room */
#define DOORBELLS 2u   /* in a handler, that end segments */
#define AVERAGE 16u    /* samples that the average counts for in each kind */

_Static_assert(PROF_SHARES_KINDS == 1u << (32 - HASH_SHIFT), "the hash fits");

struct kind {
    const void *is; /* NULL: free */
    uint32_t samples;
    uint32_t known_at; /* samples of all kinds when (share) was computed */
    uint32_t known_of; /* the target that it is of, from 1 on; 0: none yet */
    uint32_t share;
};

static struct {
    uint32_t targets;
    uint32_t kind;       /* the present segment's: its number, */
    const void *handler; /*  its handler */
    uint32_t doorbells;  /*  and the doorbells before it, DOORBELLS at most */
    bool paused;
    bool draining;
    uint32_t samples;
    uint32_t words;           /* of the vector of frames: those of */
    struct prof_entry *entry; /*  the next sample to be looked at */
    struct kind *kinds;
    uint32_t *hits; /* by kind, target */
} shares;

uint32_t prof_shares_on;

size_t prof_shares_bytes(uint32_t targets)
{
    return PROF_SHARES_KINDS *
           (sizeof(struct kind) + (size_t)targets * sizeof(uint32_t));
}

static void skip_samples(void)
{
    shares.entry = prof_ring_head(&prof_cpu_here()->ring);
    shares.words = prof_cpu_here()->frames.head;
}

void prof_shares_init(void *memory, uint32_t targets)
{
    shares = (__typeof__(shares)){
        .targets = targets,
        .kind = REST,
        .kinds = memory,
    };
    shares.hits = (uint32_t *)(shares.kinds + PROF_SHARES_KINDS);
    prof_clear_words(memory, prof_shares_bytes(targets) / sizeof(void *));
    skip_samples();
    prof_shares_on = 1;
}

uint32_t prof_shares_samples(void)
{
    return shares.samples;
}

uint32_t prof_shares_hits(const struct prof_target *target)
{
    uint32_t hits = 0;

    for (uint32_t i = 0; i < PROF_SHARES_KINDS; i++)
        hits += shares.hits[i * shares.targets + target->number - 1];
    return hits;
}

/* ---- which targets a sample is in */

static bool is_in(const struct prof_target *target, uintptr_t address)
{
    return address - target->begin < target->end - target->begin &&
           (target->ranges == NULL || prof_ranges_have(target, address));
}

/* A call may be the last instruction of its function. */
static bool returns_to(const struct prof_target *target, uintptr_t address)
{
    return is_in(target, prof_origin(address) - 1);
}

/* Whether the caller of a function that has not set up its frame yet is in
 * (target): the frame pointer leads past it, but the words contain it. */
static bool caller_is_in(const struct prof_target *target, uintptr_t pc,
                         const uint32_t *words)
{
    struct prof_range function;
    struct prof_symbol symbol;
    uint32_t word;

    if (!prof_symbol_find(pc, &symbol))
        return false;
    function = (struct prof_range){symbol.start, symbol.start + symbol.size};
    word = prof_prologue_known(pc, &function);
    return word < PROF_FRAMES_KEPT &&
           returns_to(target, prof_frames_kept(words, word));
}

static bool any_kept(const struct prof_target *target, const uint32_t *words)
{
    for (uint32_t i = 0; i < PROF_FRAMES_KEPT; i++)
        if (returns_to(target, prof_frames_kept(words, i)))
            return true;
    return false;
}

/* Whether a sample is in (target), or in a function that it has called. */
static bool is_hit(const struct prof_target *target, uintptr_t pc,
                   const uint32_t *words, uint32_t count)
{
    const uintptr_t base = prof_patch_code()->begin;

    if (is_in(target, pc))
        return true;
    if (!PROF_WITH_CALLERS)
        return false;
    for (uint32_t i = PROF_FRAMES_HEAD; i < count; i++)
        if (returns_to(target, base + (uint32_t)(words[i] - (uint32_t)base)))
            return true;
    return count >= PROF_FRAMES_HEAD && any_kept(target, words) &&
           caller_is_in(target, pc, words);
}

static void take_sample(const struct prof_entry *entry)
{
    uint32_t count = prof_walk_words(entry->frames);
    const uint32_t *words =
        prof_frames_at(&prof_cpu_here()->frames, shares.words);
    uint32_t *of_kind = shares.hits + shares.kind * shares.targets;
    uintptr_t pc = prof_origin(entry->pc);

    shares.words += count;
    /* while the profiler runs itself virtual time stands still (own.h) */
    if (shares.paused || prof_code_is_own(pc))
        return;
    shares.samples++;
    shares.kinds[shares.kind].samples++;
    for (struct prof_target *each = prof_causal.targets; each != NULL;
         each = each->next) {
        if (each->end == 0 || !is_hit(each, pc, words, count))
            continue;
        of_kind[each->number - 1]++;
        if (each->by_samples)
            each->visits++;
    }
}

/* Counts the new samples for the present kind. With interrupts off, as the two
 * vectors must be read together. */
static void look_at_samples(void)
{
    const struct prof_ring *ring = &prof_cpu_here()->ring;
    const struct prof_entry *head = prof_ring_head(ring);

    if (shares.draining)
        return;
    while (shares.entry != head) {
        take_sample(shares.entry);
        shares.entry = prof_ring_next(ring, shares.entry);
    }
}

void prof_shares_drains(void)
{
    bool on;

    if (!prof_shares_on)
        return;
    on = prof_interrupts_save();
    look_at_samples();
    shares.draining = true;
    prof_interrupts_restore(on);
}

/* Samples taken during the drain are in no target, and the drain has removed
 * others. */
void prof_shares_drained(void)
{
    bool on;

    if (!prof_shares_on)
        return;
    on = prof_interrupts_save();
    shares.draining = false;
    skip_samples();
    prof_interrupts_restore(on);
}

/* ---- segments */

static uint32_t number_of(const void *handler, uint32_t doorbells)
{
    const char *kind = (const char *)handler + doorbells;
    uint32_t at = ((uint32_t)(uintptr_t)kind * HASH_FACTOR) >> HASH_SHIFT;

    if (handler == NULL)
        return REST;
    for (uint32_t i = 0; i < PROBES; i++) {
        at = (at + 1) % PROF_SHARES_KINDS;
        if (at == REST)
            continue;
        if (shares.kinds[at].is == NULL)
            shares.kinds[at].is = kind;
        if (shares.kinds[at].is == kind)
            return at;
    }
    return REST;
}

/* The share of (kind): its hits of its samples, and AVERAGE samples more with
 * the average share. */
static uint32_t share_of(const struct prof_target *target,
                         const struct kind *kind)
{
    uint32_t number =
        (uint32_t)(kind - shares.kinds) * shares.targets + target->number - 1;
    uint64_t average;

    if (shares.samples == 0)
        return 0;
    average = prof_divide(target->visits * PROF_ONE, shares.samples);
    return (uint32_t)prof_divide((uint64_t)shares.hits[number] * PROF_ONE +
                                     AVERAGE * average,
                                 kind->samples + AVERAGE);
}

uint32_t prof_shares_of(const struct prof_target *target)
{
    struct kind *kind = &shares.kinds[shares.kind];

    if (kind->known_at != shares.samples || kind->known_of != target->number) {
        kind->share = share_of(target, kind);
        kind->known_at = shares.samples;
        kind->known_of = target->number;
    }
    return kind->share;
}

/* Some five times in a request. */
static void begin_segment(const void *handler, uint32_t doorbells)
{
    struct prof_own_guard guard = prof_own_open();
    uint64_t now;

    look_at_samples();
    shares.handler = handler;
    shares.doorbells = doorbells;
    shares.kind = number_of(handler, doorbells);
    if (prof_causal.by_shares != NULL && !shares.paused) {
        now = prof_causal_exactly();
        prof_virtual_share(&prof_causal.clock, now,
                           prof_shares_of(prof_causal.by_shares));
    }
    prof_own_close(&guard);
}

void prof_shares_switch(const void *kind)
{
    begin_segment(kind, 0);
}

void prof_shares_doorbell(void)
{
    if (prof_shares_on && shares.doorbells < DOORBELLS)
        begin_segment(shares.handler, shares.doorbells + 1);
}

void prof_shares_pause(void)
{
    bool on = prof_interrupts_save();

    if (!shares.paused) {
        look_at_samples();
        shares.paused = true;
        if (prof_causal.by_shares != NULL)
            prof_virtual_left(&prof_causal.clock, prof_causal_exactly());
    }
    prof_interrupts_restore(on);
}

void prof_shares_go_on(void)
{
    bool on = prof_interrupts_save();

    look_at_samples();
    shares.paused = false;
    prof_interrupts_restore(on);
}
