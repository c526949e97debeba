/* SPDX-License-Identifier: Apache-2.0 */
/* For the viewer of Coz: https://github.com/plasma-umass/coz. An experiment,
 * then each point's visits in it. A target is where Coz has a line of source,
 * and its time in samples of Coz's period. */

#include "base/checked.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "causal/causal.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

#define COZ_SAMPLE_NS 1000000u
#define NS_PER_S 1000000000.0

struct coz {
    const struct causal *causal;
    bool lines;      /* of JSON */
    uint32_t points; /* that are written, of each experiment */
    FILE *out;
};

static uint64_t cycles_ns(const struct coz *coz, uint64_t cycles)
{
    uint64_t hz = coz->causal->tsc_hz;

    return hz == 0 ? cycles
                   : checked_u64((double)cycles * NS_PER_S / (double)hz + 0.5);
}

/* Fields end at a tab, and records at a newline. */
static void put_name(const struct coz *coz, const char *name)
{
    if (coz->lines) {
        json_put(coz->out, name);
        return;
    }
    for (; *name != '\0'; ++name)
        fputc((unsigned char)*name < ' ' ? '?' : *name, coz->out);
}

static void put_experiment(const struct coz *coz, uint32_t target,
                           uint32_t speedup, uint64_t cycles,
                           uint64_t in_target)
{
    const struct causal *causal = coz->causal;
    uint64_t samples = cycles_ns(coz, in_target) / COZ_SAMPLE_NS;

    fputs(coz->lines ? "{\"type\":\"experiment\",\"selected\":"
                     : "experiment\tselected=",
          coz->out);
    put_name(coz, causal_target_name(causal, target));
    fprintf(coz->out,
            coz->lines ? ",\"speedup\":%.2f,\"duration\":%" PRIu64
                         ",\"selected_samples\":%" PRIu64 "}\n"
                       : "\tspeedup=%.2f\tduration=%" PRIu64
                         "\tselected-samples=%" PRIu64 "\n",
            causal->speedups[speedup] / (double)PROF_ONE,
            cycles_ns(coz, cycles), samples);
}

static void put_point(const struct coz *coz, uint32_t point, uint64_t visits)
{
    fputs(coz->lines ? "{\"type\":\"throughput-point\",\"name\":"
                     : "throughput-point\tname=",
          coz->out);
    put_name(coz, causal_point_name(coz->causal, point));
    fprintf(coz->out,
            coz->lines ? ",\"delta\":%" PRIu64 "}\n" : "\tdelta=%" PRIu64 "\n",
            visits);
}

static uint32_t points_written(const struct causal *causal)
{
    uint32_t points = causal_points_shown(causal), most = points;

    if (causal->record_count != 0)
        most = CAUSAL_COZ_LINES_MAX / causal->record_count;
    if (most < points)
        points = most;
    if (points < causal->point_numbers.count)
        log_info("not written: %" PRIu32 " of %" PRIu32 " points of progress",
                 causal->point_numbers.count - points,
                 causal->point_numbers.count);
    return points;
}

static void put_record(const struct coz *coz,
                       const struct causal_record *record, uint32_t *visits)
{
    const struct causal *causal = coz->causal;

    memset(visits, 0, coz->points * sizeof *visits);
    for (uint32_t i = 0; i < record->event.points; ++i) {
        const struct causal_visits *each = &causal->visits[record->visits + i];

        if (each->point < coz->points)
            visits[each->point] = each->visits;
    }
    put_experiment(coz, record->target, record->event.speedup,
                   record->event.virtual_time, record->event.in_target);
    for (uint32_t i = 0; i < coz->points; ++i)
        put_point(coz, i, visits[i]);
}

/* One request at a time, for as long as all of them took. */
static void put_latency(const struct coz *coz, uint32_t kind, uint32_t target,
                        const struct event_causal_latency *event)
{
    char name[CAUSAL_TEXT_MAX];

    snprintf(name, sizeof name, "latency of %s",
             causal_kind_name(coz->causal, kind));
    put_experiment(coz, target, event->speedup, event->total, 0);
    fputs(coz->lines ? "{\"type\":\"latency-point\",\"name\":"
                     : "latency-point\tname=",
          coz->out);
    put_name(coz, name);
    fprintf(coz->out,
            coz->lines ? ",\"arrivals\":%" PRIu32 ",\"departures\":%" PRIu32
                         ",\"difference\":1}\n"
                       : "\tarrivals=%" PRIu32 "\tdepartures=%" PRIu32
                         "\tdifference=1\n",
            event->requests, event->requests);
}

static void put_latencies(const struct coz *coz)
{
    const struct causal *causal = coz->causal;

    for (uint32_t kind = 0; kind < causal_kinds_shown(causal); ++kind)
        for (uint32_t i = 0; i < causal->target_numbers.count; ++i)
            for (uint32_t j = 0; j < causal->speedup_count; ++j) {
                const struct causal_latency *found =
                    causal_latency(causal, i, j, kind);

                if (found != NULL && found->event.requests != 0)
                    put_latency(coz, kind, i, &found->event);
            }
}

/* The time of all experiments, and the samples in each target. */
static void put_end(const struct coz *coz, const uint64_t *in_target,
                    uint64_t real)
{
    fprintf(coz->out,
            coz->lines ? "{\"type\":\"runtime\",\"time\":%" PRIu64 "}\n"
                       : "runtime\ttime=%" PRIu64 "\n",
            cycles_ns(coz, real));
    for (uint32_t i = 0; i < coz->causal->target_numbers.count; ++i) {
        fputs(coz->lines ? "{\"type\":\"samples\",\"location\":"
                         : "samples\tlocation=",
              coz->out);
        put_name(coz, causal_target_name(coz->causal, i));
        fprintf(coz->out,
                coz->lines ? ",\"count\":%" PRIu64 "}\n"
                           : "\tcount=%" PRIu64 "\n",
                cycles_ns(coz, in_target[i]) / COZ_SAMPLE_NS);
    }
}

bool causal_write_coz(const struct causal *causal, bool lines, FILE *out)
{
    const struct coz coz = {causal, lines, points_written(causal), out};
    uint32_t *visits =
        xreallocarray(NULL, causal->point_numbers.count + 1, sizeof *visits);
    uint64_t *in_target = xreallocarray(NULL, causal->target_numbers.count + 1,
                                        sizeof *in_target);
    uint64_t real = 0;

    memset(in_target, 0,
           (causal->target_numbers.count + 1) * sizeof *in_target);
    fputs(lines ? "{\"type\":\"startup\",\"time\":0}\n" : "startup\ttime=0\n",
          out);
    for (uint32_t i = 0; i < causal->record_count; ++i) {
        const struct event_causal_experiment *event = &causal->records[i].event;

        if (event->reason != 0 || causal->records[i].target == INDEX_NONE ||
            event->speedup >= causal->speedup_count)
            continue;
        in_target[causal->records[i].target] += event->in_target;
        real += event->real_time;
        put_record(&coz, &causal->records[i], visits);
    }
    put_latencies(&coz);
    put_end(&coz, in_target, real);
    free(visits);
    free(in_target);
    return ferror(out) == 0;
}
