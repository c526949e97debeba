/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/causal.h"
#include "causal/send.h"
#include "causal/shares.h"

#include "stream/put.h"
#include "stream/stream.h"

#define NOTES 32u        /* experiments between two drains */
#define SERIES_A_DRAIN 4 /* of sums, each of up to 16 events */
#define NAME_MAX 120u
#define NAMED_MAX 16u /* bytes of fields before a name */

struct note {
    struct prof_experiment_record record;
    uint32_t held;
    uint32_t late;
    uint64_t stolen;
};

struct prof_causal_log {
    uint32_t points;
    uint32_t noted; /* so far */
    uint32_t sent;  /* or given up */
    uint32_t owed;  /* series of sums that are still to be sent */
    uint32_t series;
    bool again; /* definitions are due, too */
    uint64_t head_tsc;
    uint64_t held; /* totals when the last one was noted */
    uint64_t late;
    uint64_t stolen;
    struct note notes[NOTES];
    uint32_t visits[]; /* of each note, by point */
};

static struct prof_causal_log *causal_log;
static uint64_t stolen_so_far; /* since the boot, as drains have said */
static uint16_t runs;

size_t prof_causal_log_bytes(uint32_t points)
{
    return (sizeof(struct prof_causal_log) +
            (size_t)points * NOTES * sizeof(uint32_t) + 7) &
           ~(size_t)7;
}

static uint32_t all_series(void)
{
    const struct prof_experiment_settings *settings =
        &prof_causal.experiments.settings;

    return settings->targets * settings->speedups * settings->points;
}

void prof_causal_log_init(void *memory, uint32_t points)
{
    causal_log = memory;
    *causal_log = (struct prof_causal_log){
        .points = points,
        .again = true,
        .held = prof_causal.held.held,
        .late = prof_causal.sums.contradictions,
        .stolen = stolen_so_far,
    };
    runs++;
}

/* Where there is no room, the sums that come later have it. */
void prof_causal_log(const struct prof_experiment_record *record,
                     const uint32_t *visits)
{
    struct prof_causal_log *to = causal_log;
    uint32_t at = to->noted % NOTES;

    if (to->noted - to->sent == NOTES) {
        to->sent++;
        to->owed = all_series();
    }
    to->notes[at] = (struct note){
        *record,
        (uint32_t)(prof_causal.held.held - to->held),
        (uint32_t)(prof_causal.sums.contradictions - to->late),
        stolen_so_far - to->stolen,
    };
    for (uint32_t i = 0; i < to->points; i++)
        to->visits[at * to->points + i] = visits[i];
    to->held = prof_causal.held.held;
    to->late = prof_causal.sums.contradictions;
    to->stolen = stolen_so_far;
    to->noted++;
}

void prof_causal_send_again(void)
{
    if (causal_log != NULL)
        causal_log->again = true;
}

/* ---- definitions */

enum point_kind { THROUGHPUT, LATENCY };

/* An event of (kind) with (fields), (bytes) of them, and (name) after them. */
static void send_named(uint64_t tsc, enum prof_event kind, const void *fields,
                       size_t bytes, const char *name)
{
    char made[NAMED_MAX + NAME_MAX + 1], *to = made + bytes;

    __builtin_memcpy(made, fields, bytes);
    for (uint32_t i = 0; i < NAME_MAX && name[i] != '\0'; i++)
        *to++ = name[i] >= ' ' ? name[i] : '?';
    *to++ = '\0';
    (void)prof_stream_put(kind, tsc, made, (uint32_t)(to - made));
}

static void send_targets(uint64_t tsc)
{
    for (const struct prof_target *each = prof_causal_targets(); each != NULL;
         each = each->next)
        send_named(tsc, PROF_EVENT_CAUSAL_TARGET,
                   PROF_FIELDS(causal_target, (uint16_t)(each->number - 1),
                               each->end != 0, each->visits),
                   each->name);
}

static void send_assumption(uint64_t tsc, uint16_t number,
                            const struct prof_assumption *of)
{
    send_named(tsc, PROF_EVENT_CAUSAL_ASSUMED,
               PROF_FIELDS(causal_assumed, number), of->text);
    (void)prof_stream_put(
        PROF_EVENT_CAUSAL_CHECKED, tsc,
        PROF_FIELDS(causal_checked, number, of->checked, of->contradictions));
}

static void send_basis(uint64_t tsc)
{
    uint16_t number = 0;

    for (const struct prof_assumption *each = prof_causal_assumptions();
         each != NULL; each = each->next)
        send_assumption(tsc, number++, each);
    (void)prof_stream_put(PROF_EVENT_CAUSAL_LEARNT, tsc,
                          PROF_FIELDS(causal_learnt, prof_shares_samples()));
}

static void send_head(uint64_t tsc)
{
    const struct prof_experiments *all = &prof_causal.experiments;
    struct prof_causal_stats sums;

    prof_causal_stats(&sums);
    (void)prof_stream_put(
        PROF_EVENT_CAUSAL, tsc,
        PROF_FIELDS(
            causal, runs, (uint8_t)prof_causal_running(),
            (uint8_t)all->settings.speedups, (uint16_t)all->settings.targets,
            (uint16_t)all->settings.points, sums.experiments, sums.abandoned,
            sums.delay_cycles, sums.held, sums.held_most, sums.held_refused,
            sums.answers, sums.contradictions, sums.checked, sums.drained,
            sums.stolen_cycles));
    causal_log->head_tsc = tsc;
}

static void send_definitions(uint64_t tsc)
{
    const struct prof_experiment_settings *settings =
        &prof_causal.experiments.settings;

    send_head(tsc);
    for (uint8_t i = 0; i < settings->speedups; i++)
        (void)prof_stream_put(
            PROF_EVENT_CAUSAL_SPEEDUP, tsc,
            PROF_FIELDS(causal_speedup, i, settings->speedup[i]));
    for (const struct prof_progress *each = prof_causal_points(); each != NULL;
         each = each->next)
        send_named(tsc, PROF_EVENT_CAUSAL_POINT,
                   PROF_FIELDS(causal_point, (uint16_t)(each->number - 1),
                               (uint8_t)THROUGHPUT),
                   each->name);
    for (const struct prof_latency *each = prof_causal_latencies();
         each != NULL; each = each->next)
        send_named(tsc, PROF_EVENT_CAUSAL_POINT,
                   PROF_FIELDS(causal_point, (uint16_t)(each->number - 1),
                               (uint8_t)LATENCY),
                   each->name);
    send_targets(tsc);
    send_basis(tsc);
    causal_log->owed = all_series();
    causal_log->again = false;
}

/* ---- experiments */

static void send_note(uint64_t tsc, uint32_t at)
{
    const struct note *note = &causal_log->notes[at];
    const struct prof_experiment_record *of = &note->record;
    const uint32_t *visits = causal_log->visits + at * causal_log->points;
    uint16_t points = 0;

    for (uint32_t i = 0; i < causal_log->points; i++) {
        if (visits[i] == 0)
            continue;
        (void)prof_stream_put(
            PROF_EVENT_CAUSAL_VISITS, tsc,
            PROF_FIELDS(causal_visits, (uint16_t)i, visits[i]));
        points++;
    }
    (void)prof_stream_put(
        PROF_EVENT_CAUSAL_EXPERIMENT, tsc,
        PROF_FIELDS(causal_experiment, of->number, (uint16_t)of->target,
                    (uint8_t)of->speedup, (uint8_t)of->end, points,
                    of->virtual_time, of->real_time, of->in_target, note->held,
                    note->late, note->stolen));
}

static void send_notes(uint64_t tsc)
{
    while (causal_log->sent != causal_log->noted)
        send_note(tsc, causal_log->sent++ % NOTES);
}

static void send_latency(uint64_t tsc, uint32_t target, uint32_t speedup,
                         uint32_t kind)
{
    const struct prof_latency_sum *sum =
        prof_causal_latency_sums(target, speedup) + kind;
    const struct prof_quantiles of = prof_causal_quantiles_of(sum);

    if (sum->count == 0)
        return;
    (void)prof_stream_put(
        PROF_EVENT_CAUSAL_LATENCY, tsc,
        PROF_FIELDS(causal_latency, (uint16_t)target, (uint16_t)kind,
                    (uint8_t)speedup, sum->count, sum->cycles, of.p50_low,
                    of.p50, of.p50_high, of.p99_low, of.p99, of.p99_high));
}

static void send_limit(uint64_t tsc, uint32_t target, uint32_t speedup)
{
    const struct prof_target_share *share =
        &prof_causal.experiments.shares[target];
    const uint64_t *cycles = prof_causal_limit_sum(target, speedup)->cycles;

    (void)prof_stream_put(
        PROF_EVENT_CAUSAL_LIMIT, tsc,
        PROF_FIELDS(causal_limit, (uint16_t)target, (uint8_t)speedup,
                    cycles[PROF_LIMIT_TIME], cycles[PROF_LIMIT_DEVICE],
                    cycles[PROF_LIMIT_PEER], cycles[PROF_LIMIT_ARRIVALS],
                    cycles[PROF_LIMIT_CPU], share->inside, share->cycles));
}

/* Those of a target, a speed-up and a point: all at once. What has no point
 * goes with those of the first. */
static void send_sums(uint64_t tsc, uint32_t series)
{
    const struct prof_experiments *all = &prof_causal.experiments;
    uint32_t point = series % all->settings.points;
    uint32_t rest = series / all->settings.points;
    uint32_t speedup = rest % all->settings.speedups;
    uint32_t target = rest / all->settings.speedups;
    const struct prof_progress_sum *sums =
        prof_experiments_sums(all, target, speedup, point);

    for (uint8_t i = 0; i < PROF_GAIN_GROUPS; i++)
        if (i == 0 || sums[i].experiments != 0)
            (void)prof_stream_put(PROF_EVENT_CAUSAL_SUM, tsc,
                                  PROF_FIELDS(causal_sum, (uint16_t)target,
                                              (uint16_t)point, (uint8_t)speedup,
                                              i, sums[i].cycles, sums[i].visits,
                                              sums[i].experiments));
    if (point != 0)
        return;
    send_limit(tsc, target, speedup);
    for (uint32_t kind = 0; kind < prof_causal.kinds; kind++)
        send_latency(tsc, target, speedup, kind);
}

static void send_some_sums(uint64_t tsc, uint32_t most)
{
    for (; causal_log->owed != 0 && most != 0; causal_log->owed--, most--) {
        causal_log->series = (causal_log->series + 1) % all_series();
        send_sums(tsc, causal_log->series);
    }
}

void prof_causal_drained(uint64_t tsc, uint64_t stolen_cycles)
{
    stolen_so_far = stolen_cycles;
    if (causal_log == NULL)
        return;
    if (!prof_stream_on()) {
        causal_log->sent = causal_log->noted;
        return;
    }
    if (causal_log->again)
        send_definitions(tsc);
    send_notes(tsc);
    send_some_sums(tsc, SERIES_A_DRAIN);
    if (!prof_causal_running() ||
        tsc - causal_log->head_tsc < prof_causal.tsc_hz)
        return;
    /* once a second, for those who have missed a packet */
    send_head(tsc);
    send_targets(tsc);
    send_basis(tsc);
    if (causal_log->owed == 0)
        causal_log->owed = 1;
}

void prof_causal_send_last(void)
{
    uint64_t tsc = prof_tsc();

    if (causal_log == NULL || !prof_stream_on())
        return;
    send_definitions(tsc);
    send_notes(tsc);
    send_some_sums(tsc, UINT32_MAX);
}
