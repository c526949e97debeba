/* SPDX-License-Identifier: Apache-2.0 */
/* TSDL that describes <prof/format.h>. Field names are those that Trace Compass
 * and babeltrace know, where they have one. */

#include "trace/metadata.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define METADATA_MAX 65536 /* bytes that are searched; ours are fewer */

/* clang-format off */
static const char types_text[] =
"typealias integer { size = 8; align = 8; } := uint8_t;\n"
"typealias integer { size = 16; align = 8; } := uint16_t;\n"
"typealias integer { size = 32; align = 8; } := uint32_t;\n"
"typealias integer { size = 64; align = 8; } := uint64_t;\n"
"typealias integer { size = 16; align = 8; signed = true; } := int16_t;\n"
"typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
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
"            "

#define PROF_SHORT(NAME, name, tag, meaning, bits) #name " = " #tag ", "
#include <prof/events.def>

"other = 3\n"
"        } id;\n"
"        variant <id> {\n"

#define BITS_time "short_clock_t timestamp; "
#define BITS_node
#define BITS_offset
#define PROF_SHORT(NAME, name, tag, meaning, bits)                             \
"            struct { " bits "} " #name ";\n"
#define PROF_BITS(class, name, bits) BITS_##class
#include <prof/events.def>
#undef BITS_time
#undef BITS_node
#undef BITS_offset

"            struct {\n"
"                enum : integer { size = %d; align = 1; } {\n"
"                    plain = 0 ... %u, brief = %u ... %u, extended = %u\n"
"                } id;\n"
"                variant <id> {\n"
"                    struct { low_clock_t timestamp; } plain;\n"
"                    struct { short_clock_t timestamp; } brief;\n"
"                    struct { low_clock_t timestamp; uint8_t id; } extended;\n"
"                } v;\n"
"            } other;\n"
"        } v;\n"
"    } align(8);\n"
"};\n";

/* What the types of the table are in TSDL. */
#define BITS_time(name)
#define BITS_node(name) "short_node_t " name "; "
#define BITS_offset(name) "offset_t " name "; "
#define TYPE_uint8(name) "uint8_t " name "; "
#define TYPE_name8 TYPE_uint8
#define TYPE_near TYPE_uint16
#define TYPE_tiny TYPE_uint8
#define TYPE_int16(name) "int16_t " name "; "
#define TYPE_int64(name) "int64_t " name "; "
#define TYPE_text(name) "string " name "; "
#define TYPE_object_kind(name) "object_kind_t " name "; "
#define TYPE_uint16(name) "uint16_t " name "; "
#define TYPE_uint32(name) "uint32_t " name "; "
#define TYPE_uint64(name) "uint64_t " name "; "
#define TYPE_address(name) "address64_t " name "; "
#define TYPE_clock(name) "whole_clock_t " name "; "
#define TYPE_bytes32(name)                                                     \
"integer { size = 8; align = 8; base = 16; } " name "[32]; "
#define TYPE_walk_stop(name) "walk_stop_t " name "; "

static const char enum_text[] =
"typealias enum : uint16_t {\n"

#define PROF_WALK_STOP(NAME, name, number, meaning)                            \
"    " #name " = " #number ",\n"
#include <prof/events.def>

"} := walk_stop_t;\n\n"

"typealias enum : uint8_t {\n"

#define PROF_OBJECT(NAME, name, number, meaning)                               \
"    " #name " = " #number ",\n"
#include <prof/events.def>

"} := object_kind_t;\n\n";

static const struct {
    unsigned id;
    const char *name;
    const char *fields;
} events[] = {
#define PROF_SHORT(NAME, name, tag, meaning, bits) {tag, #name, "" bits},
#define PROF_BITS(class, name, bits) BITS_##class(#name)
#define PROF_EVENT(NAME, name, kind, meaning, fields) {kind, #name, fields},
#define PROF_BARE(NAME, name, kind, meaning) {kind, #name, ""},
#define PROF_FIELD(type, name, meaning) TYPE_##type(#name)
#include <prof/events.def>
};
/* clang-format on */

void metadata_build_id(const struct event_hello *hello, char *text)
{
    bytes_hex(hello->build_id, hello->build_id_bytes, text);
}

void metadata_check_version(const struct event_hello *hello)
{
    if (hello->version != 0 && hello->version != PROF_FORMAT_VERSION)
        log_error("the guest's stream has version %u, but this command reads "
                  "version %u; use the command that came with its profiler",
                  (unsigned)hello->version, PROF_FORMAT_VERSION);
}

const char *metadata_arch(const struct event_hello *hello)
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
            PROF_EVENT_KIND_BITS, PROF_KIND_BRIEF - 1, PROF_KIND_BRIEF,
            PROF_KIND_BRIEF_LAST, PROF_KIND_ESCAPE);
    fputs(enum_text, out);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; ++i)
        fprintf(out,
                "\nevent {\n    name = \"%s\";\n    id = %u;\n"
                "    fields := struct { %s%s};\n};\n",
                events[i].name, events[i].id,
                events[i].id < PROF_KIND_EXTENDED ? ""
                                                  : "uint8_t field_bytes; ",
                events[i].fields);
}

static char *unquoted_text(const char *at)
{
    char *text = xstrdup(at), *to = text;

    for (; *at != '\0' && *at != '"'; ++at) {
        if (*at == '\\' && at[1] != '\0')
            ++at;
        *to++ = *at;
    }
    *to = '\0';
    return text;
}

static char *read_head(const char *path)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char *text = NULL;
    struct stat about;
    ssize_t bytes;

    if (file < 0)
        return NULL;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
        text = xreallocarray(NULL, METADATA_MAX + 1, 1);
        bytes = read(file, text, METADATA_MAX);
        text[bytes > 0 ? bytes : 0] = '\0';
    }
    close(file);
    return text;
}

char *metadata_env(const char *path, const char *name)
{
    char *text = read_head(path), *rest = text, *found = NULL;
    size_t bytes = strlen(name);
    const char *line;

    while (found == NULL && (line = strsep(&rest, "\n")) != NULL) {
        const char *at = line + strspn(line, " ");

        if (strncmp(at, name, bytes) == 0 &&
            strncmp(at + bytes, " = \"", 4) == 0)
            found = unquoted_text(at + bytes + 4);
    }
    free(text);
    return found;
}
