/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof's profile: four types of messages, and a table of strings
 * (pprof.proto).
 *
 * A location is a (function, line) and has no address: pprof then uses the
 * names as they are and does not look for a binary. A function has no system
 * name: if it equals the name, pprof removes what is in brackets.
 */

#include "export/export.h"

#include "export/protobuf.h"
#include "image/names.h"

#include <pprof.pb-c.h>
#include <prof/format.h>
#include <stdlib.h>

struct pprof {
    struct view *view;
    FILE *out;
    struct strings strings;
    struct index locations; /* (function, line) of frames */
    struct index functions; /* function of frames */
};

static void write_part(const struct pprof *pprof, const Pprof__Profile *part)
{
    protobuf_write(&part->base, pprof->out);
}

static Pprof__ValueType type_of(struct pprof *pprof, const char *type,
                                const char *unit)
{
    Pprof__ValueType value = PPROF__VALUE_TYPE__INIT;

    value.type = strings_put(&pprof->strings, type);
    value.unit = strings_put(&pprof->strings, unit);
    return value;
}

static void write_function(struct pprof *pprof, uint32_t id, const char *name,
                           const char *file)
{
    Pprof__Profile part = PPROF__PROFILE__INIT;
    Pprof__Function function = PPROF__FUNCTION__INIT, *list = &function;

    function.id = id;
    function.name = strings_put(&pprof->strings, name);
    function.file = strings_put(&pprof->strings, file);
    part.n_function = 1;
    part.function = &list;
    write_part(pprof, &part);
}

/* The id of a location; it and its function are written when they are new. */
static uint32_t location_of(struct pprof *pprof, const struct frame *frame)
{
    const struct names *names = &pprof->view->names;
    bool is_new;
    uint32_t id =
        1 + index_add(&pprof->locations,
                      index_pair(frame->function, frame->line), &is_new);
    Pprof__Profile part = PPROF__PROFILE__INIT;
    Pprof__Location location = PPROF__LOCATION__INIT, *list = &location;
    Pprof__Line line = PPROF__LINE__INIT;
    struct source_line source;

    if (!is_new)
        return id;
    source = frame_source(names, frame);
    line.function = 1 + index_add(&pprof->functions, frame->function, &is_new);
    line.line = source.line;
    if (is_new)
        write_function(pprof, (uint32_t)line.function,
                       names_text(names, frame->function), source.file);
    location.id = id;
    location.line = &line;
    part.n_location = 1;
    part.location = &list;
    write_part(pprof, &part);
    free(source.file);
    return id;
}

static void write_sample(struct pprof *pprof, const struct view_stack *stack)
{
    static uint64_t locations[VIEW_FRAMES_MAX];
    const struct model_cell *cell = stack->cell;
    struct view *view = pprof->view;
    Pprof__Profile part = PPROF__PROFILE__INIT;
    Pprof__Sample sample = PPROF__SAMPLE__INIT, *list = &sample;
    Pprof__Label cpu = PPROF__LABEL__INIT, task = PPROF__LABEL__INIT;
    Pprof__Label *labels[] = {&cpu, &task};
    uint64_t values[MODEL_WEIGHTS];
    char text[16];

    for (size_t i = 0; i < stack->depth; ++i)
        locations[i] = location_of(pprof, &stack->frames[i]);
    for (int i = 0; i < MODEL_WEIGHTS; ++i)
        values[i] = cell->count.weights[i] * view_weights[i].scale;
    snprintf(text, sizeof text, "%u", (unsigned)cell->cpu);
    cpu.key = strings_put(&pprof->strings, "cpu");
    cpu.text = strings_put(&pprof->strings, text);
    if (cell->task != 0) {
        task.key = strings_put(&pprof->strings, "task");
        task.text =
            strings_put(&pprof->strings,
                        names_text(&view->names, view_task(view, cell->task)));
    }
    sample.n_location = stack->depth;
    sample.location = locations;
    sample.n_value = MODEL_WEIGHTS;
    sample.value = values;
    sample.n_label = cell->task != 0 ? 2 : 1;
    sample.label = labels;
    part.n_sample = 1;
    part.sample = &list;
    write_part(pprof, &part);
}

static void write_head(struct pprof *pprof)
{
    const struct model *model = &pprof->view->model;
    const struct view_weight *time = &view_weights[MODEL_CLOCKS];
    Pprof__Profile part = PPROF__PROFILE__INIT;
    Pprof__ValueType types[MODEL_WEIGHTS], *list[MODEL_WEIGHTS], period;

    for (int i = 0; i < MODEL_WEIGHTS; ++i) {
        types[i] = type_of(pprof, view_weights[i].name, view_weights[i].unit);
        list[i] = &types[i];
    }
    period = type_of(pprof, time->name, time->unit);
    part.n_sample_type = MODEL_WEIGHTS;
    part.sample_type = list;
    part.period_type = &period;
    part.has_period = model->rate_mhz > 0;
    if (part.has_period)
        part.period = 1000000000000u / model->rate_mhz;
    part.has_time_ns = part.has_duration_ns = part.has_default_type = true;
    part.time_ns = model->hello.unix_seconds * 1000000000u +
                   model->begin * MODEL_NS_PER_CLOCK;
    part.duration_ns = (model->end - model->begin) * MODEL_NS_PER_CLOCK;
    part.default_type =
        strings_put(&pprof->strings, view_weight_name(pprof->view));
    write_part(pprof, &part);
}

static void write_strings(const struct pprof *pprof)
{
    for (uint32_t i = 0; i < strings_count(&pprof->strings); ++i) {
        Pprof__Profile part = PPROF__PROFILE__INIT;
        char *text = protobuf_text(strings_text(&pprof->strings, i));

        part.n_string = 1;
        part.string = &text;
        write_part(pprof, &part);
        free(text);
    }
}

bool export_pprof(struct view *view, FILE *out)
{
    struct pprof pprof = {.view = view, .out = out};
    struct view_stack stack = {0};

    write_head(&pprof);
    while (view_next(view, &stack))
        write_sample(&pprof, &stack);
    write_strings(&pprof);
    strings_free(&pprof.strings);
    index_free(&pprof.locations);
    index_free(&pprof.functions);
    return ferror(out) == 0;
}
