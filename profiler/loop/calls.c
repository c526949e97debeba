/* SPDX-License-Identifier: Apache-2.0 */

/* Collisions are resolved by linear probing; a removal moves back what follows,
 * so that no record is further from its place than need be. */

#include "loop/calls.h"

#include "loop/loop.h"

#include <prof/error.h>

struct record {
    uint32_t object;
    uint16_t site;
    uint8_t used;
    uint8_t ended : 1;  /* a task, which still runs */
    uint8_t future : 1; /* not a task */
    uint64_t cycles;    /* own so far; of a future: when it was made */
};

uint32_t prof_loop_calls_on;

static struct calls {
    struct record *records;
    uint32_t mask; /* of places, of which a quarter at least is free */
    uint32_t count, count_max;
    uint64_t refused;
} tables[PROF_LOOP_STATES];

static inline struct calls *here(void)
{
    return &tables[prof_loop_slot()];
}

#if PROF_CPUS_MAX > 1
static inline const struct calls *first(void)
{
    return &tables[1];
}
#endif

/* ---- the table */

static uint32_t places_for(uint32_t count)
{
    uint32_t places = 4;

    while (places - places / 4 < count)
        places *= 2;
    return places;
}

/* Numbers are given in order: their neighbours are neighbours here. */
static inline uint32_t place_of(uint32_t object, uint32_t site)
{
    return (object + site * 61u) & here()->mask;
}

/* That of (object) of (site), or the free place for it. Tasks and futures have
 * numbers of different kinds, and may share the last site. */
static inline struct record *find_record(const struct prof_loop_site *site,
                                         uint32_t object, bool future)
{
    uint32_t number = site->row.number, at = place_of(object, number);
    struct record *record = &here()->records[at];

    while (record->used &&
           (record->object != object || record->site != number ||
            record->future != future)) {
        at = (at + 1) & here()->mask;
        record = &here()->records[at];
    }
    return record;
}

static void remove_record(struct record *record)
{
    uint32_t hole = (uint32_t)(record - here()->records), at = hole;

    here()->count--;
    for (;;) {
        const struct record *next;

        at = (at + 1) & here()->mask;
        next = &here()->records[at];
        if (!next->used)
            break;
        /* it may move to the hole unless its place is after that */
        if (((at - place_of(next->object, next->site)) & here()->mask) >=
            ((at - hole) & here()->mask)) {
            here()->records[hole] = *next;
            hole = at;
        }
    }
    here()->records[hole].used = 0;
}

bool prof_calls_begin(const struct prof_loop_site *site, uint32_t object,
                      uint64_t created)
{
    const bool future = created != 0;
    struct record *record = find_record(site, object, future);

    if (object == 0 || record->used || here()->count == here()->count_max) {
        here()->refused += future; /* a task when it ends */
        return false;
    }
    *record = (struct record){.object = object,
                              .site = (uint16_t)site->row.number,
                              .used = 1,
                              .future = future,
                              .cycles = created};
    here()->count++;
    return true;
}

/* ---- tasks */

void prof_calls_raise(struct prof_loop_row *row, uint64_t cycles, uint64_t tsc,
                      uint32_t object)
{
    if (cycles <= row->call_longest_cycles)
        return;
    row->call_longest_cycles = cycles;
    row->call_longest_tsc = tsc;
    row->call_longest_object = object;
}

/* Whether a frame of the task is on the stack. */
static bool runs(const struct prof_loop_site *site, uint32_t object)
{
    const struct prof_loop_frame *at = prof_loop_cpu_here()->top;
    uint32_t depth = 0;

    while (at != NULL && depth++ < PROF_LOOP_DEPTH_MAX &&
           (at->object != object || at->node->site != site))
        at = at->outer;
    return at != NULL && depth <= PROF_LOOP_DEPTH_MAX;
}

static void conclude(struct prof_loop_site *site, struct record *record)
{
    uint64_t cycles = record->cycles, tsc = prof_loop_tsc();
    uint32_t object = record->object;

    remove_record(record);
    site->row.sums[PROF_LOOP_SELF].cycles += cycles;
    prof_histograms_add(&site->histograms, PROF_LOOP_SELF, cycles);
    if (!prof_long_runs_end_call(site, object, cycles, tsc))
        prof_calls_raise(&site->row, cycles, tsc, object);
}

void prof_calls_add(struct prof_loop_site *site, uint32_t object, uint64_t own)
{
    struct record *record = find_record(site, object, false);

    if (!record->used)
        return;
    record->cycles += own;
    if (__builtin_expect(record->ended, 0) && !runs(site, object))
        conclude(site, record);
}

void prof_calls_shorten(const struct prof_loop_site *site, uint32_t object,
                        uint64_t cycles)
{
    struct record *record = find_record(site, object, false);

    if (record->used && record->cycles >= cycles)
        record->cycles -= cycles;
}

void prof_calls_end(struct prof_loop_site *site, uint32_t object)
{
    struct record *record = find_record(site, object, false);

    if (!record->used)
        here()->refused++;
    else if (runs(site, object))
        record->ended = 1;
    else
        conclude(site, record);
}

/* ---- futures */

void prof_loop_put_future(struct prof_trace_name *name, uint32_t object)
{
    struct prof_loop_site *site = prof_loop_site_of(name, PROF_LOOP_FUTURES);

    if (!prof_calls_begin(site, object, prof_loop_tsc()))
        return;
    site->row.calls++;
    site->row.pending++;
}

void prof_loop_put_future_end(struct prof_trace_name *name, uint32_t object,
                              enum prof_loop_end how)
{
    struct prof_loop_site *site = &prof_loop_sites_here()->sites[name->loop];
    struct record *record = find_record(site, object, true);
    uint64_t tsc = prof_loop_tsc(), wall;

    if (!record->used)
        return;
    wall = tsc - record->cycles;
    remove_record(record);
    (&site->row.resolved)[how]++; /* in the order of the enum */
    site->row.pending--;
    site->row.sums[PROF_LOOP_WALL].cycles += wall;
    prof_histograms_add(&site->histograms, PROF_LOOP_WALL, wall);
    if (site->row.kind == PROF_LOOP_FUTURES)
        prof_calls_raise(&site->row, wall, tsc, object);
}

void prof_calls_find_oldest(void)
{
    if (prof_loop_calls_on == 0)
        return;
    for (uint32_t i = 0; i < prof_loop_sites_here()->site_count; i++)
        prof_loop_sites_here()->sites[i].oldest_future = 0;
    for (uint32_t i = 0; i <= here()->mask; i++) {
        const struct record *record = &here()->records[i];
        struct prof_loop_site *site =
            &prof_loop_sites_here()->sites[record->site];

        if (record->used && record->future &&
            (site->oldest_future == 0 || record->cycles < site->oldest_future))
            site->oldest_future = record->cycles;
    }
}

/* ---- begin and reset */

size_t prof_loop_calls_bytes(uint32_t count)
{
    return places_for(count) * sizeof(struct record);
}

static void open_here(void *memory, uint32_t count)
{
    here()->records = memory;
    here()->mask = places_for(count) - 1;
    here()->count = 0;
    here()->count_max = count;
    prof_clear_words(memory, prof_loop_calls_bytes(count) / sizeof(void *));
}

int prof_loop_count_calls(void *memory, uint32_t count)
{
    if (memory == NULL || (uintptr_t)memory % 8 != 0 || count == 0 ||
        count > PROF_LOOP_CALLS_MAX)
        return PROF_EMEMORY;
    if (prof_loop_on == 0 || prof_loop_calls_on != 0)
        return PROF_ESTATE;
#if PROF_CPUS_MAX > 1
    if (!prof_loop_is_first() ||
        prof_loop_others_begun()) /* their memory is too small */
        return PROF_ESTATE;
#endif
    open_here(memory, count);
    prof_loop_calls_on = 1;
    prof_loop_time_pairs();
    prof_loop_reset();
    return PROF_OK;
}

#if PROF_CPUS_MAX > 1

size_t prof_calls_bytes(void)
{
    return prof_loop_calls_on != 0 ? prof_loop_calls_bytes(first()->count_max)
                                   : 0;
}

void prof_calls_open_here(void *memory)
{
    if (prof_loop_calls_on != 0)
        open_here(memory, first()->count_max);
}

#endif

uint64_t prof_calls_refused(void)
{
    return here()->refused;
}

void prof_calls_reset(void)
{
    here()->refused = 0;
}
