/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of export/otlp.proto and export/pyroscope.proto. */

#define _GNU_SOURCE /* open_memstream() */

#include "push/push.h"

#include "base/index.h"
#include "base/log.h"
#include "base/memory.h"
#include "export/protobuf.h"

#include <otlp.pb-c.h>
#include <pprof.pb-c.h>
#include <pyroscope.pb-c.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define SCOPE "parasite"

/* The functions of a profile, numbered from 1 on; each is a location, too. */
struct tables {
    struct strings strings; /* their names among them */
    struct index functions; /* by the name's number */
    uint32_t *names;        /* by number - 1 */
};

static uint32_t function_of(struct tables *tables, const char *name)
{
    uint32_t text = strings_put(&tables->strings, name);
    bool is_new;
    uint32_t number = index_add(&tables->functions, text, &is_new);

    if (is_new) {
        vector_reserve_one(&tables->names, number, sizeof *tables->names);
        tables->names[number] = text;
    }
    return number + 1;
}

static void free_tables(struct tables *tables)
{
    strings_free(&tables->strings);
    index_free(&tables->functions);
    free(tables->names);
}

/* The texts in the order of their numbers, of UTF-8; to be freed. */
static char **texts_of(const struct strings *strings)
{
    uint32_t count = strings_count(strings);
    char **texts = xreallocarray(NULL, count + 1, sizeof *texts);

    for (uint32_t i = 0; i < count; ++i)
        texts[i] = protobuf_text(strings_text(strings, i));
    return texts;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        free(texts[i]);
    free(texts);
}

/* 128 bits of what a profile is about (FNV-1a, twice). */
static void id_of(const struct push_profile *profile, uint8_t id[16])
{
    const char *const texts[] = {profile->service, profile->build,
                                 profile->guest, profile->host};
    uint64_t hashes[2] = {0xcbf29ce484222325u, 0x84222325cbf29ce4u};

    for (int i = 0; i < 2; ++i) {
        uint64_t hash = hashes[i];

        for (size_t j = 0; j < sizeof texts / sizeof texts[0]; ++j)
            for (const char *at = texts[j];; ++at) {
                hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
                if (*at == '\0')
                    break;
            }
        for (int j = 0; j < 8; ++j)
            hash = (hash ^ (uint8_t)(profile->begin_ns >> (8 * j))) *
                   0x100000001b3u;
        for (int j = 0; j < 8; ++j)
            id[8 * i + j] = (uint8_t)(hash >> (8 * j));
    }
}

/* ---- OpenTelemetry */

#define OTLP_ATTRIBUTES 4

/* What is encoded, so that all parts live until it is written. */
struct otlp {
    const struct push_profile *profile;
    struct tables tables;
    Otlp__Stack *stacks;
    Otlp__OneSample *samples[2]; /* of time, and of samples */
    int64_t *values[2];
};

static Otlp__ValueType otlp_type(struct otlp *otlp, const char *type,
                                 const char *unit)
{
    Otlp__ValueType value = OTLP__VALUE_TYPE__INIT;

    value.has_type = value.has_unit = true;
    value.type = (int32_t)strings_put(&otlp->tables.strings, type);
    value.unit = (int32_t)strings_put(&otlp->tables.strings, unit);
    return value;
}

/* The first stack of the table is the empty one. */
static void otlp_stacks(struct otlp *otlp)
{
    const struct push_profile *profile = otlp->profile;
    size_t count = profile->stack_count;

    otlp->stacks = xreallocarray(NULL, count + 1, sizeof *otlp->stacks);
    otlp->stacks[0] = (Otlp__Stack)OTLP__STACK__INIT;
    for (int kind = 0; kind < 2; ++kind) {
        otlp->samples[kind] =
            xreallocarray(NULL, count + 1, sizeof *otlp->samples[kind]);
        otlp->values[kind] =
            xreallocarray(NULL, count + 1, sizeof *otlp->values[kind]);
    }
    for (size_t i = 0; i < count; ++i) {
        const struct push_stack *stack = &profile->stacks[i];
        Otlp__Stack *put = &otlp->stacks[i + 1];

        *put = (Otlp__Stack)OTLP__STACK__INIT;
        put->n_location = stack->count;
        put->location =
            xreallocarray(NULL, stack->count + 1u, sizeof *put->location);
        for (unsigned j = 0; j < stack->count; ++j)
            put->location[j] = (int32_t)function_of(
                &otlp->tables, stack->names[stack->count - 1 - j]);
        otlp->values[0][i] = (int64_t)stack->ns;
        otlp->values[1][i] = (int64_t)stack->samples;
        for (int kind = 0; kind < 2; ++kind) {
            Otlp__OneSample *sample = &otlp->samples[kind][i];

            *sample = (Otlp__OneSample)OTLP__ONE_SAMPLE__INIT;
            sample->has_stack = true;
            sample->stack = (int32_t)(i + 1);
            sample->n_value = 1;
            sample->value = &otlp->values[kind][i];
        }
    }
}

/* Pointers to (count) elements of (bytes) each, to be freed. */
static void *pointers(void *elements, size_t count, size_t bytes)
{
    char **list = xreallocarray(NULL, count + 1, sizeof *list);

    for (size_t i = 0; i < count; ++i)
        list[i] = (char *)elements + i * bytes;
    return list;
}

static Otlp__OneProfile otlp_profile(struct otlp *otlp, int kind, uint8_t *id,
                                     Otlp__ValueType *type,
                                     Otlp__ValueType *period)
{
    const struct push_profile *profile = otlp->profile;
    Otlp__OneProfile put = OTLP__ONE_PROFILE__INIT;

    id[15] ^= (uint8_t)kind;
    put.sample_type = type;
    put.n_sample = profile->stack_count;
    put.sample = pointers(otlp->samples[kind], profile->stack_count,
                          sizeof *otlp->samples[kind]);
    put.has_time_ns = put.has_duration_ns = put.has_id = true;
    put.time_ns = profile->begin_ns;
    put.duration_ns = profile->duration_ns;
    put.id = (ProtobufCBinaryData){16, id};
    put.has_period = profile->period_ns > 0;
    if (put.has_period) {
        put.period_type = period;
        put.period = (int64_t)profile->period_ns;
    }
    return put;
}

/* Writes a request of (profiles); the tables are complete. */
static void otlp_write(struct otlp *otlp, Otlp__OneProfile **profiles,
                       FILE *out)
{
    static const char *const keys[OTLP_ATTRIBUTES] = {
        "service.name", "service.version", "service.instance.id", "host.name"};
    const struct push_profile *profile = otlp->profile;
    const char *const values[OTLP_ATTRIBUTES] = {
        profile->service, profile->build, profile->guest, profile->host};
    uint32_t functions = otlp->tables.functions.count;
    Otlp__Request request = OTLP__REQUEST__INIT;
    Otlp__Dictionary dictionary = OTLP__DICTIONARY__INIT;
    Otlp__ResourceProfiles resources = OTLP__RESOURCE_PROFILES__INIT;
    Otlp__ResourceProfiles *resource_list = &resources;
    Otlp__Resource resource = OTLP__RESOURCE__INIT;
    Otlp__ScopeProfiles scopes = OTLP__SCOPE_PROFILES__INIT;
    Otlp__ScopeProfiles *scope_list = &scopes;
    Otlp__Scope scope = OTLP__SCOPE__INIT;
    Otlp__Mapping mapping = OTLP__MAPPING__INIT, *mappings = &mapping;
    Otlp__Link link = OTLP__LINK__INIT, *links = &link;
    Otlp__Attribute attribute = OTLP__ATTRIBUTE__INIT, *attributes = &attribute;
    Otlp__KeyValue pairs[OTLP_ATTRIBUTES], *pair_list[OTLP_ATTRIBUTES];
    Otlp__AnyValue texts[OTLP_ATTRIBUTES];
    Otlp__Location *locations =
        xreallocarray(NULL, functions + 1, sizeof *locations);
    Otlp__Function *names = xreallocarray(NULL, functions + 1, sizeof *names);
    Otlp__Line *lines = xreallocarray(NULL, functions + 1, sizeof *lines);
    Otlp__Line **line_list = pointers(lines, functions + 1u, sizeof *lines);

    for (uint32_t i = 0; i <= functions; ++i) {
        locations[i] = (Otlp__Location)OTLP__LOCATION__INIT;
        names[i] = (Otlp__Function)OTLP__FUNCTION__INIT;
        lines[i] = (Otlp__Line)OTLP__LINE__INIT;
        if (i == 0)
            continue;
        names[i].has_name = lines[i].has_function = true;
        names[i].name = (int32_t)otlp->tables.names[i - 1];
        lines[i].function = (int32_t)i;
        locations[i].n_line = 1;
        locations[i].line = &line_list[i];
    }
    for (int i = 0; i < OTLP_ATTRIBUTES; ++i) {
        texts[i] = (Otlp__AnyValue)OTLP__ANY_VALUE__INIT;
        texts[i].text = protobuf_text(values[i]);
        pairs[i] = (Otlp__KeyValue)OTLP__KEY_VALUE__INIT;
        pairs[i].key = (char *)(uintptr_t)keys[i];
        pairs[i].value = &texts[i];
        pair_list[i] = &pairs[i];
    }
    resource.n_attribute = OTLP_ATTRIBUTES;
    resource.attribute = pair_list;
    scope.name = (char *)(uintptr_t)SCOPE;
    scopes.scope = &scope;
    scopes.n_profile = 2;
    scopes.profile = profiles;
    resources.resource = &resource;
    resources.n_scope_profiles = 1;
    resources.scope_profiles = &scope_list;
    dictionary.n_mapping = dictionary.n_link = dictionary.n_attribute = 1;
    dictionary.mapping = &mappings;
    dictionary.link = &links;
    dictionary.attribute = &attributes;
    dictionary.n_location = dictionary.n_function = functions + 1;
    dictionary.location =
        pointers(locations, functions + 1u, sizeof *locations);
    dictionary.function = pointers(names, functions + 1u, sizeof *names);
    dictionary.n_string = strings_count(&otlp->tables.strings);
    dictionary.string = texts_of(&otlp->tables.strings);
    dictionary.n_stack = profile->stack_count + 1;
    dictionary.stack =
        pointers(otlp->stacks, profile->stack_count + 1, sizeof *otlp->stacks);
    request.n_resource_profiles = 1;
    request.resource_profiles = &resource_list;
    request.dictionary = &dictionary;
    protobuf_write(&request.base, out);
    free_texts(dictionary.string, dictionary.n_string);
    for (int i = 0; i < OTLP_ATTRIBUTES; ++i)
        free(texts[i].text);
    free(dictionary.location);
    free(dictionary.function);
    free(dictionary.stack);
    free(locations);
    free(names);
    free(lines);
    free(line_list);
}

/* Two profiles, as each has one type of value. */
static void encode_otlp(const struct push_profile *profile, FILE *out)
{
    struct otlp otlp = {.profile = profile};
    Otlp__ValueType types[2], period;
    Otlp__OneProfile profiles[2], *list[2];
    uint8_t ids[2][16];

    strings_put(&otlp.tables.strings, "");
    types[0] = otlp_type(&otlp, "cpu", "nanoseconds");
    types[1] = otlp_type(&otlp, "samples", "count");
    period = types[0];
    otlp_stacks(&otlp);
    for (int kind = 0; kind < 2; ++kind) {
        id_of(profile, ids[kind]);
        profiles[kind] =
            otlp_profile(&otlp, kind, ids[kind], &types[kind], &period);
        list[kind] = &profiles[kind];
    }
    otlp_write(&otlp, list, out);
    for (int kind = 0; kind < 2; ++kind) {
        free(profiles[kind].sample);
        free(otlp.samples[kind]);
        free(otlp.values[kind]);
    }
    for (size_t i = 1; i <= profile->stack_count; ++i)
        free(otlp.stacks[i].location);
    free(otlp.stacks);
    free_tables(&otlp.tables);
}

/* ---- pprof, for Pyroscope */

static Pprof__ValueType pprof_type(struct tables *tables, const char *type,
                                   const char *unit)
{
    Pprof__ValueType value = PPROF__VALUE_TYPE__INIT;

    value.type = strings_put(&tables->strings, type);
    value.unit = strings_put(&tables->strings, unit);
    return value;
}

static void pprof_sample(struct tables *tables, const struct push_stack *stack,
                         FILE *out)
{
    Pprof__Profile part = PPROF__PROFILE__INIT;
    Pprof__Sample sample = PPROF__SAMPLE__INIT, *list = &sample;
    uint64_t values[] = {stack->samples, stack->ns};
    uint64_t *locations =
        xreallocarray(NULL, stack->count + 1u, sizeof *locations);

    for (unsigned i = 0; i < stack->count; ++i)
        locations[i] = function_of(tables, stack->names[stack->count - 1 - i]);
    sample.n_location = stack->count;
    sample.location = locations;
    sample.n_value = 2;
    sample.value = values;
    part.n_sample = 1;
    part.sample = &list;
    protobuf_write(&part.base, out);
    free(locations);
}

static void pprof_functions(struct tables *tables, FILE *out)
{
    for (uint32_t i = 0; i < tables->functions.count; ++i) {
        Pprof__Profile part = PPROF__PROFILE__INIT;
        Pprof__Function function = PPROF__FUNCTION__INIT, *named = &function;
        Pprof__Location location = PPROF__LOCATION__INIT, *placed = &location;
        Pprof__Line line = PPROF__LINE__INIT;

        line.function = function.id = location.id = i + 1;
        function.name = tables->names[i];
        location.line = &line;
        part.n_function = part.n_location = 1;
        part.function = &named;
        part.location = &placed;
        protobuf_write(&part.base, out);
    }
}

static void write_pprof(const struct push_profile *profile, FILE *out)
{
    struct tables tables = {0};
    Pprof__Profile part = PPROF__PROFILE__INIT;
    Pprof__ValueType types[2], *list[] = {&types[0], &types[1]}, period;
    char **texts;

    strings_put(&tables.strings, "");
    types[0] = pprof_type(&tables, "samples", "count");
    types[1] = period = pprof_type(&tables, "cpu", "nanoseconds");
    part.n_sample_type = 2;
    part.sample_type = list;
    part.period_type = &period;
    part.has_period = profile->period_ns > 0;
    part.period = profile->period_ns;
    part.has_time_ns = part.has_duration_ns = true;
    part.time_ns = profile->begin_ns;
    part.duration_ns = profile->duration_ns;
    protobuf_write(&part.base, out);
    for (size_t i = 0; i < profile->stack_count; ++i)
        pprof_sample(&tables, &profile->stacks[i], out);
    pprof_functions(&tables, out);
    texts = texts_of(&tables.strings);
    part = (Pprof__Profile)PPROF__PROFILE__INIT;
    part.n_string = strings_count(&tables.strings);
    part.string = texts;
    protobuf_write(&part.base, out);
    free_texts(texts, part.n_string);
    free_tables(&tables);
}

/* gzip of (bytes), to be freed. */
static ProtobufCBinaryData gzipped(const char *bytes, size_t count)
{
    enum { GZIP = 16 }; /* zlib: a header of gzip */
    ProtobufCBinaryData data = {0, NULL};
    z_stream stream = {0};

    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP + MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        die("out of memory");
    data.len = deflateBound(&stream, count);
    data.data = xreallocarray(NULL, data.len, 1);
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = data.data;
    stream.avail_out = (uInt)data.len;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        die("a profile of %zu bytes cannot be compressed", count);
    data.len = stream.total_out;
    deflateEnd(&stream);
    return data;
}

static void encode_pyroscope(const struct push_profile *profile, FILE *out)
{
    static const char *const names[] = {"__name__", "service_name", "build",
                                        "guest", "host"};
    const char *const values[] = {"process_cpu", profile->service,
                                  profile->build, profile->guest,
                                  profile->host};
    enum { LABELS = sizeof names / sizeof names[0] };
    Pyroscope__Push push = PYROSCOPE__PUSH__INIT;
    Pyroscope__Series series = PYROSCOPE__SERIES__INIT, *series_list = &series;
    Pyroscope__Raw raw = PYROSCOPE__RAW__INIT, *raws = &raw;
    Pyroscope__Pair pairs[LABELS], *list[LABELS];
    char *bytes, id[33];
    uint8_t number[16];
    size_t count;
    FILE *memory = open_memstream(&bytes, &count);

    if (memory == NULL)
        die("out of memory");
    write_pprof(profile, memory);
    if (fclose(memory) != 0)
        die("out of memory");
    for (int i = 0; i < LABELS; ++i) {
        pairs[i] = (Pyroscope__Pair)PYROSCOPE__PAIR__INIT;
        pairs[i].name = (char *)(uintptr_t)names[i];
        pairs[i].value = protobuf_text(values[i]);
        list[i] = &pairs[i];
    }
    id_of(profile, number);
    for (int i = 0; i < 16; ++i)
        snprintf(id + 2 * i, 3, "%02x", number[i]);
    raw.pprof = gzipped(bytes, count);
    raw.id = id;
    series.n_label = LABELS;
    series.label = list;
    series.n_sample = 1;
    series.sample = &raws;
    push.n_series = 1;
    push.series = &series_list;
    protobuf_write(&push.base, out);
    for (int i = 0; i < LABELS; ++i)
        free(pairs[i].value);
    free(raw.pprof.data);
    free(bytes);
}

void push_encode(enum push_form form, const struct push_profile *profile,
                 FILE *out)
{
    if (form == PUSH_OTLP)
        encode_otlp(profile, out);
    else
        encode_pyroscope(profile, out);
}
