/* SPDX-License-Identifier: Apache-2.0 */
/* The page: its head and its columns. */

#include "base/log.h"
#include "page/page.h"
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

/* What the page has to warn of. */
static json_t *notes_of(const struct timeline *timeline)
{
    json_t *notes = json_array();

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

static json_t *head_of(const struct timeline *timeline, json_t *columns)
{
    json_t *loops = json_array(), *traces = json_array();
    uint64_t events = 0;

    for (size_t i = 0; i < timeline->count; ++i) {
        events += timeline->traces[i].tasks.events;
        json_array_append_new(
            loops, json_integer(payload_object(timeline, i, TASKS_LOOP)));
        json_array_append_new(
            traces, json_pack("{ss}", "name", timeline->traces[i].name));
    }
    return json_pack(
        "{sssosososIsIsIsoso}", "title", timeline->title, "types", types(),
        "loops", loops, "traces", traces, "clock_hz", (json_int_t)PROF_CLOCK_HZ,
        "clocks", (json_int_t)(timeline->end - timeline->begin), "events",
        (json_int_t)events, "notes", notes_of(timeline), "columns", columns);
}

bool timeline_write_page(const struct timeline *timeline, FILE *out)
{
    struct columns columns = {0};
    json_t *head;
    char *text;
    bool fine;

    payload_put(timeline, &columns);
    head = head_of(timeline, columns_list(&columns));
    text = json_dumps(head, JSON_COMPACT);
    if (text == NULL)
        die("cannot encode the page's head as JSON");
    fine = page_write(&page_timeline, text, columns.bytes, columns.used, out);
    free(text);
    json_decref(head);
    columns_free(&columns);
    return fine;
}
