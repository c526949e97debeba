/* SPDX-License-Identifier: Apache-2.0 */

#include "timeline/svg_counters.h"

#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define COLOURS 6u
#define GAP 18.0  /* above a lane */
#define MOST 10.0 /* of a scale, at least */
#define NAME_HIGH 13.0
#define MARK_BELOW 3.0 /* the middle of an object's line */
#define MARK_HIGH 5
#define TEXT_ROOM 100 /* characters of a name */

static const char style[] =
    "<style>\n"
    ".c{fill:none;stroke-width:1.5}.m{fill:none;stroke-width:2}"
    ".n{font-weight:600}\n"
    ".c0{--c:#0b57c4}.c1{--c:#c05600}.c2{--c:#00795a}"
    ".c3{--c:#a04481}.c4{--c:#1b2130}.c5{--c:#a8941a}\n"
    "@media(prefers-color-scheme:dark){.c0{--c:#6fb1ff}.c1{--c:#ff9a4d}"
    ".c2{--c:#35c79a}.c3{--c:#f09ad0}.c4{--c:#e7eaf0}.c5{--c:#d9c64a}}\n"
    ".c,.m{stroke:var(--c)}text.n{fill:var(--c)}\n"
    "</style>\n";

/* ---- what there is */

/* The number of the scale of a counter: names that differ only behind their
 * last number sign share one. */
static uint32_t scale_of(struct svg_counters *counters, const char *text)
{
    const char *sign = strrchr(text, '#');
    size_t length = sign != NULL ? (size_t)(sign - text) : strlen(text);
    char *key = xreallocarray(NULL, length + 1, 1);
    uint32_t number;

    memcpy(key, text, length);
    key[length] = '\0';
    number = strings_put(&counters->keys, key);
    free(key);
    return number;
}

static struct svg_counter *counter_of(struct svg_counters *counters,
                                      const struct timeline *timeline,
                                      size_t trace, uint16_t name)
{
    const struct tasks *tasks = &timeline->traces[trace].tasks;
    bool is_new;
    uint32_t number = index_add(&counters->numbers,
                                index_pair((uint32_t)trace, name), &is_new);

    if (is_new) {
        const char *text = guest_names_text(&tasks->names, name);

        vector_reserve_one(&counters->all, number, sizeof *counters->all);
        counters->all[number] =
            (struct svg_counter){.trace = trace,
                                 .text = strings_put(&counters->texts, text),
                                 .scale = scale_of(counters, text)};
    }
    return &counters->all[number];
}

void svg_counters_open(struct svg_counters *counters,
                       const struct timeline *timeline)
{
    uint32_t scales = 0;

    for (size_t t = 0; t < timeline->count; ++t) {
        const struct tasks *tasks = &timeline->traces[t].tasks;

        for (uint32_t i = 0; i < tasks->counter_count; ++i) {
            const struct tasks_counter *step = &tasks->counters[i];
            double value = (double)step->value;
            uint32_t scale =
                counter_of(counters, timeline, t, step->name)->scale;

            for (; scales <= scale; ++scales) {
                vector_reserve_one(&counters->scales, scales,
                                   sizeof *counters->scales);
                counters->scales[scales] = (struct svg_scale){0, MOST};
            }
            if (value < counters->scales[scale].least)
                counters->scales[scale].least = value;
            if (value > counters->scales[scale].most)
                counters->scales[scale].most = value;
        }
    }
}

void svg_counters_close(struct svg_counters *counters)
{
    index_free(&counters->numbers);
    free(counters->all);
    strings_free(&counters->texts);
    strings_free(&counters->keys);
    free(counters->scales);
}

bool svg_counters_in(const struct svg_counters *counters, size_t trace)
{
    for (uint32_t i = 0; i < counters->numbers.count; ++i)
        if (counters->all[i].trace == trace)
            return true;
    return false;
}

/* ---- drawing */

void svg_counters_put_style(const struct svg_counters *counters, FILE *out)
{
    if (counters->numbers.count > 0)
        fputs(style, out);
}

/* Texts count from 1: 0 is the empty one. */
static unsigned colour_of(const struct svg_counter *counter)
{
    return (counter->text > 0 ? counter->text - 1 : 0) % COLOURS;
}

/* The steps of a trace by its counters: in their order, those of counter number
 * n, an index of counters->all, are list[from[n]] up to list[from[n + 1]]. */
struct by_counter {
    uint32_t *list;
    uint32_t *from;
};

static struct by_counter steps_of(const struct svg_counters *counters,
                                  const struct tasks *tasks, size_t trace)
{
    uint32_t count = counters->numbers.count;
    struct by_counter by = {
        .list = xreallocarray(NULL, tasks->counter_count + 1, sizeof *by.list),
        .from = xreallocarray(NULL, count + 2, sizeof *by.from)};

    memset(by.from, 0, (count + 2) * sizeof *by.from);
    for (int pass = 0; pass < 2; ++pass) {
        for (uint32_t i = 0; i < tasks->counter_count; ++i) {
            uint32_t number = index_find(
                &counters->numbers,
                index_pair((uint32_t)trace, tasks->counters[i].name));

            if (pass == 0)
                ++by.from[number + 2];
            else
                by.list[by.from[number + 1]++] = i;
        }
        for (uint32_t n = 1; pass == 0 && n <= count; ++n)
            by.from[n + 1] += by.from[n];
    }
    return by;
}

static double y_of_value(const struct svg_scale *scale, double value,
                         double top)
{
    return top + (SVG_LANE - GAP) * (scale->most - value) /
                     (scale->most - scale->least);
}

struct point {
    double x, y;
};

static void put_point(const struct point *point, bool is_first, FILE *out)
{
    fprintf(out, is_first ? "M%.1f %.1f" : "H%.1fV%.1f", point->x, point->y);
}

/* Draws the line of a counter with the (count) steps of (list), and returns
 * where it is at the right; negative: it begins later. Of steps that are less
 * than half a pixel apart only the last is drawn. */
static double put_line(const struct svg_counters *counters,
                       const struct svg_counter *counter,
                       const struct tasks *tasks, const uint32_t *list,
                       uint32_t count, const struct svg_place *place)
{
    const struct svg_scale *scale = &counters->scales[counter->scale];
    struct point last = {place->x_of(place->owner, tasks->counters[*list].time),
                         0};
    bool is_first = true;

    if (last.x > place->width)
        return -1;
    fprintf(place->out, "<path class=\"c c%u\" d=\"", colour_of(counter));
    for (uint32_t i = 0; i < count; ++i) {
        const struct tasks_counter *step = &tasks->counters[list[i]];
        double x = place->x_of(place->owner, step->time);

        if (x - last.x >= 0.5) {
            put_point(&last, is_first, place->out);
            is_first = false;
            last.x = x;
        }
        last.y = y_of_value(scale, (double)step->value, place->lane + GAP);
    }
    put_point(&last, is_first, place->out);
    fprintf(place->out, "H%.1f\"/>\n", place->width);
    return last.y;
}

/* On the lines of objects; those of one place are one. */
static void put_marks(const struct svg_counter *counter,
                      const struct tasks *tasks, const uint32_t *list,
                      uint32_t count, const struct svg_place *place)
{
    struct index seen = {0};

    for (uint32_t i = 0; i < count; ++i) {
        const struct tasks_counter *step = &tasks->counters[list[i]];
        double x = place->x_of(place->owner, step->time);
        double y = place->y_of(place->owner, step->object);
        bool is_new;

        if (y < 0 || x < 0 || x > place->width)
            continue;
        /* each interrupt is another object, on one line */
        index_add(&seen, index_pair((uint32_t)(x * 2), (uint32_t)(y * 2)),
                  &is_new);
        if (!is_new)
            continue;
        if (seen.count == 1)
            fprintf(place->out, "<path class=\"m c%u\" d=\"",
                    colour_of(counter));
        fprintf(place->out, "M%.1f %.1fv%d", x, y + MARK_BELOW, MARK_HIGH);
    }
    if (seen.count > 0)
        fputs("\"/>\n", place->out);
    index_free(&seen);
}

/* What is written at the right of a lane. */
struct label {
    double y; /* of the line there */
    const struct svg_counter *counter;
};

static int by_y(const void *a, const void *b)
{
    const struct label *one = a, *other = b;

    if (one->y != other->y)
        return one->y < other->y ? -1 : 1;
    return one->counter < other->counter ? -1 : 1;
}

/* Each beside its line, as far as they have room below each other. */
static void put_names(const struct svg_counters *counters, struct label *labels,
                      size_t count, const struct svg_place *place)
{
    double bottom = place->lane + SVG_LANE, until = place->lane + GAP - 7;

    qsort(labels, count, sizeof *labels, by_y);
    for (size_t i = 0; i < count; ++i) {
        const struct svg_counter *counter = labels[i].counter;
        double last = bottom - NAME_HIGH * (double)(count - i - 1);
        double y = labels[i].y - 4 < last ? labels[i].y - 4 : last;

        until = until + NAME_HIGH > y ? until + NAME_HIGH : y;
        if (until > bottom)
            return;
        fprintf(place->out,
                "<text class=\"n c%u\" x=\"%.0f\" y=\"%.1f\" "
                "text-anchor=\"end\">",
                colour_of(counter), place->width - 8, until);
        xml_put(place->out, strings_text(&counters->texts, counter->text),
                TEXT_ROOM);
        fprintf(place->out, ", up to %.0f</text>\n",
                counters->scales[counter->scale].most);
    }
}

void svg_counters_put(const struct svg_counters *counters,
                      const struct timeline *timeline,
                      const struct svg_place *place)
{
    const struct tasks *tasks = &timeline->traces[place->trace].tasks;
    struct by_counter steps;
    struct label *labels;
    size_t names = 0;

    if (!svg_counters_in(counters, place->trace))
        return;
    steps = steps_of(counters, tasks, place->trace);
    labels = xreallocarray(NULL, counters->numbers.count, sizeof *labels);
    fprintf(place->out, "<path class=\"g\" d=\"M0 %.1fH%.0f\"/>\n",
            place->lane + GAP / 2, place->width);
    for (uint32_t n = 0; n < counters->numbers.count; ++n) {
        const struct svg_counter *counter = &counters->all[n];
        const uint32_t *list = steps.list + steps.from[n];
        uint32_t count = steps.from[n + 1] - steps.from[n];
        double y;

        if (count == 0)
            continue; /* of another trace */
        put_marks(counter, tasks, list, count, place);
        y = put_line(counters, counter, tasks, list, count, place);
        if (y >= 0)
            labels[names++] = (struct label){y, counter};
    }
    put_names(counters, labels, names, place);
    free(labels);
    free(steps.list);
    free(steps.from);
}
