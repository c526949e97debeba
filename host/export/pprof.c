/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof's profile.proto: four types of messages, and a table of strings.
 *
 * A location is a (function, line) and has no address: pprof then uses the
 * names as they are and does not look for a binary. A function has no system
 * name: if it equals the name, pprof removes what is in brackets.
 */

#include "export/export.h"

#include "export/protobuf.h"
#include "image/names.h"

#include <prof/format.h>
#include <stdlib.h>

/* Fields of profile.proto, by message. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_TIME_NS = 9,
    PROFILE_DURATION_NS,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_DEFAULT_TYPE = 14
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILE = 4 };

#define NS_PER_CLOCK (1000000000u / PROF_CLOCK_HZ)

struct profile {
    struct view *view;
    FILE *out;
    struct strings strings;
    struct index locations; /* (function, line) of frames */
    struct index functions; /* function of frames */
};

static void write_number(struct profile *profile, int field, uint64_t value)
{
    struct message message = {0};

    message_number(&message, field, value);
    fwrite(message.bytes, 1, message.used, profile->out);
    message_free(&message);
}

/* Writes a finished message as a field of the profile. */
static void write_message(struct profile *profile, int field,
                          struct message *message)
{
    message_write(profile->out, field, message);
    message_free(message);
}

static void write_type(struct profile *profile, int field, const char *type,
                       const char *unit)
{
    struct message message = {0};

    message_number(&message, TYPE_TYPE, strings_put(&profile->strings, type));
    message_number(&message, TYPE_UNIT, strings_put(&profile->strings, unit));
    write_message(profile, field, &message);
}

static void write_function(struct profile *profile, uint32_t id,
                           const char *name, const char *file)
{
    struct message message = {0};

    message_number(&message, FUNCTION_ID, id);
    message_number(&message, FUNCTION_NAME,
                   strings_put(&profile->strings, name));
    message_number(&message, FUNCTION_FILE,
                   strings_put(&profile->strings, file));
    write_message(profile, PROFILE_FUNCTION, &message);
}

/* The id of a location; it and its function are written when they are new. */
static uint32_t location_of(struct profile *profile, const struct frame *frame)
{
    const struct names *names = &profile->view->names;
    bool is_new;
    uint32_t id =
        1 + index_add(&profile->locations,
                      index_pair(frame->function, frame->line), &is_new);
    struct message location = {0}, line = {0};
    struct source_line source;
    uint32_t function;

    if (!is_new)
        return id;
    source = frame_source(names, frame);
    function = 1 + index_add(&profile->functions, frame->function, &is_new);
    if (is_new)
        write_function(profile, function, names_text(names, frame->function),
                       source.file);
    message_number(&line, LINE_FUNCTION, function);
    message_number(&line, LINE_LINE, source.line);
    message_number(&location, LOCATION_ID, id);
    message_put(&location, LOCATION_LINE, &line);
    message_free(&line);
    write_message(profile, PROFILE_LOCATION, &location);
    free(source.file);
    return id;
}

static void put_label(struct profile *profile, struct message *sample,
                      const char *key, const char *text)
{
    struct message label = {0};

    message_number(&label, LABEL_KEY, strings_put(&profile->strings, key));
    message_number(&label, LABEL_TEXT, strings_put(&profile->strings, text));
    message_put(sample, SAMPLE_LABEL, &label);
    message_free(&label);
}

static void write_sample(struct profile *profile, const struct model_cell *cell,
                         const struct frame *frames, size_t depth)
{
    struct view *view = profile->view;
    struct message sample = {0}, ids = {0}, values = {0};
    char cpu[16];

    for (size_t i = 0; i < depth; ++i)
        message_varint(&ids, location_of(profile, &frames[i]));
    message_varint(&values, cell->count.samples);
    message_varint(&values, cell->count.clocks * NS_PER_CLOCK);
    message_put(&sample, SAMPLE_LOCATIONS, &ids);
    message_put(&sample, SAMPLE_VALUES, &values);
    message_free(&ids);
    message_free(&values);
    snprintf(cpu, sizeof cpu, "%u", (unsigned)cell->cpu);
    put_label(profile, &sample, "cpu", cpu);
    if (cell->task != 0)
        put_label(profile, &sample, "task",
                  names_text(&view->names, view_task(view, cell->task)));
    write_message(profile, PROFILE_SAMPLE, &sample);
}

static void write_samples(struct profile *profile)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    struct view *view = profile->view;

    for (uint32_t i = 0; i < model_cells(&view->model); ++i) {
        const struct model_cell *cell = &view->model.cells[i];
        size_t depth = view_frames(view, cell->node, frames);

        if (view_wants(view, cell->task, cell->cpu, frames, depth))
            write_sample(profile, cell, frames, depth);
    }
}

static void write_head(struct profile *profile)
{
    const struct model *model = &profile->view->model;

    write_type(profile, PROFILE_SAMPLE_TYPE, "samples", "count");
    write_type(profile, PROFILE_SAMPLE_TYPE, "time", "nanoseconds");
    write_type(profile, PROFILE_PERIOD_TYPE, "time", "nanoseconds");
    if (model->rate_mhz > 0)
        write_number(profile, PROFILE_PERIOD, 1000000000000u / model->rate_mhz);
    write_number(profile, PROFILE_TIME_NS,
                 model->hello.unix_seconds * 1000000000u +
                     model->begin * NS_PER_CLOCK);
    write_number(profile, PROFILE_DURATION_NS,
                 (model->end - model->begin) * NS_PER_CLOCK);
    write_number(
        profile, PROFILE_DEFAULT_TYPE,
        strings_put(&profile->strings, view_weight_name(profile->view)));
}

/* The string table: fields of the profile that are strings. */
static void write_strings(struct profile *profile)
{
    struct message message = {0};

    for (uint32_t i = 0; i < strings_count(&profile->strings); ++i) {
        message_text(&message, PROFILE_STRING,
                     strings_text(&profile->strings, i));
        fwrite(message.bytes, 1, message.used, profile->out);
        message.used = 0;
    }
    message_free(&message);
}

bool export_pprof(struct view *view, FILE *out)
{
    struct profile profile = {.view = view, .out = out};

    write_head(&profile);
    write_samples(&profile);
    write_strings(&profile);
    strings_free(&profile.strings);
    index_free(&profile.locations);
    index_free(&profile.functions);
    return ferror(out) == 0;
}
