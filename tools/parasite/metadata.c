/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TSDL that says the same as <prof/format.h>. The field names are those that
 * Trace Compass and babeltrace know, where they know any.
 */

#include "metadata.h"

#include "parasite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const char types_text[] =
"typealias integer { size = 8; align = 8; } := uint8_t;\n"
"typealias integer { size = 16; align = 8; } := uint16_t;\n"
"typealias integer { size = 32; align = 8; } := uint32_t;\n"
"typealias integer { size = 64; align = 8; } := uint64_t;\n"
"typealias integer { size = 32; align = 8; base = 16; } := address32_t;\n"
"typealias integer { size = 64; align = 8; base = 16; } := address64_t;\n\n";

static const char stream_text[] =
"typealias integer { size = 64; align = 8; map = clock.boot.value; }\n"
"    := whole_clock_t;\n"
"typealias integer { size = %d; align = 1; map = clock.boot.value; }\n"
"    := low_clock_t;\n"
"typealias integer { size = %d; align = 1; map = clock.boot.value; }\n"
"    := short_clock_t;\n"
"typealias integer { size = %d; align = 1; } := short_node_t;\n"
"typealias integer { size = %d; align = 1; base = 16; } := offset_t;\n\n"
"stream {\n"
"    packet.context := struct {\n"
"        whole_clock_t timestamp_begin;\n"
"        whole_clock_t timestamp_end;\n"
"        uint64_t events_discarded;\n"
"        uint32_t content_size;\n"
"        uint32_t packet_size;\n"
"        uint32_t packet_seq_num;\n"
"        uint16_t cpu_id;\n"
"        uint16_t version;\n"
"        address32_t crc32c;\n"
"        address64_t text_begin;\n"
"    };\n"
"    event.header := struct {\n"
"        enum : integer { size = %d; align = 1; } {\n"
"            sample = 0, leaf = 1, node = 2, other = 3\n"
"        } id;\n"
"        variant <id> {\n"
"            struct { short_clock_t timestamp; } sample;\n"
"            struct { short_clock_t timestamp; } leaf;\n"
"            struct { } node;\n"
"            struct {\n"
"                integer { size = %d; align = 1; } id;\n"
"                low_clock_t timestamp;\n"
"            } other;\n"
"        } v;\n"
"    } align(8);\n"
"};\n";

static const struct {
    enum prof_event id;
    const char *name;
    const char *fields;
} events[] = {
    {PROF_EVENT_SAMPLE, "sample", "short_node_t node;"},
    {PROF_EVENT_LEAF, "leaf",
     "short_node_t node; short_node_t parent; offset_t text_offset;"},
    {PROF_EVENT_NODE, "node",
     "short_node_t node; short_node_t parent; offset_t text_offset;"},
    {PROF_EVENT_HELLO, "hello",
     "uint32_t version; uint32_t pointer_bits; uint64_t tsc_hz; "
     "uint64_t unix_seconds; address64_t text_begin; address64_t text_end; "
     "uint32_t build_id_bytes; integer { size = 8; align = 8; base = 16; } "
     "build_id[32];"},
    {PROF_EVENT_START, "start", "uint32_t rate_mhz; uint32_t depth;"},
    {PROF_EVENT_STOP, "stop", ""},
    {PROF_EVENT_CLOCK, "clock", "whole_clock_t _clock;"},
    {PROF_EVENT_NODE_WIDE, "node_wide",
     "uint32_t node; uint32_t parent; address64_t address;"},
    {PROF_EVENT_SAMPLE_LATE, "sample_late", "uint16_t node;"},
    {PROF_EVENT_SAMPLE_WIDE, "sample_wide", "uint32_t node;"},
    {PROF_EVENT_IDLE, "idle", ""},
    {PROF_EVENT_SPILL, "spill",
     "address64_t address; uint32_t samples; uint64_t clocks;"},
    {PROF_EVENT_DROP, "drop", "uint32_t samples; uint64_t clocks;"},
    {PROF_EVENT_MISS, "miss", "uint32_t ticks;"},
    {PROF_EVENT_TASK, "task", "uint32_t task; address64_t function;"},
    {PROF_EVENT_SWITCH, "switch", "uint32_t task;"},
    {PROF_EVENT_STOPPED_WALK, "stopped_walk",
     "enum : uint16_t { depth = 1, room = 2, unaligned = 3, outside = 4, "
     "falling = 5, not_code = 6 } reason; uint32_t samples;"},
    {PROF_EVENT_BYE, "bye", "uint32_t code;"},
};
/* clang-format on */

void metadata_build_id(const struct model_hello *hello, char *text)
{
    *text = '\0';
    for (uint32_t i = 0; i < hello->build_id_bytes; ++i)
        text += sprintf(text, "%02x", hello->build_id[i]);
}

void metadata_check_version(const struct model_hello *hello)
{
    if (hello->version != 0 && hello->version != PROF_FORMAT_VERSION)
        complain("the guest's stream has version %u, this command reads "
                 "version %u; use the command that came with its profiler",
                 (unsigned)hello->version, PROF_FORMAT_VERSION);
}

const char *metadata_arch(const struct model_hello *hello)
{
    if (hello->pointer_bits == 64)
        return "x86_64";
    return hello->pointer_bits == 32 ? "i386" : "unknown";
}

static void write_uuid(FILE *out, const uint8_t *uuid)
{
    for (int i = 0; i < 16; ++i)
        fprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                uuid[i]);
}

static void write_string(FILE *out, const char *name, const char *text)
{
    fprintf(out, "    %s = \"", name);
    for (; *text != '\0'; ++text) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text >= ' ' ? *text : '?', out);
    }
    fputs("\";\n", out);
}

static void write_env(FILE *out, const struct model *model, const char *image)
{
    char build_id[65];

    metadata_build_id(&model->hello, build_id);
    fputs("env {\n", out);
    write_string(out, "tracer_name", "parasite");
    write_string(out, "arch", metadata_arch(&model->hello));
    write_string(out, "build_id", build_id);
    if (image != NULL)
        write_string(out, "image", image);
    fprintf(out, "    rate_mhz = %" PRIu32 ";\n", model->rate_mhz);
    fprintf(out, "    tsc_hz = %" PRIu64 ";\n", model->hello.tsc_hz);
    fputs("};\n\n", out);
}

static void write_clock(FILE *out, const struct model *model)
{
    fprintf(out,
            "clock {\n"
            "    name = \"boot\";\n"
            "    description = \"time since boot\";\n"
            "    freq = %u;\n"
            "    offset_s = %" PRIu64 ";\n"
            "};\n\n",
            PROF_CLOCK_HZ, model->hello.unix_seconds);
}

void metadata_write(FILE *out, const uint8_t *uuid, const struct model *model,
                    const char *image)
{
    fputs("/* CTF 1.8 */\n\n", out);
    fputs(types_text, out);
    fputs("trace {\n    major = 1;\n    minor = 8;\n    byte_order = le;\n"
          "    uuid = \"",
          out);
    write_uuid(out, uuid);
    fputs("\";\n    packet.header := struct { uint32_t magic; "
          "uint8_t uuid[16]; };\n};\n\n",
          out);
    write_env(out, model, image);
    write_clock(out, model);
    fprintf(out, stream_text, PROF_EVENT_TIME_BITS, PROF_SHORT_TIME_BITS,
            PROF_SHORT_NODE_BITS, PROF_SHORT_OFFSET_BITS, PROF_EVENT_TAG_BITS,
            PROF_EVENT_KIND_BITS);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; ++i)
        fprintf(out,
                "\nevent {\n    name = \"%s\";\n    id = %d;\n"
                "    fields := struct { %s };\n};\n",
                events[i].name, events[i].id, events[i].fields);
}

static char *unquoted(const char *at)
{
    char *text = copied(at), *to = text;

    for (; *at != '\0' && *at != '"'; ++at) {
        if (*at == '\\' && at[1] != '\0')
            ++at;
        *to++ = *at;
    }
    *to = '\0';
    return text;
}

char *metadata_env(const char *path, const char *name)
{
    FILE *in = fopen(path, "r");
    char *line = NULL, *found = NULL;
    size_t room = 0, bytes = strlen(name);

    if (in == NULL)
        return NULL;
    while (found == NULL && getline(&line, &room, in) > 0) {
        const char *at = line + strspn(line, " ");

        if (strncmp(at, name, bytes) == 0 &&
            strncmp(at + bytes, " = \"", 4) == 0)
            found = unquoted(at + bytes + 4);
    }
    free(line);
    fclose(in);
    return found;
}
