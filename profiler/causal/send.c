/* SPDX-License-Identifier: Apache-2.0 */
#include "causal/causal.h"
#include "causal/pace.h"
#include "causal/regimes.h"
#include "causal/send.h"
#include "causal/shares.h"
#include "causal/untried.h"

#include "stream/put.h"
#include "stream/stream.h"

#define NOTES 32u        /* experiments between two drains */
#define SERIES_A_DRAIN 4 /* of sums, each of up to 16 events */
#define NAME_MAX 120u
#define NAMED_MAX 16u /* bytes of fields before a name */

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
    struct prof_regimes_sample normal; /* of experiments at normal speed */
    struct prof_event_causal_experiment notes[NOTES];
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

    if (record->end == PROF_EXPERIMENT_COUNTS && record->speedup == 0)
        prof_regimes_add(&to->normal, record->virtual_time, visits[0]);
    if (to->noted - to->sent == NOTES) {
        to->sent++;
        to->owed = all_series();
    }
    to->notes[at] = (struct prof_event_causal_experiment){
        .number = record->number,
        .target = (uint16_t)record->target,
        .speedup = (uint8_t)record->speedup,
        .reason = (uint8_t)record->end,
        .virtual_time = record->virtual_time,
        .real_time = record->real_time,
        .in_target = record->in_target,
        .held = (uint32_t)(prof_causal.held.held - to->held),
        .late = (uint32_t)(prof_causal.sums.contradictions - to->late),
        .stolen = stolen_so_far - to->stolen,
    };
    for (uint32_t i = 0; i < to->points; i++)
        to->visits[at * to->points + i] = visits[i];
    to->held = prof_causal.held.held;
    to->late = prof_causal.sums.contradictions;
    to->stolen = stolen_so_far;
    to->noted++;
}

bool prof_causal_regimes(struct prof_regimes *found)
{
    return causal_log != NULL && prof_regimes_find(&causal_log->normal, found);
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
    for (const struct prof_target *each = prof_causal.targets; each != NULL;
         each = each->next)
        send_named(tsc, PROF_EVENT_CAUSAL_TARGET,
                   PROF_FIELDS(causal_target, (uint16_t)(each->number - 1),
                               each->by_samples, each->visits),
                   each->name);
}

static void send_untried(uint64_t tsc)
{
    const struct prof_untried *each;

    for (uint16_t i = 0; (each = prof_untried_at(i)) != NULL; i++)
        send_named(tsc, PROF_EVENT_CAUSAL_UNTRIED,
                   PROF_FIELDS(causal_untried, i, (uint8_t)each->why,
                               each->functions, each->ppm),
                   each->name);
}

/* Nothing was found: zeros void what was before. */
static void send_regimes(uint64_t tsc)
{
    struct prof_regimes found;

    if (!prof_causal_regimes(&found))
        found = (struct prof_regimes){0};
    (void)prof_stream_put(PROF_EVENT_CAUSAL_REGIMES, tsc,
                          PROF_FIELDS(causal_regimes, found.cycles[0],
                                      found.cycles[1], (uint8_t)found.percent));
}

static void send_basis(uint64_t tsc)
{
    struct prof_event_causal_checked of = {0};

    for (const struct prof_assumption *each = prof_causal.assumptions;
         each != NULL; each = each->next, of.assumption++) {
        send_named(tsc, PROF_EVENT_CAUSAL_ASSUMED,
                   PROF_FIELDS(causal_assumed, of.assumption), each->text);
        of.checked = each->checked;
        of.contradictions = each->contradictions;
        (void)prof_stream_put(PROF_EVENT_CAUSAL_CHECKED, tsc, &of, sizeof of);
    }
    for (uint16_t i = 0; i < prof_causal.names->count; i++)
        send_named(tsc, PROF_EVENT_CAUSAL_WAITED,
                   PROF_FIELDS(causal_waited, i,
                               (uint8_t)prof_causal.names->of[i].kind),
                   prof_causal.names->of[i].name);
    (void)prof_stream_put(PROF_EVENT_CAUSAL_LEARNT, tsc,
                          PROF_FIELDS(causal_learnt, prof_shares_samples()));
    send_regimes(tsc);
}

/* Fields from (first) to the end or (next), which are the same in (from). */
#define COPY(event, first, next, from)                                         \
    __builtin_memcpy((uint8_t *)&(event) + offsetof(__typeof__(event), first), \
                     from, (next)-offsetof(__typeof__(event), first))

static void send_head(uint64_t tsc)
{
    const struct prof_experiments *all = &prof_causal.experiments;
    struct prof_event_causal event = {
        .run = runs,
        .running = prof_causal_running(),
        .speedups = (uint8_t)all->settings.speedups,
        .targets = (uint16_t)all->settings.targets,
        .points = (uint16_t)all->settings.points,
    };
    struct prof_causal_stats sums;

    prof_causal_stats(&sums);
    COPY(event, experiments, offsetof(struct prof_event_causal, refused),
         &sums.experiments);
    COPY(event, refused, sizeof event, &sums.held_refused);
    (void)prof_stream_put(PROF_EVENT_CAUSAL, tsc, &event, sizeof event);
    causal_log->head_tsc = tsc;
}

static void send_pace(uint64_t tsc, enum prof_rate_when when)
{
    const struct prof_progress_sum *sums = prof_pace_sums(when);
    struct prof_event_causal_pace event = {.when = (uint8_t)when};

    for (; sums != NULL && event.group < PROF_GAIN_GROUPS;
         event.group++, sums++) {
        if (event.group != 0 && sums->experiments == 0)
            continue;
        COPY(event, time, sizeof event, sums);
        (void)prof_stream_put(PROF_EVENT_CAUSAL_PACE, tsc, &event,
                              sizeof event);
    }
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
    for (const struct prof_progress *each = prof_causal.points; each != NULL;
         each = each->next)
        send_named(tsc, PROF_EVENT_CAUSAL_POINT,
                   PROF_FIELDS(causal_point, (uint16_t)(each->number - 1),
                               (uint8_t)THROUGHPUT),
                   each->name);
    for (const struct prof_latency *each = prof_causal.latency_kinds;
         each != NULL; each = each->next)
        send_named(tsc, PROF_EVENT_CAUSAL_POINT,
                   PROF_FIELDS(causal_point, (uint16_t)(each->number - 1),
                               (uint8_t)LATENCY),
                   each->name);
    send_targets(tsc);
    send_untried(tsc);
    send_basis(tsc);
    send_pace(tsc, PROF_RATE_BEFORE);
    send_pace(tsc, PROF_RATE_AFTER);
    causal_log->owed = all_series();
    causal_log->again = false;
}

/* ---- experiments */

static void send_note(uint64_t tsc, uint32_t at)
{
    struct prof_event_causal_experiment *note = &causal_log->notes[at];
    const uint32_t *visits = causal_log->visits + at * causal_log->points;

    for (uint32_t i = 0; i < causal_log->points; i++) {
        if (visits[i] == 0)
            continue;
        (void)prof_stream_put(
            PROF_EVENT_CAUSAL_VISITS, tsc,
            PROF_FIELDS(causal_visits, (uint16_t)i, visits[i]));
        note->points++;
    }
    (void)prof_stream_put(PROF_EVENT_CAUSAL_EXPERIMENT, tsc, note,
                          sizeof *note);
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
    struct prof_event_causal_latency event = {
        .target = (uint16_t)target,
        .point = (uint16_t)kind,
        .speedup = (uint8_t)speedup,
        .requests = sum->count,
        .total = sum->cycles,
    };
    struct prof_quantiles of;

    if (sum->count == 0)
        return;
    prof_causal_quantiles_of(sum, &of);
    COPY(event, p50_low, sizeof event, &of.p50_low);
    (void)prof_stream_put(PROF_EVENT_CAUSAL_LATENCY, tsc, &event, sizeof event);
}

/* All of a kind, then those of names. */
static void send_limit(uint64_t tsc, uint32_t target, uint32_t speedup)
{
    const struct prof_limit_sum *sum = prof_causal_limit_sum(target, speedup);
    struct prof_event_causal_limit event = {.target = (uint16_t)target,
                                            .speedup = (uint8_t)speedup};

    COPY(event, timers, offsetof(struct prof_event_causal_limit, in_target),
         sum->cycles);
    COPY(event, in_target, sizeof event,
         &prof_causal.experiments.shares[target]);
    (void)prof_stream_put(PROF_EVENT_CAUSAL_LIMIT, tsc, &event, sizeof event);
    for (uint16_t i = 0; i < prof_causal.names->count; i++)
        if (sum->named[i] != 0)
            (void)prof_stream_put(PROF_EVENT_CAUSAL_WAIT, tsc,
                                  PROF_FIELDS(causal_wait, (uint16_t)target,
                                              (uint8_t)speedup, i,
                                              sum->named[i]));
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
    struct prof_event_causal_sum event = {.target = (uint16_t)target,
                                          .point = (uint16_t)point,
                                          .speedup = (uint8_t)speedup};

    for (; event.group < PROF_GAIN_GROUPS; event.group++, sums++) {
        if (event.group != 0 && sums->experiments == 0)
            continue;
        COPY(event, virtual_time, sizeof event, sums);
        (void)prof_stream_put(PROF_EVENT_CAUSAL_SUM, tsc, &event, sizeof event);
    }
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
