/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: its head and its columns; docs/timeline.md lists them. What the
 * page can find out from other columns is left out: when an object was created,
 * and by whom, if its creation is an edge; when it ended, if that is one; when
 * a stretch ended, if the object's next one or its end follows at once.
 */

#include "base/checked.h"
#include "base/json.h"
#include "base/memory.h"
#include "page/columns.h"
#include "page/page.h"
#include "tasks/sites.h"
#include "timeline/clocks.h"

#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

/* ---- names */

/*
 * The names of all traces as one list for the page: 0 is none, the others in
 * the order in which they are first asked for.
 */

struct word {
    const char *text;
    const char *file; /* "" if it is no place in the source */
    uint32_t line;
};

/* Starts as zeros, but for the timeline. */
struct words {
    const struct timeline *timeline;
    struct index numbers; /* of (trace, name) */
    struct word *all;
};

/* The page's number of the name (name) of the trace number (trace). */
static uint32_t word_number(struct words *words, size_t trace, uint16_t name)
{
    const struct guest_names *names;
    bool is_new;
    uint32_t number;

    if (name == 0)
        return 0;
    names = &words->timeline->traces[trace].tasks.names;
    number =
        index_add(&words->numbers, index_pair((uint32_t)trace, name), &is_new);
    if (is_new) {
        vector_reserve_one(&words->all, number, sizeof *words->all);
        words->all[number] = (struct word){
            .text = guest_names_text(names, name),
            .file = guest_names_file(names, name),
            .line = guest_names_line(names, name),
        };
    }
    return number + 1;
}

static const char *text_of(const struct word *word, bool file)
{
    return file ? word->file : word->text;
}

static void put_words(const struct words *words, struct columns *columns)
{
    uint32_t count = words->numbers.count;

    columns_begin(columns, "word.line");
    columns_put(columns, 0);
    for (uint32_t i = 0; i < count; ++i)
        columns_put(columns, words->all[i].line);
    /* texts first, then files, both with that of no name */
    columns_begin(columns, "word.bytes");
    for (int files = 0; files < 2; ++files) {
        columns_put(columns, 0);
        for (uint32_t i = 0; i < count; ++i)
            columns_put(columns, strlen(text_of(&words->all[i], files)));
    }
    columns_begin(columns, "word.text");
    for (int files = 0; files < 2; ++files)
        for (uint32_t i = 0; i < count; ++i)
            columns_put_text(columns, text_of(&words->all[i], files));
}

static void free_words(struct words *words)
{
    index_free(&words->numbers);
    free(words->all);
}

/* ---- columns */

enum { SEEN_CREATION = 1, SEEN_END = 2, RESTS = 4 };

/* Parts of all traces are numbered from 0. */
static uint32_t first_part(const struct timeline *timeline, size_t trace)
{
    uint32_t number = 0;

    for (size_t i = 0; i < trace; ++i)
        number += timeline->traces[i].parts.count;
    return number;
}

static uint32_t part_of_cpu(const struct timeline *timeline, size_t trace,
                            uint16_t cpu)
{
    return first_part(timeline, trace) +
           parts_of_cpu(&timeline->traces[trace].parts, cpu);
}

/* After all objects of all traces: the vectors of each part. */
static uint32_t vector_number(const struct timeline *timeline, size_t trace,
                              const struct tasks_irq *irq)
{
    const struct timeline_parts *parts = &timeline->traces[trace].parts;
    uint32_t part = parts_of_cpu(parts, irq->cpu);
    uint32_t number = 1 + parts->all[part].vectors.place[irq->vector];

    for (size_t i = 0; i < timeline->count; ++i)
        number += tasks_objects(&timeline->traces[i].tasks);
    for (size_t i = 0; i < trace; ++i)
        for (uint32_t p = 0; p < timeline->traces[i].parts.count; ++p)
            number += timeline->traces[i].parts.all[p].vectors.count;
    for (uint32_t p = 0; p < part; ++p)
        number += parts->all[p].vectors.count;
    return number;
}

/* Objects of all traces are numbered from 1; 0 is none. What an interrupt does
 * is done by its vector. */
static uint32_t object_number(const struct timeline *timeline, size_t trace,
                              uint32_t object)
{
    const struct tasks *tasks = &timeline->traces[trace].tasks;
    uint32_t number = 1;

    if (tasks_is_irq(tasks, object))
        return vector_number(timeline, trace,
                             &tasks->irqs[object ^ TASKS_INTERRUPT]);
    if (object >= TASKS_INTERRUPT || object == TASKS_NOBODY)
        return 0;
    for (size_t i = 0; i < trace; ++i)
        number += tasks_objects(&timeline->traces[i].tasks);
    return number + object;
}

/* What the columns are made of. */
struct source {
    const struct timeline *timeline;
    struct words words;
    uint8_t **seen; /* of each trace's objects */
    struct columns *columns;
};

/* Runs the statement for each (record) of all traces, with (i), its number,
 * (tasks) and (t), the trace's number. */
#define EACH(vector, count_, statement)                                        \
    for (size_t t = 0; t < source->timeline->count; ++t) {                     \
        const struct tasks *tasks = &source->timeline->traces[t].tasks;        \
        size_t records = (count_);                                             \
        (void)tasks;                                                           \
        for (size_t i = 0; i < records; ++i) {                                 \
            const __typeof__(*tasks->vector) *record = &tasks->vector[i];      \
            (void)record;                                                      \
            statement;                                                         \
        }                                                                      \
    }

/* One column: (number) of each record. */
#define COLUMN(name, put, vector, count_, number)                              \
    columns_begin(source->columns, name);                                      \
    EACH(vector, count_, put(source->columns, number))

/* Whether the trace has several CPUs: then records say on which they were. */
static bool has_cpus(const struct source *source, size_t trace)
{
    return source->timeline->traces[trace].parts.count > 1;
}

static uint64_t time_of(const struct source *source, size_t t, uint64_t time)
{
    return time + (uint64_t)source->timeline->traces[t].shift -
           source->timeline->begin;
}

#define TIME(time) time_of(source, t, time)
#define OBJECT(object) object_number(source->timeline, t, object)
#define PART(cpu) part_of_cpu(source->timeline, t, cpu)
#define NAME(name) word_number(&source->words, t, name)

/* Which objects have edges that say when they began and ended, and which only
 * rest in the end. */
static void find_seen(struct source *source)
{
    source->seen =
        xreallocarray(NULL, source->timeline->count, sizeof *source->seen);
    for (size_t t = 0; t < source->timeline->count; ++t) {
        const struct tasks *tasks = &source->timeline->traces[t].tasks;
        uint8_t *seen = xreallocarray(NULL, tasks_objects(tasks), 1);
        bool *rests = tasks_resting(tasks);

        for (uint32_t i = 0; i < tasks_objects(tasks); ++i)
            seen[i] =
                rests[i] || (i >= TASKS_SPECIAL && tasks_is_loop(tasks, i))
                    ? RESTS
                    : 0;
        free(rests);
        for (uint32_t i = 0; i < tasks->edge_count; ++i) {
            const struct tasks_edge *edge = &tasks->edges[i];
            const struct tasks_object *object;

            if (edge->to >= tasks_objects(tasks))
                continue;
            object = &tasks->objects[edge->to];
            if (edge->kind == TASKS_CREATE && edge->time == object->begin)
                seen[edge->to] |= SEEN_CREATION;
            if ((edge->kind == TASKS_RESOLVE || edge->kind == TASKS_FAIL ||
                 edge->kind == TASKS_CANCEL) &&
                edge->time == object->end)
                seen[edge->to] |= SEEN_END;
        }
        source->seen[t] = seen;
    }
}

#define OBJECTS(name, put, number)                                             \
    COLUMN(name, put, objects, tasks_objects(tasks), number)

/* The same for objects for which (condition). */
#define SOME_OBJECTS(name, put, condition, number)                             \
    columns_begin(source->columns, name);                                      \
    EACH(objects, tasks_objects(tasks),                                        \
         if (condition) put(source->columns, number))

/* What has not ended lasts until the end of the trace. */
static uint64_t life_of(const struct tasks *tasks,
                        const struct tasks_object *object)
{
    uint64_t end = object->end == TASKS_NEVER ? tasks->end : object->end;

    return end > object->begin ? end - object->begin : 0;
}

/* The guest's number, or that of a loop's CPU. */
static uint32_t id_of(const struct tasks *tasks, uint32_t object)
{
    uint32_t id = tasks->objects[object].id;

    return object >= TASKS_SPECIAL && tasks_is_loop(tasks, object)
               ? id - TASKS_LOOPS
               : id;
}

static void put_objects(struct source *source)
{
    OBJECTS("object.kind", columns_put, record->kind);
    OBJECTS("object.ending", columns_put, record->ending);
    OBJECTS("object.seen", columns_put, source->seen[t][i]);
    OBJECTS("object.id", columns_put_change, id_of(tasks, (uint32_t)i));
    OBJECTS("object.site", columns_put, NAME(record->site));
    OBJECTS("object.label", columns_put, NAME(record->label));
    OBJECTS("object.why", columns_put,
            record->ending == TASKS_FAILED ? NAME(record->why) : 0);
    OBJECTS("object.becomes", columns_put, OBJECT(record->becomes));
    SOME_OBJECTS("object.begin", columns_put_change,
                 !(source->seen[t][i] & SEEN_CREATION), TIME(record->begin));
    SOME_OBJECTS("object.creator", columns_put,
                 !(source->seen[t][i] & SEEN_CREATION),
                 OBJECT(record->creator));
    SOME_OBJECTS("object.life", columns_put, !(source->seen[t][i] & SEEN_END),
                 life_of(tasks, record));
    SOME_OBJECTS("object.part", columns_put, has_cpus(source, t),
                 first_part(source->timeline, t) +
                     parts_of_object(&source->timeline->traces[t].parts, tasks,
                                     (uint32_t)i));
}

/* One more, for 0 has a meaning. */
static uint64_t length_of(const struct tasks_stretch *stretch)
{
    return checked_add(1, checked_sub(stretch->to, stretch->from));
}

/* Whether the stretch (i) is followed at once by another one of its object, or
 * ends with it. */
static bool *followed_of(const struct tasks *tasks)
{
    bool *followed = xreallocarray(NULL, tasks->stretch_count + 1, 1);

    for (uint32_t i = 0; i < tasks->stretch_count; ++i) {
        const struct tasks_stretch *stretch = &tasks->stretches[i];

        followed[i] = stretch->to == tasks->objects[stretch->object].end;
        if (stretch->before != TASKS_NONE)
            followed[stretch->before] =
                tasks->stretches[stretch->before].to == stretch->from;
    }
    return followed;
}

#define SPANS(name, put, number)                                               \
    COLUMN(name, put, stretches, tasks->stretch_count, number)

static void put_spans(struct source *source)
{
    SPANS("span.from", columns_put_change, TIME(record->from));
    SPANS("span.object", columns_put_change, OBJECT(record->object));
    SPANS("span.state", columns_put, record->state);
    SPANS("span.other", columns_put,
          record->state == TASKS_WAITING || record->state == TASKS_READY
              ? OBJECT(record->other)
              : 0);
    SPANS("span.stack", columns_put,
          waits_of(&source->timeline->waits, t, record));
    SPANS("span.why", columns_put, NAME(record->why));
    columns_begin(source->columns, "span.part");
    EACH(stretches, tasks->stretch_count,
         if (has_cpus(source, t) && record->state == TASKS_RUNNING)
             columns_put(source->columns, PART(record->cpu)));
    columns_begin(source->columns, "span.length");
    for (size_t t = 0; t < source->timeline->count; ++t) {
        const struct tasks *tasks = &source->timeline->traces[t].tasks;
        bool *followed = followed_of(tasks);

        /* 0: the next one, or the end, says it */
        for (uint32_t i = 0; i < tasks->stretch_count; ++i)
            columns_put(source->columns,
                        followed[i] ? 0 : length_of(&tasks->stretches[i]));
        free(followed);
    }
}

#define EDGES(name, put, number)                                               \
    COLUMN(name, put, edges, tasks->edge_count, number)

static void put_edges(struct source *source)
{
    EDGES("edge.time", columns_put_change, TIME(record->time));
    EDGES("edge.kind", columns_put, record->kind);
    EDGES("edge.from", columns_put_change, OBJECT(record->from));
    EDGES("edge.to", columns_put_change, OBJECT(record->to));
    EDGES("edge.by", columns_put, OBJECT(record->by));
}

#define LABELS(name, put, number)                                              \
    COLUMN(name, put, labels, tasks->label_count, number)
#define COUNTERS(name, put, number)                                            \
    COLUMN(name, put, counters, tasks->counter_count, number)
#define PAUSES(name, put, number)                                              \
    COLUMN(name, put, pauses, tasks->pause_count, number)
#define LOSSES(name, put, number)                                              \
    COLUMN(name, put, losses, tasks->loss_count, number)
#define STOLEN(name, put, number)                                              \
    COLUMN(name, put, stolen, tasks->stolen_count, number)

static void put_marks(struct source *source)
{
    LABELS("label.time", columns_put_change, TIME(record->time));
    LABELS("label.object", columns_put, OBJECT(record->object));
    LABELS("label.name", columns_put, NAME(record->name));
    COUNTERS("counter.time", columns_put_change, TIME(record->time));
    COUNTERS("counter.name", columns_put, NAME(record->name));
    COUNTERS("counter.trace", columns_put, t);
    COUNTERS("counter.object", columns_put, OBJECT(record->object));
    COUNTERS("counter.value", columns_put_signed, record->value);
    PAUSES("pause.from", columns_put_change, TIME(record->from));
    PAUSES("pause.length", columns_put, checked_sub(record->to, record->from));
    PAUSES("pause.why", columns_put, NAME(record->why));
    PAUSES("pause.part", columns_put, PART(record->cpu));
    LOSSES("loss.from", columns_put_change, TIME(record->from));
    LOSSES("loss.length", columns_put, checked_sub(record->to, record->from));
    LOSSES("loss.events", columns_put, record->events);
    LOSSES("loss.part", columns_put, PART(record->cpu));
    STOLEN("stolen.from", columns_put_change, TIME(record->from));
    STOLEN("stolen.length", columns_put, checked_sub(record->to, record->from));
    STOLEN("stolen.part", columns_put, PART(record->cpu));
}

#define IRQS(name, put, number)                                                \
    COLUMN(name, put, irqs, tasks->irq_count, number)

/* Of the times of an interrupt (time), since it began, one more; 0 = never. */
static uint64_t since_irq(const struct tasks_irq *irq, uint64_t time)
{
    return time == TASKS_NEVER || time == 0
               ? 0
               : checked_add(1, checked_sub(time, irq->from));
}

static void put_irqs(struct source *source)
{
    static const char *const names[] = {"irq.to", "irq.deferred", "irq.ran"};

    IRQS("irq.from", columns_put_change, TIME(record->from));
    IRQS("irq.length", columns_put,
         record->to == TASKS_NEVER ? 0 : checked_sub(record->to, record->from));
    IRQS("irq.vector", columns_put, vector_number(source->timeline, t, record));
    IRQS("irq.in", columns_put, OBJECT(record->object));
    IRQS("irq.woke", columns_put, since_irq(record, record->woke));
    for (int part = 0; part < 3; ++part) {
        columns_begin(source->columns, names[part]);
        for (size_t t = 0; t < source->timeline->count; ++t) {
            const struct tasks *tasks = &source->timeline->traces[t].tasks;
            struct tasks_served *served = tasks_served(tasks);

            for (uint32_t i = 0; i < tasks->irq_count; ++i)
                columns_put(source->columns,
                            part == 0 ? OBJECT(served[i].object)
                            : part == 1
                                ? since_irq(&tasks->irqs[i], served[i].left)
                                : since_irq(&tasks->irqs[i], served[i].ran));
            free(served);
        }
    }
}

/* A packet between two traces: when it was sent and received, and by which
 * object. */
static void put_packets(struct source *source)
{
    const struct timeline *timeline = source->timeline;
    static const char *const names[] = {"packet.sent", "packet.received",
                                        "packet.from", "packet.to"};

    for (int column = 0; column < 4; ++column) {
        columns_begin(source->columns, names[column]);
        for (size_t i = 0; i < timeline->packet_count; ++i) {
            const struct timeline_packet *packet = &timeline->packets[i];
            bool is_sent = column % 2 == 0;
            size_t t = is_sent ? packet->from : packet->to;
            const struct tasks_message *message =
                &timeline->traces[t]
                     .tasks.messages[is_sent ? packet->sent : packet->received];

            if (column < 2)
                columns_put_change(source->columns, TIME(message->time));
            else
                columns_put_change(source->columns, OBJECT(message->object));
        }
    }
}

static void put_columns(const struct timeline *timeline,
                        struct columns *columns)
{
    struct source whole = {
        .timeline = timeline, .words.timeline = timeline, .columns = columns};
    struct source *source = &whole;

    find_seen(source);
    put_objects(source);
    put_spans(source);
    put_edges(source);
    put_marks(source);
    put_irqs(source);
    put_packets(source);
    waits_put(&timeline->waits, columns);
    put_words(&source->words, columns);
    free_words(&source->words);
    for (size_t t = 0; t < timeline->count; ++t)
        free(source->seen[t]);
    free(source->seen);
}

/* ---- the head */

static const uint8_t object_kinds[] = {
#define PROF_OBJECT(NAME, name, number, meaning) (number),
#include <prof/events.def>
};

/* The words of the kinds of objects, by their numbers. */
static json_t *kind_words(void)
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

static json_t *note_of(const char *text, const char *reason)
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
    return note_of(words[trace->how], text);
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
                notes, note_of("Some events are not shown",
                               "There are more than the page can hold"));
        for (int kind = 0; kind < TASKS_PROBLEM_KINDS; ++kind)
            if (tasks->problem_counts[kind] > 0) {
                json_array_append_new(
                    notes, note_of("The trace contradicts itself",
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

/* Part (number) of a trace, and its vectors. */
static void add_part(const struct timeline *timeline, size_t trace,
                     uint32_t number, json_t *parts, json_t *vectors)
{
    const struct timeline_part *part =
        &timeline->traces[trace].parts.all[number];
    uint32_t loop = part->loop == TASKS_NONE
                        ? 0
                        : object_number(timeline, trace, part->loop);

    json_array_append_new(parts,
                          json_pack("{sisisi}", "trace", (int)trace, "cpu",
                                    (int)part->cpu, "loop", (int)loop));
    for (uint32_t i = 0; i < part->vectors.count; ++i)
        json_array_append_new(
            vectors,
            json_pack("[ii]", (int)(first_part(timeline, trace) + number),
                      part->vectors.all[i]));
}

static json_t *head_of(const struct timeline *timeline)
{
    json_t *head = json_object(), *traces = json_array();
    json_t *parts = json_array(), *vectors = json_array();
    uint64_t events = 0;

    for (size_t i = 0; i < timeline->count; ++i) {
        events += timeline->traces[i].tasks.events;
        json_array_append_new(
            traces,
            json_pack("{sssi}", "name", timeline->traces[i].name, "first",
                      (int)object_number(timeline, i, TASKS_LOOP)));
        for (uint32_t p = 0; p < timeline->traces[i].parts.count; ++p)
            add_part(timeline, i, p, parts, vectors);
    }
    json_set(head, "title", json_string(timeline->title));
    json_set(head, "types", kind_words());
    json_set(head, "traces", traces);
    json_set(head, "parts", parts);
    json_set(head, "vectors", vectors); /* the objects after all others */
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
    struct page_picture picture = {0};
    struct timeline_drawing *drawing = timeline_drawing_open(timeline);

    page_picture_draw(&picture, timeline_draw_less, drawing);
    timeline_drawing_close(drawing);
    put_columns(timeline, &columns);
    if (timeline->samples != NULL)
        flame_put_columns(timeline->samples, &columns);
    return page_write_pictured(&page_timeline, head_of(timeline), &columns,
                               &picture, out);
}
