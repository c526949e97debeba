/* SPDX-License-Identifier: Apache-2.0 */
/* From events to sums. */

#include "base/memory.h"
#include "causal/causal.h"

#include <prof/format.h>
#include <string.h>

/* ---- what there is */

/* The place of the guest's (number), new if it is the last one; INDEX_NONE, and
 * counted: it is too large. Only what is named or measured has one. A new row
 * of (rows), of (bytes), begins with its name. */
static uint32_t place_of(struct causal *causal, struct index *numbers,
                         void *rows, size_t bytes, const char *what,
                         uint32_t number, uint32_t most)
{
    uint32_t place = index_find(numbers, number);
    struct causal_target row = {0};
    char name[32];

    if (number >= most)
        ++causal->unkept;
    if (number >= most || place != INDEX_NONE)
        return place;
    snprintf(name, sizeof name, "[%s %u]", what, (unsigned)number);
    row.name = strings_put(&causal->strings, name);
    return index_add_row(numbers, number, rows, &row, bytes);
}

static uint32_t target_of(struct causal *causal, uint32_t number)
{
    return place_of(causal, &causal->target_numbers, &causal->targets,
                    sizeof *causal->targets, "target", number,
                    CAUSAL_TARGETS_MAX);
}

static uint32_t point_of(struct causal *causal, uint32_t number)
{
    return place_of(causal, &causal->point_numbers, &causal->points,
                    sizeof *causal->points, "point", number, CAUSAL_POINTS_MAX);
}

static uint32_t kind_of(struct causal *causal, uint32_t number)
{
    return place_of(causal, &causal->kind_numbers, &causal->kinds,
                    sizeof *causal->kinds, "kind", number, CAUSAL_POINTS_MAX);
}

static bool speedup_exists(struct causal *causal, uint32_t number)
{
    if (number >= CAUSAL_SPEEDUPS_MAX) {
        ++causal->unkept;
        return false;
    }
    if (causal->speedup_count <= number)
        causal->speedup_count = number + 1;
    return true;
}

/* Of places. */
/* The place of (key) among (rows); a new one is a copy of (row), of (bytes).
 * INDEX_NONE, and counted: there are too many. */
static uint32_t kept(struct causal *causal, struct index *keys, uint64_t key,
                     void *rows, const void *row, size_t bytes)
{
    uint32_t found = index_find(keys, key);

    if (found != INDEX_NONE || keys->count < CAUSAL_SERIES_MAX)
        return index_add_row(keys, key, rows, row, bytes);
    ++causal->unkept;
    return INDEX_NONE;
}

static struct prof_progress_sum *groups_of(struct causal *causal,
                                           uint32_t target, uint32_t speedup,
                                           uint32_t point)
{
    static const struct prof_progress_sum none[PROF_GAIN_GROUPS];
    uint32_t found =
        kept(causal, &causal->series_keys, causal_key(target, speedup, point),
             &causal->series, none, sizeof none);

    return found == INDEX_NONE ? NULL : causal->series[found];
}

/* ---- events */

/* Another run of experiments: nothing is left of the one before but names. */
static void begin_run(struct causal *causal)
{
    for (uint32_t i = 0; i < causal->target_numbers.count; ++i)
        causal->targets[i].visits = causal->targets[i].real =
            causal->targets[i].in_target = 0;
    for (uint32_t i = 0; i < causal->series_keys.count; ++i)
        memset(causal->series[i], 0, sizeof *causal->series);
    for (uint32_t i = 0; i < causal->latency_keys.count; ++i)
        causal->latencies[i] = (struct causal_latency){0};
    for (uint32_t i = 0; i < causal->limit_keys.count; ++i)
        causal->limits[i] = (struct causal_limit){0};
    causal->record_count = causal->visit_count = causal->visits_begin = 0;
    causal->counted = 0;
    causal->learnt = 0;
    memset(causal->checked, 0, sizeof causal->checked);
    memset(causal->untried, 0, sizeof causal->untried);
    causal->untried_count = 0;
    memset(causal->pace, 0, sizeof causal->pace);
    causal->regimes = (struct event_causal_regimes){0};
    causal->speedup_count = 0;
    causal->stolen = 0;
}

static void take_account(struct causal *causal, const struct event_causal *is,
                         uint64_t now)
{
    if (causal->any && causal->is.run != is->run && !causal->is_other)
        begin_run(causal);
    if (!causal->any || causal->is.run != is->run)
        causal->began = now;
    causal->any = true;
    causal->is_other = false;
    causal->is = *is;
}

/* Runs count from 1: another one began, and its account is missing. */
static bool is_of_another_run(const struct causal *causal,
                              const struct event_causal_experiment *event)
{
    return causal->record_count != 0 &&
           event->number <=
               causal->records[causal->record_count - 1].event.number;
}

static void take_target(struct causal *causal,
                        const struct event_causal_target *event)
{
    uint32_t place = target_of(causal, event->target);
    struct causal_target *target;

    if (place == INDEX_NONE)
        return;
    target = &causal->targets[place];
    target->name = strings_put(&causal->strings, event->text);
    target->accrual = event->accrual;
    target->visits = event->visits;
}

static void take_point(struct causal *causal,
                       const struct event_causal_point *event)
{
    bool is_kind = event->point_kind == 1;
    uint32_t place = is_kind ? kind_of(causal, event->point)
                             : point_of(causal, event->point);

    if (place != INDEX_NONE)
        (is_kind ? causal->kinds : causal->points)[place] =
            strings_put(&causal->strings, event->text);
}

static void take_visits(struct causal *causal,
                        const struct event_causal_visits *event)
{
    if (causal->visit_count == CAUSAL_RECORDS_MAX) {
        ++causal->unkept;
        return;
    }
    VECTOR_ADD(
        causal->visits, causal->visit_count,
        (struct causal_visits){index_find(&causal->point_numbers, event->point),
                               event->visits});
}

uint32_t causal_visits_at(const struct causal *causal,
                          const struct causal_record *record, uint32_t point)
{
    for (uint32_t i = 0; i < record->event.points; ++i)
        if (causal->visits[record->visits + i].point == point)
            return causal->visits[record->visits + i].visits;
    return 0;
}

static void add_record(struct causal *causal,
                       const struct causal_record *record)
{
    const struct event_causal_experiment *event = &record->event;
    struct causal_target *target;

    if (record->target == INDEX_NONE || !speedup_exists(causal, event->speedup))
        return;
    target = &causal->targets[record->target];
    if (event->speedup == 0) {
        target->real += event->real_time;
        target->in_target += event->in_target;
    }
    for (uint32_t i = 0; i < causal->point_numbers.count; ++i) {
        struct prof_progress_sum *groups =
            groups_of(causal, record->target, event->speedup, i);

        if (groups != NULL)
            prof_gain_add(groups, event->virtual_time,
                          causal_visits_at(causal, record, i));
    }
}

/* Nothing is left but the visits of its first experiment. */
static void begin_other_run(struct causal *causal)
{
    uint32_t count = causal->visit_count - causal->visits_begin;

    if (count != 0)
        memmove(causal->visits, causal->visits + causal->visits_begin,
                count * sizeof *causal->visits);
    begin_run(causal);
    causal->visit_count = count;
    causal->is_other = true;
}

static void take_experiment(struct causal *causal,
                            const struct event_causal_experiment *event)
{
    struct causal_record record = {.event = *event, .target = INDEX_NONE};
    bool whole = causal->visit_count - causal->visits_begin == event->points;

    if (is_of_another_run(causal, event))
        begin_other_run(causal);
    record.visits = causal->visits_begin;
    causal->stolen += event->stolen;
    if (!whole || causal->record_count == CAUSAL_RECORDS_MAX) {
        causal->visit_count = causal->visits_begin;
        causal->unkept += whole;
        return;
    }
    if (event->reason == 0)
        record.target = target_of(causal, event->target);
    VECTOR_ADD(causal->records, causal->record_count, record);
    causal->visits_begin = causal->visit_count;
    if (event->reason != 0)
        return;
    add_record(causal, &record);
    ++causal->counted;
}

static void take_sum(struct causal *causal,
                     const struct event_causal_sum *event)
{
    struct prof_progress_sum *groups;
    uint32_t target, point;

    if (event->group >= PROF_GAIN_GROUPS) {
        ++causal->unkept;
        return;
    }
    if (!speedup_exists(causal, event->speedup))
        return;
    target = target_of(causal, event->target);
    point = point_of(causal, event->point);
    if (target == INDEX_NONE || point == INDEX_NONE)
        return;
    groups = groups_of(causal, target, event->speedup, point);
    if (groups == NULL)
        return;
    if (event->group == 0)
        memset(groups, 0, sizeof *causal->series);
    groups[event->group] = (struct prof_progress_sum){
        event->virtual_time, event->visits, event->experiments};
}

static void take_latency(struct causal *causal,
                         const struct event_causal_latency *event)
{
    const struct causal_latency latency = {true, *event};
    uint32_t target, kind, found;

    if (!speedup_exists(causal, event->speedup))
        return;
    target = target_of(causal, event->target);
    kind = kind_of(causal, event->point);
    if (target == INDEX_NONE || kind == INDEX_NONE)
        return;
    found = kept(causal, &causal->latency_keys,
                 causal_key(target, event->speedup, kind), &causal->latencies,
                 &latency, sizeof latency);
    if (found != INDEX_NONE)
        causal->latencies[found] = latency;
}

/* The guest's share is that of all experiments so far. */
static void take_limit(struct causal *causal,
                       const struct event_causal_limit *event)
{
    const struct causal_limit limit = {.cycles = {event->timers, event->devices,
                                                  event->peers, event->arrivals,
                                                  event->cpu}};
    uint32_t place, found;

    if (!speedup_exists(causal, event->speedup))
        return;
    place = target_of(causal, event->target);
    if (place == INDEX_NONE)
        return;
    found =
        kept(causal, &causal->limit_keys, causal_key(place, event->speedup, 0),
             &causal->limits, &limit, sizeof limit);
    if (found == INDEX_NONE)
        return;
    causal->targets[place].in_target = event->in_target;
    causal->targets[place].real = event->real_time;
    causal->limits[found] = limit;
}

static void take_waited(struct causal *causal,
                        const struct event_causal_waited *event)
{
    if (event->waited >= CAUSAL_WAITED_MAX || event->limit >= CAUSAL_LIMITS ||
        event->limit == CAUSAL_CPU || *event->text == '\0') {
        ++causal->unkept;
        return;
    }
    causal->waited[event->waited] = (struct causal_waited){
        strings_put(&causal->strings, event->text), event->limit};
}

/* After that of all, which voids the others. */
static void take_wait(struct causal *causal,
                      const struct event_causal_wait *event)
{
    const uint32_t place = index_find(&causal->target_numbers, event->target);
    uint32_t found = INDEX_NONE;

    if (place != INDEX_NONE && event->speedup < CAUSAL_SPEEDUPS_MAX &&
        event->waited < CAUSAL_WAITED_MAX)
        found = index_find(&causal->limit_keys,
                           causal_key(place, event->speedup, 0));
    if (found == INDEX_NONE)
        ++causal->unkept;
    else
        causal->limits[found].waited[event->waited] = event->wait;
}

static void take_assumed(struct causal *causal,
                         const struct event_causal_assumed *event)
{
    if (event->assumption < CAUSAL_ASSUMED_MAX)
        causal->assumed[event->assumption] =
            strings_put(&causal->strings, event->text);
    else
        ++causal->unkept;
}

static void take_checked(struct causal *causal,
                         const struct event_causal_checked *event)
{
    if (event->assumption < CAUSAL_ASSUMED_MAX)
        causal->checked[event->assumption] =
            (struct causal_checked){event->checked, event->contradictions};
    else
        ++causal->unkept;
}

static void take_pace(struct causal *causal,
                      const struct event_causal_pace *event)
{
    struct prof_progress_sum *groups;

    if (event->when >= PROF_RATE_DURING || event->group >= PROF_GAIN_GROUPS) {
        ++causal->unkept;
        return;
    }
    groups = causal->pace[event->when];
    if (event->group == 0)
        memset(groups, 0, sizeof *causal->pace);
    groups[event->group] =
        (struct prof_progress_sum){event->time, event->visits, event->slices};
}

static void take_untried(struct causal *causal,
                         const struct event_causal_untried *event)
{
    if (event->untried >= CAUSAL_UNTRIED_MAX ||
        event->why >= CAUSAL_UNTRIED_REASONS) {
        ++causal->unkept;
        return;
    }
    causal->untried[event->untried] = (struct causal_untried){
        strings_put(&causal->strings, event->text), event->why,
        event->functions, (double)event->share / 1e6};
    if (causal->untried_count <= event->untried)
        causal->untried_count = event->untried + 1u;
}

static void take_event(struct causal *causal, const struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_HELLO:
        causal->tsc_hz = event->as_hello.tsc_hz;
        break;
    case PROF_EVENT_CAUSAL:
        take_account(causal, &event->as_causal, event->time);
        break;
    case PROF_EVENT_CAUSAL_ASSUMED:
        take_assumed(causal, &event->as_causal_assumed);
        break;
    case PROF_EVENT_CAUSAL_CHECKED:
        take_checked(causal, &event->as_causal_checked);
        break;
    case PROF_EVENT_CAUSAL_UNTRIED:
        take_untried(causal, &event->as_causal_untried);
        break;
    case PROF_EVENT_CAUSAL_PACE:
        take_pace(causal, &event->as_causal_pace);
        break;
    case PROF_EVENT_CAUSAL_REGIMES:
        causal->regimes = event->as_causal_regimes;
        break;
    case PROF_EVENT_CAUSAL_LEARNT:
        causal->learnt = event->as_causal_learnt.samples;
        break;
    case PROF_EVENT_CAUSAL_SPEEDUP:
        if (speedup_exists(causal, event->as_causal_speedup.speedup))
            causal->speedups[event->as_causal_speedup.speedup] =
                event->as_causal_speedup.share;
        break;
    case PROF_EVENT_CAUSAL_POINT:
        take_point(causal, &event->as_causal_point);
        break;
    case PROF_EVENT_CAUSAL_TARGET:
        take_target(causal, &event->as_causal_target);
        break;
    case PROF_EVENT_CAUSAL_VISITS:
        take_visits(causal, &event->as_causal_visits);
        break;
    case PROF_EVENT_CAUSAL_EXPERIMENT:
        take_experiment(causal, &event->as_causal_experiment);
        break;
    case PROF_EVENT_CAUSAL_SUM:
        take_sum(causal, &event->as_causal_sum);
        break;
    case PROF_EVENT_CAUSAL_LATENCY:
        take_latency(causal, &event->as_causal_latency);
        break;
    case PROF_EVENT_CAUSAL_LIMIT:
        take_limit(causal, &event->as_causal_limit);
        break;
    case PROF_EVENT_CAUSAL_WAITED:
        take_waited(causal, &event->as_causal_waited);
        break;
    case PROF_EVENT_CAUSAL_WAIT:
        take_wait(causal, &event->as_causal_wait);
        break;
    default:
        break;
    }
}

/* What was said before a missing packet may be of another experiment. */
static void take_head(struct causal *causal, const struct packet *packet)
{
    if (!causal->order.begun)
        causal->cpu = packet->cpu;
    if (causal->cpu == packet->cpu &&
        packet_follow(&causal->order, packet, NULL) >= PACKET_AFTER_GAP)
        causal->visit_count = causal->visits_begin;
}

void causal_take(struct causal *causal, const struct packet *packet)
{
    struct event_reader reader;
    struct event event;

    if (packet->version != PROF_FORMAT_VERSION)
        return;
    take_head(causal, packet);
    event_begin(&reader, packet);
    while (event_next(&reader, &event)) {
        take_event(causal, &event);
        causal->ends = event.time;
    }
}
