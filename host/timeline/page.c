/* SPDX-License-Identifier: Apache-2.0 */
/* The page: its head and its columns. */

#include "base/json_text.h"
#include "page/page.h"
#include "timeline/clocks.h"
#include "timeline/payload.h"

#include <prof/format.h>
#include <stdlib.h>

static const uint8_t object_kinds[] = {
#define PROF_OBJECT(NAME, name, number, meaning) (number),
#include <prof/events.def>
};

/* The words of the kinds of objects, by their numbers. */
static json_t *types(void)
{
    json_t *list = json_array();
    uint8_t most = 0;

    for (size_t i = 0; i < sizeof object_kinds; ++i)
        if (object_kinds[i] > most)
            most = object_kinds[i];
    for (unsigned kind = 0; kind <= most; ++kind)
        json_array_append_new(list,
                              json_string(tasks_kind_word((uint8_t)kind)));
    return list;
}

static json_t *note(const char *text, const char *reason)
{
    return json_pack("[ss]", text, reason);
}

/* How the clock of (trace) was aligned with the first one. */
static json_t *note_of_clock(const struct timeline_trace *trace)
{
    static const char *const words[] = {
        [TIMELINE_AS_IS] = "Clocks are not aligned",
        [TIMELINE_UTC] = "Clocks are aligned to the second",
        [TIMELINE_PACKETS] = "Clocks are aligned by packets",
    };
    char how[CLOCKS_TEXT_MAX], text[2 * CLOCKS_TEXT_MAX];

    snprintf(text, sizeof text, "%.150s: %s; --shift corrects it", trace->name,
             clocks_text(trace, how));
    return note(words[trace->how], text);
}

/* What the page has to warn of. */
static json_t *notes_of(const struct timeline *timeline)
{
    json_t *notes = json_array();

    for (size_t i = 1; i < timeline->count; ++i)
        json_array_append_new(notes, note_of_clock(&timeline->traces[i]));
    for (size_t i = 0; i < timeline->count; ++i) {
        const struct tasks *tasks = &timeline->traces[i].tasks;

        if (tasks->unkept > 0)
            json_array_append_new(
                notes, note("Some events are not shown",
                            "There are more than the page can hold"));
        for (int kind = 0; kind < TASKS_PROBLEM_KINDS; ++kind)
            if (tasks->problem_counts[kind] > 0) {
                json_array_append_new(notes,
                                      note("The trace contradicts itself",
                                           "parasite info --check says where"));
                break;
            }
    }
    return notes;
}

/* Times of samples count from the first of them. */
static json_int_t samples_shift(const struct timeline *timeline)
{
    return timeline->samples == NULL
               ? 0
               : (json_int_t)(timeline->samples->begin +
                              (uint64_t)timeline->traces[0].shift -
                              timeline->begin);
}

static json_t *head_of(const struct timeline *timeline)
{
    json_t *head = json_object(), *loops = json_array();
    json_t *traces = json_array();
    uint64_t events = 0;

    for (size_t i = 0; i < timeline->count; ++i) {
        events += timeline->traces[i].tasks.events;
        json_array_append_new(
            loops, json_integer(payload_object(timeline, i, TASKS_LOOP)));
        json_array_append_new(
            traces, json_pack("{ss}", "name", timeline->traces[i].name));
    }
    json_set(head, "title", json_string(timeline->title));
    json_set(head, "types", types());
    json_set(head, "loops", loops);
    json_set(head, "traces", traces);
    json_set(head, "clock_hz", json_integer(PROF_CLOCK_HZ));
    json_set(head, "clocks",
             json_integer((json_int_t)(timeline->end - timeline->begin)));
    json_set(head, "events", json_integer((json_int_t)events));
    json_set(head, "notes", notes_of(timeline));
    json_set(head, "has_samples", json_boolean(timeline->samples != NULL));
    json_set(head, "samples_shift", json_integer(samples_shift(timeline)));
    return head;
}

bool timeline_write_page(const struct timeline *timeline, FILE *out)
{
    struct columns columns = {0};

    payload_put(timeline, &columns);
    if (timeline->samples != NULL)
        flame_put_columns(timeline->samples, &columns);
    return page_write_head(&page_timeline, head_of(timeline), &columns, out);
}
