/* SPDX-License-Identifier: Apache-2.0 */
/* A service as a flame graph, whose timeline chooses minutes: the samples of a
 * stack in a minute are those of all guests. */

#include "fleet/fleet.h"

#include "base/checked.h"
#include "base/log.h"
#include "base/memory.h"
#include "fleet/spans.h"
#include "flame/flame.h"

#include <math.h>
#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

/* The timeline has some 400 bars, of which each should have several of the
 * pieces of all minutes; but a page has no more than SAMPLES_MAX for that. */
#define PIECES 4800u
#define SAMPLES_MAX 500000u
#define BUCKET_CLOCKS (STORE_BUCKET_SECONDS * (uint64_t)PROF_CLOCK_HZ)

static uint32_t stack_of(struct flame *flame, const char *folded)
{
    uint32_t at = flame_child(flame, FLAME_NONE, FLAME_NONE);
    char *names = strdup(folded), *next = names;

    if (names == NULL)
        die("out of memory");
    while (next != NULL) {
        char *name = strsep(&next, "\n");

        at = flame_child(flame, at, flame_pseudo(flame, name, ""));
    }
    free(names);
    return flame_stack_at(flame, at, false);
}

/* The accounts of (guests), each CPU of each guest as one. */
static struct flame_whole whole_of(const struct fleet_guests *guests)
{
    struct flame_whole whole = {0};

    for (size_t i = 0; i < guests->count; ++i) {
        const struct fleet_account *account = &guests->list[i].account;

        whole.samples += account->attributed;
        whole.losses[FLAME_MISSED] += account->missed;
        whole.losses[FLAME_DROPPED] += account->dropped;
        whole.losses[FLAME_STOLEN] +=
            account->stolen_ns / (1000000000u / PROF_CLOCK_HZ);
        whole.cpus += guests->list[i].cpus;
    }
    return whole;
}

/* What the page says where it names a trace's machine. */
static const char *guests_text(const struct fleet_guests *guests)
{
    static char text[48];

    snprintf(text, sizeof text, "%zu guest%s", guests->count,
             guests->count == 1 ? "" : "s");
    return text;
}

/* The mean rate of the CPUs, in Hz. */
static double rate_of(const struct fleet_guests *guests)
{
    double ticks = 0, seconds = 0;

    for (size_t i = 0; i < guests->count; ++i) {
        ticks += (double)guests->list[i].account.ticks;
        seconds += (double)guests->list[i].buckets * STORE_BUCKET_SECONDS *
                   (double)guests->list[i].cpus;
    }
    return seconds > 0 ? ticks / seconds : 0;
}

/* Where the pieces of the (row)th stack begin, as a part of a piece: another
 * place for each. Otherwise all pieces of a minute had the same times, and of
 * the timeline's bars, which have unequal numbers of those, every few one were
 * higher. Multiples of the golden ratio are spread evenly, however many there
 * are. */
static double phase_of(size_t row)
{
    double turns = (double)row * 0.6180339887498949;

    return turns - floor(turns);
}

/* Adds the samples of (span), which has (length) clocks, spread evenly: nothing
 * more is known of them. */
static void put_span(struct flame *flame, const struct span *span,
                     uint64_t length, unsigned pieces, double phase)
{
    uint64_t time = span->at * length, samples = 0, clocks = 0;

    if (time + length > flame->end) /* the last one */
        length = flame->end - time;

    for (unsigned i = 1; i <= pieces; ++i) {
        uint64_t now = checked_scale(span->samples, i, pieces);
        uint64_t weight = checked_scale(span->clocks, i, pieces);
        struct flame_sample sample = {
            .time =
                time + (uint64_t)((i - 1 + phase) * (double)length / pieces),
            .clocks = weight - clocks,
            .samples = (uint32_t)(now - samples),
            .stack = span->stack,
        };

        samples = now;
        clocks = weight;
        if (sample.samples > 0 || sample.clocks > 0)
            flame_put_sample(flame, &sample);
    }
}

/* Minutes in which too many stacks were seen become longer ones. */
static void put_spans(struct flame *flame, const struct fleet *fleet,
                      struct spans *spans)
{
    uint32_t minutes = (fleet->until - fleet->since) / STORE_BUCKET_SECONDS;
    unsigned pieces;

    spans_join(spans, SAMPLES_MAX, minutes);
    if (spans->minutes > 1)
        log_info("too many stacks for a page: its timeline has samples of %u "
                 "minutes together",
                 spans->minutes);
    pieces = spans_pieces(spans, minutes, PIECES, SAMPLES_MAX);
    for (size_t i = 0; i < spans->count; ++i)
        put_span(flame, &spans->list[i], spans->minutes * BUCKET_CLOCKS, pieces,
                 phase_of(i));
    free(spans->list);
    flame_sort(flame);
}

static void add_side(struct flame *flame, const struct fleet *fleet,
                     enum flame_side side)
{
    struct store_answer answer;
    struct fleet_guests guests;
    struct spans spans = {.minutes = 1};
    struct flame_whole *whole = &flame->wholes[side];

    fleet_guests(fleet, &guests);
    *whole = whole_of(&guests);
    if (side == FLAME_NEW) {
        flame->hz = rate_of(&guests);
        flame->arch = guests_text(&guests);
    }
    fleet_guests_free(&guests);
    fleet_ask(fleet, "stacks", &answer);
    for (size_t i = 0; i < answer.rows; ++i) {
        struct span span = {
            .at = (uint32_t)(store_u64(&answer, i, 0) - fleet->since) /
                  STORE_BUCKET_SECONDS,
            .stack = stack_of(flame, store_value(&answer, i, 1)),
            .samples = store_u64(&answer, i, 2),
            .clocks = store_u64(&answer, i, 3)};
        struct model_count count = {.samples = span.samples,
                                    .clocks = span.clocks};

        model_count_add(&flame->stacks[span.stack].self[side], &count);
        whole->clocks += span.clocks;
        if (side == FLAME_NEW)
            VECTOR_ADD(spans.list, spans.count, span);
    }
    store_answer_free(&answer);
    if (side == FLAME_NEW)
        put_spans(flame, fleet, &spans);
}

void fleet_flame(const struct fleet *fleet, const char *title,
                 struct flame *flame)
{
    struct fleet side = *fleet;

    *flame = (struct flame){.by_time = true, .arch = ""};
    flame->title = strings_put(&flame->strings, title);
    flame->end = (uint64_t)(fleet->until - fleet->since) * PROF_CLOCK_HZ;
    flame->is_diff = fleet->build_count == 2;
    if (flame->is_diff) {
        side.build_count = 1;
        memcpy(side.builds[0], fleet->builds[1], FLEET_BUILD_HEX);
    }
    add_side(flame, &side, FLAME_NEW);
    if (flame->is_diff) {
        memcpy(side.builds[0], fleet->builds[0], FLEET_BUILD_HEX);
        add_side(flame, &side, FLAME_BASE);
    }
    if (flame_nodes(flame) == 0)
        die("%s: %s: no samples at that time", store_name(fleet->store),
            fleet->service);
    flame_finish(flame);
}
