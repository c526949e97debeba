/* SPDX-License-Identifier: Apache-2.0 */
/* All of it as JSON, which is also the page's payload. */

#include "base/json.h"
#include "base/log.h"
#include "causal/causal.h"
#include "page/page.h"

#include <prof/format.h>
#include <stdlib.h>

#define NS_PER_S 1e9
#define NS_PER_TENTH 100.0 /* of a microsecond */
#define PPM 1e6

static json_t *cycles_ns(const struct causal *causal, uint64_t cycles)
{
    return causal->tsc_hz == 0
               ? json_null()
               : json_real((double)cycles * NS_PER_S / (double)causal->tsc_hz);
}

static json_t *gain_json(const struct causal_value *value)
{
    json_t *object = json_object();

    json_set(object, "gain",
             value->known ? json_real(value->gain) : json_null());
    json_set(object, "interval",
             value->known ? json_real(value->interval) : json_null());
    json_set(object, "groups", json_count(value->groups));
    return object;
}

static json_t *value_json(const struct causal_value *value)
{
    json_t *object = gain_json(value);

    json_set(object, "speedup", json_real(value->speedup));
    return object;
}

static const char *accrual_word(uint8_t accrual)
{
    return accrual == 0 ? "from enter to leave" : "by shares of handlers";
}

/* Everything that virtual time goes to, and the greatest part of it. */
static void set_limit(const struct causal *causal, uint32_t target,
                      json_t *object)
{
    uint32_t numbers[CAUSAL_SPEEDUPS_MAX];
    uint32_t count = causal_speedups(causal, numbers);
    struct causal_part parts[CAUSAL_PARTS_MAX];
    char text[CAUSAL_TEXT_MAX];
    json_t *all = json_array();

    if (count != 0)
        count = causal_parts(causal, target, numbers[count - 1], parts);
    for (uint32_t i = 0; i < count; ++i) {
        json_t *part = json_object();

        json_set(part, "limit", json_text(causal_part_name(&parts[i], text)));
        json_set(part, "share", json_real(parts[i].part));
        json_array_append_new(all, part);
    }
    json_set(object, "limit",
             count == 0 ? json_null()
                        : json_text(causal_part_name(&parts[0], text)));
    json_set(object, "limit_share",
             count == 0 ? json_null() : json_real(parts[0].part));
    json_set(object, "limits", all);
}

static json_t *curve_json(const struct causal *causal,
                          const struct causal_curve *curve)
{
    static const char *const shapes[CAUSAL_SHAPES] = {
        [CAUSAL_NOT_CALLED] = "not called",
        [CAUSAL_TOO_FEW] = "too few visits",
        [CAUSAL_TO_COME] = "not tried yet",
        [CAUSAL_NOT_REACHED] = "point not reached",
        [CAUSAL_TOO_MUCH] = "too much held",
        [CAUSAL_UNSURE] = "unsure",
        [CAUSAL_NOTHING] = "nothing",
        [CAUSAL_WHOLE] = "whole",
        [CAUSAL_MORE] = "more",
        [CAUSAL_PART] = "part",
        [CAUSAL_UNEVEN] = "uneven",
        [CAUSAL_BENDS] = "bends",
        [CAUSAL_LESSENS] = "lessens",
        [CAUSAL_FALLS] = "falls",
        [CAUSAL_HARMS] = "harms",
        [CAUSAL_MIXED] = "mixed",
    };
    const struct causal_target *target = &causal->targets[curve->target];
    double share = curve->share;
    json_t *object = json_object(), *values = json_array();
    char text[CAUSAL_TEXT_MAX];

    for (uint32_t i = 0; i < curve->count; ++i)
        json_array_append_new(values, value_json(&curve->values[i]));
    json_set(object, "target",
             json_text(causal_target_name(causal, curve->target)));
    json_set(object, "number", json_count(curve->target));
    json_set(object, "accrual", json_text(accrual_word(target->accrual)));
    json_set(object, "visits", json_count(target->visits));
    json_set(object, "share", share < 0 ? json_null() : json_real(share));
    json_set(object, "slope", json_real(curve->slope));
    json_set(object, "shape", json_text(shapes[curve->shape]));
    json_set(object, "bend",
             curve->bend > 0 ? json_real(curve->bend) : json_null());
    json_set(object, "explanation",
             json_text(causal_explain(causal, curve, text)));
    set_limit(causal, curve->target, object);
    json_set(object, "values", values);
    return object;
}

static json_t *point_json(const struct causal *causal, uint32_t point)
{
    struct causal_curve *curves = causal_curves(causal, point);
    json_t *object = json_object(), *all = json_array();
    struct causal_value none;

    causal_none(causal, point, &none);
    for (uint32_t i = 0; i < causal->target_numbers.count; ++i)
        json_array_append_new(all, curve_json(causal, &curves[i]));
    free(curves);
    json_set(object, "point", json_text(causal_point_name(causal, point)));
    json_set(object, "none", gain_json(&none));
    json_set(object, "curves", all);
    return object;
}

static json_t *latency_json(const struct causal *causal, uint32_t kind,
                            uint32_t target, uint32_t speedup)
{
    const struct causal_latency *found =
        causal_latency(causal, target, speedup, kind);
    const struct event_causal_latency *event;
    json_t *object;

    if (found == NULL || found->event.requests == 0)
        return NULL;
    event = &found->event;
    object = json_object();
    json_set(object, "speedup",
             json_real(causal->speedups[speedup] / (double)PROF_ONE));
    json_set(object, "requests", json_count(event->requests));
    json_set(object, "mean_ns",
             cycles_ns(causal, event->total / event->requests));
    json_set(object, "p50_ns", cycles_ns(causal, event->p50));
    json_set(object, "p50_low_ns", cycles_ns(causal, event->p50_low));
    json_set(object, "p50_high_ns", cycles_ns(causal, event->p50_high));
    json_set(object, "p99_ns", cycles_ns(causal, event->p99));
    json_set(object, "p99_low_ns", cycles_ns(causal, event->p99_low));
    json_set(object, "p99_high_ns", cycles_ns(causal, event->p99_high));
    return object;
}

/* By the numbers of targets. */
static json_t *kind_json(const struct causal *causal, uint32_t kind)
{
    json_t *object = json_object(), *all = json_array();
    uint32_t numbers[CAUSAL_SPEEDUPS_MAX];
    uint32_t count = causal_speedups(causal, numbers);

    for (uint32_t i = 0; i < causal->target_numbers.count; ++i) {
        json_t *of_target = json_object(), *values = json_array();

        for (uint32_t j = 0; j < count; ++j) {
            json_t *value = latency_json(causal, kind, i, numbers[j]);

            if (value != NULL)
                json_array_append_new(values, value);
        }
        json_set(of_target, "target", json_text(causal_target_name(causal, i)));
        json_set(of_target, "values", values);
        json_array_append_new(all, of_target);
    }
    json_set(object, "name", json_text(causal_kind_name(causal, kind)));
    json_set(object, "targets", all);
    return object;
}

static json_t *kinds_json(const struct causal *causal)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < causal_kinds_shown(causal); ++i)
        json_array_append_new(all, kind_json(causal, i));
    return all;
}

static json_t *notes_json(const struct causal *causal)
{
    char notes[CAUSAL_NOTES_MAX][CAUSAL_TEXT_MAX];
    uint32_t count = causal_notes(causal, notes);
    json_t *all = json_array();

    for (uint32_t i = 0; i < count; ++i)
        json_array_append_new(all, json_text(notes[i]));
    return all;
}

static json_t *assumptions_json(const struct causal *causal)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < CAUSAL_ASSUMED_MAX; ++i)
        if (causal->assumed[i] != 0)
            json_array_append_new(
                all,
                json_text(strings_text(&causal->strings, causal->assumed[i])));
    return all;
}

static json_t *checked_json(const struct causal_checked *checked,
                            const char *assumption)
{
    json_t *object = json_object();

    json_set(object, "assumption",
             assumption == NULL ? json_null() : json_text(assumption));
    json_set(object, "checked", json_count(checked->checked));
    json_set(object, "contradictions", json_count(checked->contradictions));
    return object;
}

/* By what is assumed of them; the last: of which nothing is. */
static json_t *agents_json(const struct causal *causal)
{
    const struct causal_checked others = causal_checked_others(causal);
    json_t *all = json_array();

    for (uint32_t i = 0; i < CAUSAL_ASSUMED_MAX; ++i)
        if (causal->assumed[i] != 0)
            json_array_append_new(
                all, checked_json(
                         &causal->checked[i],
                         strings_text(&causal->strings, causal->assumed[i])));
    json_array_append_new(all, checked_json(&others, NULL));
    return all;
}

/* What was not chosen as a target, though it is hot. */
static json_t *untried_json(const struct causal *causal)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < causal->untried_count; ++i) {
        const struct causal_untried *each = &causal->untried[i];
        json_t *object = json_object();
        const char *name = strings_text(&causal->strings, each->name);

        if (each->functions == 0) { /* it was not received */
            json_decref(object);
            continue;
        }
        json_set(object, "function",
                 *name != '\0' ? json_text(name) : json_null());
        json_set(object, "functions", json_count(each->functions));
        json_set(object, "share",
                 each->share > 0 ? json_real(each->share) : json_null());
        json_set(object, "why", json_text(causal_untried_reasons[each->why]));
        json_array_append_new(all, object);
    }
    return all;
}

static json_t *us10_ns(uint64_t us10)
{
    return us10 == 0 ? json_null() : json_real((double)us10 * NS_PER_TENTH);
}

static json_t *change_json(const struct prof_gain *gain, bool known)
{
    json_t *object = json_object();

    json_set(object, "gain", known ? json_real(gain->ppm / PPM) : json_null());
    json_set(object, "interval",
             known ? json_real(gain->interval_ppm / PPM) : json_null());
    return object;
}

/* How long a visit of the first point takes, and what experiments change. */
static json_t *rates_json(const struct causal *causal)
{
    struct prof_rates rates;
    json_t *object;

    if (!causal_rates(causal, &rates))
        return json_null();
    object = json_object();
    json_set(object, "before_ns", us10_ns(rates.us10[PROF_RATE_BEFORE]));
    json_set(object, "during_ns", us10_ns(rates.us10[PROF_RATE_DURING]));
    json_set(object, "after_ns", us10_ns(rates.us10[PROF_RATE_AFTER]));
    json_set(object, "than_before",
             change_json(&rates.gain[PROF_RATE_BEFORE], true));
    json_set(object, "than_after",
             change_json(&rates.gain[PROF_RATE_AFTER],
                         rates.us10[PROF_RATE_AFTER] != 0));
    json_set(object, "changed", json_boolean(rates.changed != 0));
    return object;
}

static json_t *regimes_json(const struct causal *causal)
{
    const struct event_causal_regimes *found = &causal->regimes;
    json_t *object;

    if (found->percent == 0)
        return json_null();
    object = json_object();
    json_set(object, "shorter_ns", cycles_ns(causal, found->shorter));
    json_set(object, "longer_ns", cycles_ns(causal, found->longer));
    json_set(object, "shorter_share", json_real(found->percent / 100.0));
    return object;
}

static json_t *whole_json(const struct causal *causal, const char *title)
{
    const struct event_causal *is = &causal->is;
    json_t *all = json_object(), *points = json_array();

    json_set(all, "title", json_text(title));
    json_set(all, "run", json_count(is->run));
    json_set(all, "running", json_boolean(is->running != 0));
    json_set(all, "experiments", json_count(causal_experiments(causal)));
    json_set(all, "abandoned", json_count(is->abandoned));
    json_set(all, "not_in_stream", json_count(causal_missing(causal)));
    json_set(all, "held", json_count(is->held));
    json_set(all, "held_most", json_count(is->held_most));
    json_set(all, "held_refused", json_count(is->refused));
    json_set(all, "answers", json_count(is->answers));
    json_set(all, "contradictions", json_count(is->contradictions));
    json_set(all, "checked", json_count(is->checked));
    json_set(all, "drained", json_count(is->drained));
    json_set(all, "delay_ns", cycles_ns(causal, is->delay));
    json_set(all, "stolen_ns", cycles_ns(causal, causal->stolen));
    json_set(all, "stolen_waiting_ns", cycles_ns(causal, is->stolen));
    json_set(all, "assumptions", assumptions_json(causal));
    json_set(all, "agents", agents_json(causal));
    json_set(all, "untried", untried_json(causal));
    json_set(all, "rates", rates_json(causal));
    json_set(all, "regimes", regimes_json(causal));
    json_set(all, "notes", notes_json(causal));
    for (uint32_t i = 0; i < causal_points_shown(causal); ++i)
        json_array_append_new(points, point_json(causal, i));
    json_set(all, "points", points);
    json_set(all, "latencies", kinds_json(causal));
    return all;
}

bool causal_write_json(const struct causal *causal, const char *title,
                       FILE *out)
{
    json_t *all = whole_json(causal, title);

    json_print(all, out);
    return ferror(out) == 0;
}

bool causal_write_page(const struct causal *causal, const char *title,
                       FILE *out)
{
    return page_write_head(&page_causal, whole_json(causal, title), NULL, out);
}
