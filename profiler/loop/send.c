/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A row is sent if its numbers have changed; the text of its site before the
 * first, and again from time to time, since packets may be lost. With the text
 * come its histograms: each round has those of some sites, the last one all.
 */

#include "loop/loop.h"
#include "sample/cpus.h"

#include "stream/put.h"
#include "stream/stream.h"

#define TEXT_MAX 190u
#define NAME_MAX 120u
#define ROUNDS 16u /* between two texts of a site */
#define FREEZE_ADDRESSES 8u

/* Where the quantiles begin: three of runs, three of delays, three of walls. */
#define QUANTILES offsetof(struct prof_event_loop_row, run_p50)
_Static_assert(QUANTILES + 9 * sizeof(uint64_t) ==
                   sizeof(struct prof_event_loop_row),
               "they are the end of it");

/* If the last sample was so many periods ago, much may have been stolen that
 * the next one will show: a round waits for it, but not for ever. */
#define LATE 8u
#define SECONDS_MAX 8u

/* How long other CPUs have to answer at the end: such a part of a second. */
#define LAST_PART 10u

/* Of each CPU; by its own counter. */
static uint64_t sent_tsc[PROF_CPUS_MAX];
#if PROF_CPUS_MAX > 1
static uint64_t asked_tsc[PROF_CPUS_MAX];
#endif
static uint32_t rounds[PROF_CPUS_MAX]; /* from 1 on; 0 = begin again */

void prof_loop_send_again(void)
{
    for (uint32_t i = 0; i < PROF_CPUS_MAX; i++) {
        rounds[i] = 0;
        sent_tsc[i] = 0;
    }
}

/* Into packets of the CPU whose counts are read. */
static void put_event(enum prof_event kind, uint64_t tsc, const void *fields,
                      uint32_t bytes)
{
#if PROF_CPUS_MAX > 1
    (void)prof_stream_put_by(&prof_cpus[prof_loop_viewed()], kind, tsc, fields,
                             bytes);
#else
    (void)prof_stream_put(kind, tsc, fields, bytes);
#endif
}

/* The stream's note of a site that is read. */
static uint32_t *note_at(uint32_t number)
{
#if PROF_CPUS_MAX > 1
    const struct prof_loop_snapshot *copy = prof_loop_cpu_here()->viewed;

    if (copy != NULL)
        return &copy->notes[number];
#endif
    return &prof_loop_sites_here()->sites[number].note;
}

/* Fields that are the same in both, from (first) on. */
#define copy_fields(event, first, from, bytes)                                 \
    __builtin_memcpy((uint8_t *)(event) +                                      \
                         offsetof(__typeof__(*(event)), first),                \
                     from, bytes)

/* Returns the end of what was written to (to). */
static uint8_t *add_address(uint8_t *to, uint64_t address)
{
    __builtin_memcpy(to, &address, sizeof address);
    return to + sizeof address;
}

static uint32_t append_text(char *to, uint32_t at, uint32_t end,
                            const char *text)
{
    for (; *text != '\0' && at < end; text++)
        to[at++] = *text >= ' ' ? *text : '?';
    return at;
}

struct definition {
    struct prof_event_loop_site site;
    char text[TEXT_MAX + 2];
} __attribute__((packed));

static void send_site(uint64_t tsc, const struct prof_loop_row *row)
{
    struct definition made = {
        .site = {(uint16_t)row->number, (uint8_t)row->kind, row->site->line}};
    uint32_t length = append_text(made.text, 0, NAME_MAX, row->site->text);

    if (row->site->file != NULL) {
        made.text[length++] = '@';
        length = append_text(made.text, length, TEXT_MAX, row->site->file);
    }
    made.text[length++] = '\0';
    put_event(PROF_EVENT_LOOP_SITE, tsc, &made,
              (uint32_t)sizeof made.site + length);
}

/* Where the fields of an event before these come from, in its order. */
#define FROM(member)                                                           \
    {                                                                          \
        offsetof(struct prof_loop_row, member),                                \
            sizeof((struct prof_loop_row *)0)->member                          \
    }
static const struct {
    uint8_t at, bytes;
} sources[] = {
    {offsetof(struct prof_loop_row, number), sizeof(uint16_t)},
    FROM(calls),
    FROM(resolved),
    FROM(failed),
    FROM(cancelled),
    FROM(pending),
    FROM(oldest_cycles),
    FROM(self_cycles),
    FROM(total_cycles),
    FROM(longest_cycles),
    FROM(longest_tsc),
    FROM(longest_object),
    FROM(sums[PROF_LOOP_RUN].count),
    FROM(sums[PROF_LOOP_DELAY].count),
    FROM(sums[PROF_LOOP_DELAY].cycles),
    FROM(sums[PROF_LOOP_WALL].count),
    FROM(sums[PROF_LOOP_WALL].cycles),
    FROM(held),
    FROM(held_cycles),
};

static void fill_event(struct prof_event_loop_row *event,
                       const struct prof_loop_row *row)
{
    uint8_t *to = (uint8_t *)event;

    for (uint32_t i = 0; i < sizeof sources / sizeof *sources; i++)
        for (uint32_t n = 0; n < sources[i].bytes; n++)
            *to++ = ((const uint8_t *)row)[sources[i].at + n];
}

/* Another one where anything but the quantiles has changed. */
static uint32_t note_of(const struct prof_event_loop_row *event)
{
    const uint8_t *bytes = (const uint8_t *)event;
    uint32_t note = 0, word;

    for (size_t i = 0; i + sizeof word <= QUANTILES; i += sizeof word) {
        __builtin_memcpy(&word, bytes + i, sizeof word);
        note = (note * 31) ^ word;
    }
    return note != 0 ? note : 1; /* 0: has not been sent */
}

static void send_row(uint64_t tsc, uint32_t site,
                     struct prof_event_loop_row *event)
{
    static const uint16_t permilles[] = {500, 900, 990};
    uint8_t *to = (uint8_t *)event + QUANTILES;

    for (uint32_t i = 0; i < 9; i++) {
        uint64_t value = prof_loop_quantile(
            site, (enum prof_loop_measure)(i / 3), permilles[i % 3]);

        __builtin_memcpy(to + i * sizeof value, &value, sizeof value);
    }
    put_event(PROF_EVENT_LOOP_ROW, tsc, event, sizeof *event);
}

static void send_call(uint64_t tsc, const struct prof_loop_row *row)
{
    enum prof_loop_measure measure = prof_loop_call_measure(row);
    const struct prof_loop_sum *sum = &row->sums[measure];

    if (sum->count != 0)
        put_event(PROF_EVENT_LOOP_CALL, tsc,
                  PROF_FIELDS(loop_call, (uint16_t)row->number, sum->count,
                              sum->cycles, row->call_longest_cycles,
                              row->call_longest_tsc, row->call_longest_object,
                              prof_loop_quantile(row->number, measure, 500),
                              prof_loop_quantile(row->number, measure, 900),
                              prof_loop_quantile(row->number, measure, 990)));
}

/* Which histogram the ranges are of. */
struct ranges {
    uint64_t tsc;
    uint16_t site;
    uint8_t measure;
};

static void send_range(uint64_t low, uint64_t high, uint64_t count,
                       void *context)
{
    const struct ranges *ranges = context;

    (void)high; /* follows from (low) */
    put_event(PROF_EVENT_LOOP_BUCKET, ranges->tsc,
              PROF_FIELDS(loop_bucket, ranges->site, ranges->measure, low,
                          count < UINT32_MAX ? (uint32_t)count : UINT32_MAX));
}

static void send_histograms(uint64_t tsc, uint32_t site)
{
    struct ranges ranges = {.tsc = tsc, .site = (uint16_t)site};

    for (uint8_t i = 0; i < PROF_LOOP_MEASURES; i++) {
        ranges.measure = i;
        prof_loop_buckets(site, (enum prof_loop_measure)i, send_range, &ranges);
    }
}

static void send_if_changed(const struct prof_loop_row *row, void *context)
{
    uint32_t *noted = note_at(row->number), round = rounds[prof_loop_viewed()];
    uint64_t tsc = *(const uint64_t *)context;
    struct prof_event_loop_row event;
    uint32_t note;
    bool due;

    fill_event(&event, row);
    note = note_of(&event);
    if (round == 0)
        *noted = 0;
    due = *noted == 0 || (row->number + round) % ROUNDS == 0;
    if (due)
        send_site(tsc, row);
    if (*noted != note || row->pending != 0) {
        send_row(tsc, row->number, &event);
        if (prof_loop_calls_on != 0)
            send_call(tsc, row);
    }
    if (due)
        send_histograms(tsc, row->number);
    *noted = note;
}

static void send_context(const struct prof_loop_context *node, void *context)
{
    struct prof_event_loop_context event = {
        .node = (uint16_t)node->number,
        .parent = (uint16_t)node->parent,
        .site = (uint16_t)node->site,
        .recursive = node->recursive,
    };

    if (node->self_cycles == 0 && node->calls == 0)
        return;
    copy_fields(&event, calls, &node->calls, 3 * sizeof node->calls);
    put_event(PROF_EVENT_LOOP_CONTEXT, *(const uint64_t *)context, &event,
              sizeof event);
}

/* The account and its event begin with the same times, in the same order. */
#define TIMES_BYTES offsetof(struct prof_event_loop, busy_1)
_Static_assert(TIMES_BYTES == offsetof(struct prof_loop_account, interrupts),
               "as many in both");

static void send_account(uint64_t tsc)
{
    struct prof_loop_account sums;
    struct prof_event_loop event;

    prof_loop_account(&sums);
    copy_fields(&event, wall, &sums, TIMES_BYTES);
    event.busy_1 = (uint16_t)sums.busy_permille[0];
    event.busy_10 = (uint16_t)sums.busy_permille[1];
    event.busy_60 = (uint16_t)sums.busy_permille[2];
    event.sites = sums.sites;
    event.sites_refused = sums.sites_refused;
    event.contexts_refused = sums.contexts_refused;
    event.unbinned = sums.unbinned;
    event.freezes = sums.freezes;
    put_event(PROF_EVENT_LOOP, tsc, &event, sizeof event);
    if (prof_loop_calls_on != 0)
        put_event(PROF_EVENT_LOOP_CALLS, tsc,
                  PROF_FIELDS(loop_calls, sums.calls_refused));
}

static void send_all(uint64_t tsc)
{
    prof_loop_hold_still(true);
    send_account(tsc);
    prof_loop_visit(send_if_changed, &tsc);
    if (rounds[prof_loop_viewed()] % ROUNDS == 0)
        prof_loop_contexts(send_context, &tsc);
    prof_loop_hold_still(false);
    rounds[prof_loop_viewed()]++;
    sent_tsc[prof_loop_viewed()] = tsc;
}

static void send_long_run(const struct prof_long_run *run)
{
    struct prof_event_loop_held event = {
        .site = (uint16_t)run->site->row.number,
        .task = run->object,
        .begin = run->begin_tsc,
        .own = run->self_cycles,
        .samples = run->samples,
    };
    uint8_t *to =
        (uint8_t *)&event + offsetof(struct prof_event_loop_held, function_1);

    for (uint32_t i = 0; i < 3; i++) {
        to = add_address(to, run->functions[i].function);
        __builtin_memcpy(to, &run->functions[i].samples, sizeof(uint32_t));
        to += sizeof(uint32_t);
    }
    put_event(PROF_EVENT_LOOP_HELD, run->end_tsc, &event, sizeof event);
}

static void send_freeze(const struct prof_freeze *freeze)
{
    struct prof_event_loop_freeze event = {
        .site = (uint16_t)freeze->site->row.number,
        .outer = (uint16_t)freeze->outer->row.number,
        .task = freeze->object,
        .held = freeze->held_cycles,
    };
    uint8_t *to =
        (uint8_t *)&event + offsetof(struct prof_event_loop_freeze, address_0);

    for (uint32_t i = 0; i < FREEZE_ADDRESSES; i++)
        to = add_address(to, freeze->addresses[i]);
    put_event(PROF_EVENT_LOOP_FREEZE, freeze->tsc, &event, sizeof event);
}

#if PROF_CPUS_MAX > 1

/* Whether a round of the CPU that is read is due at (tsc) of its counter. It is
 * asked once a second, but answers one time sooner than another: a copy that is
 * somewhat early is the one of that second. */
static bool round_due(uint64_t tsc)
{
    uint32_t number = prof_loop_viewed();
    uint64_t second = prof_loop_cpu_here()->tsc_hz;

    return sent_tsc[number] == 0 ||
           tsc - sent_tsc[number] >= second - second / 4;
}

/* What is in it once, if that was not sent, even if its counts are from before
 * a reset; and a round, if it is due, or the (last) one and not that of this
 * copy. */
static void send_copy(uint32_t number, bool last)
{
    const struct prof_loop_snapshot *copy;

    if (!prof_stream_on() || !prof_loop_view_copy(number))
        return;
    copy = prof_loop_cpu_here()->viewed;
    if (prof_loop_is_unsent(number)) {
        for (uint32_t i = 0; i < copy->held_count; i++)
            send_long_run(&copy->held[i]);
        if (copy->has_freeze)
            send_freeze(&copy->freeze);
    }
    last = last && copy->tsc != sent_tsc[number];
    if (last && prof_loop_copy_counts())
        rounds[number] = 0;
    if ((last || round_due(copy->tsc)) && prof_loop_copy_counts())
        send_all(copy->tsc);
    prof_loop_set_sent(number);
    (void)prof_loop_view(0);
}

void prof_loop_send_copy(uint32_t number)
{
    send_copy(number, false);
}

/* What the others have handed over, and once a second they are asked. */
static void send_others(uint64_t tsc)
{
    for (uint32_t i = 1; i < prof_cpu_count(); i++) {
        prof_loop_send_copy(i);
        if (tsc - asked_tsc[i] < prof_loop_cpu_here()->tsc_hz &&
            sent_tsc[i] != 0)
            continue;
        asked_tsc[i] = tsc;
        prof_loop_ask(i);
    }
}

/* All that they have counted until now; of one that does not answer in time the
 * last round remains. */
static void send_last_of_others(void)
{
    for (uint32_t i = 1; i < prof_cpu_count(); i++)
        prof_loop_ask(i);
    prof_loop_wait(1, prof_cpu_count() - 1, LAST_PART);
    for (uint32_t i = 1; i < prof_cpu_count(); i++)
        send_copy(i, true);
}

#endif

void prof_loop_drained(uint64_t tsc, uint64_t stolen_cycles,
                       uint64_t period_cycles, uint64_t last_tsc)
{
    struct prof_loop_cpu *cpu = prof_loop_cpu_here();
    struct prof_freeze freeze;
    uint64_t since = tsc - sent_tsc[0];

    if (prof_loop_on == 0)
        return;
#if PROF_CPUS_MAX > 1
    (void)prof_loop_view(0);
#endif
    cpu->stolen_cycles = stolen_cycles;
    prof_long_runs_finish(prof_stream_on() ? send_long_run : NULL);
    if (cpu->long_runs.noted_least != period_cycles / 2)
        prof_long_runs_set_limits(cpu->long_runs.held_least, period_cycles / 2);
    if (!prof_stream_on())
        return;
    if (prof_guard_take(&freeze))
        send_freeze(&freeze);
#if PROF_CPUS_MAX > 1
    send_others(tsc);
#endif
    if (sent_tsc[0] == 0 || since >= SECONDS_MAX * cpu->tsc_hz ||
        (since >= cpu->tsc_hz && tsc - last_tsc < LATE * period_cycles))
        send_all(tsc);
}

void prof_loop_send_last(void)
{
    struct prof_loop_frame frame;

    if (prof_loop_on == 0 || !prof_stream_on())
        return;
    prof_loop_profiler(&frame); /* nothing else runs while this is read */
#if PROF_CPUS_MAX > 1
    send_last_of_others();
#endif
    rounds[0] = 0;
    send_all(prof_loop_tsc());
    prof_loop_leave(&frame);
}
