/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_events FILE: writes a stream with one of each event of <prof/events.def>
 * to stdout, then a HELLO that makes sense; and to FILE a line for each but the
 * last: the name and the fields, with numbers as babeltrace2 prints them. What
 * it knows of their layout is the table and nothing else.
 */

#include "../unit/host/stream_maker.h"

#include <inttypes.h>

/* The (bytes) bytes at (to) become a number that no other field has; it is
 * returned. */
static uint64_t set_field(uint8_t *to, size_t bytes)
{
    static uint64_t last = 0x0123456789abcdef;
    uint64_t number = 0;

    last = last * 6364136223846793005u + 1442695040888963407u;
    for (size_t i = 0; i < bytes; ++i) {
        to[i] = (uint8_t)(last >> (8 * (7 - i)));
        number |= (uint64_t)to[i] << (8 * i);
    }
    return number;
}

static uint8_t fields[256]; /* of the event in the making */
static size_t used;         /* bytes of them */
static FILE *lines;         /* what is expected */
static FILE *expected;      /* of the fields, in fields_text */
static char *fields_text;
static size_t fields_bytes;

static void put_number(const char *name, size_t bytes, bool hexadecimal)
{
    uint64_t number = set_field(fields + used, bytes);

    used += bytes;
    fprintf(expected, hexadecimal ? " %s=0x%" PRIX64 : " %s=%" PRIu64, name,
            number);
}

/* A reason, by its name. */
static void put_walk_stop(const char *name)
{
    static const char *const names[] = {
#define PROF_WALK_STOP(NAME, name, number, meaning) [number] = #name,
#include <prof/events.def>
    };

    fields[used] = PROF_WALK_FALLING;
    fields[used + 1] = 0;
    used += 2;
    fprintf(expected, " %s=%s", name, names[PROF_WALK_FALLING]);
}

/* A kind of objects, by its name. */
static void put_object_kind(const char *name)
{
    static const char *const names[] = {
#define PROF_OBJECT(NAME, name, number, meaning) [number] = #name,
#include <prof/events.def>
    };

    fields[used++] = 4;
    fprintf(expected, " %s=%s", name, names[4]);
}

static void put_signed(const char *name, size_t bytes)
{
    unsigned unused_bits = 64 - 8 * (unsigned)bytes;
    uint64_t number = set_field(fields + used, bytes);

    used += bytes;
    fprintf(expected, " %s=%" PRId64, name,
            (int64_t)(number << unused_bits) >> unused_bits);
}

static const char text[] = "text"; /* is not in an event's struct */
static size_t texts;               /* of the event in the making */

static void put_text(const char *name)
{
    memcpy(fields + used, text, sizeof text);
    used += sizeof text;
    ++texts;
    fprintf(expected, " %s=\"%s\"", name, text);
}

/* The event's own time, which babeltrace2 prints as such and not as a field. */
static void put_clock(struct made *made)
{
    uint64_t now = made->time + made->step;

    memcpy(fields + used, &now, sizeof now);
    used += sizeof now;
}

static void put_bytes32(const char *name)
{
    fprintf(expected, " %s=", name);
    for (int i = 0; i < 32; ++i)
        fprintf(expected, i > 0 ? ",0x%" PRIX64 : "0x%" PRIX64,
                set_field(fields + used++, 1));
}

#define PUT_uint8(name) put_number(name, 1, false)
#define PUT_name8 PUT_uint8
#define PUT_near PUT_uint16
#define PUT_tiny PUT_uint8
#define PUT_int16(name) put_signed(name, 2)
#define PUT_int64(name) put_signed(name, 8)
#define PUT_text(name) put_text(name)
#define PUT_object_kind(name) put_object_kind(name)
#define PUT_uint16(name) put_number(name, 2, false)
#define PUT_uint32(name) put_number(name, 4, false)
#define PUT_uint64(name) put_number(name, 8, false)
#define PUT_address(name) put_number(name, 8, true)
#define PUT_clock(name) put_clock(made)
#define PUT_bytes32(name) put_bytes32(name)
#define PUT_walk_stop(name) put_walk_stop(name)

/* Begins the fields of an event. */
static void begin(void)
{
    used = texts = 0;
    expected = open_memstream(&fields_text, &fields_bytes);
}

/* Writes the line of an event whose struct has (bytes). */
static void end(struct made *made, const char *name, unsigned kind,
                size_t bytes)
{
    if (fclose(expected) != 0 || used != bytes + texts * sizeof text)
        abort();
    made_event(made, (enum prof_event)kind, fields, used);
    fputs(name, lines);
    if (kind >= PROF_KIND_EXTENDED)
        fprintf(lines, " field_bytes=%zu", used);
    fprintf(lines, "%s\n", fields_text);
    free(fields_text);
}

static void put_all(struct made *made)
{
#define PROF_EVENT(NAME, name, kind, meaning, FIELDS)                          \
    begin();                                                                   \
    FIELDS end(made, #name, kind, sizeof(struct prof_event_##name));
#define PROF_FIELD(type, name, meaning) PUT_##type(#name);
#define PROF_BARE(NAME, name, kind, meaning)                                   \
    begin();                                                                   \
    end(made, #name, kind, 0);
#include <prof/events.def>
}

/* The short events, which the maker of streams knows by heart. */
static void put_short(struct made *made)
{
    made_node(made, 5, 4, MADE_TEXT + 16);
    made_leaf(made, 6, 5, MADE_TEXT + 32);
    made_sample(made, 5);
    fputs("node node=5 parent=4 text_offset=0x10\n"
          "leaf node=6 parent=5 text_offset=0x20\n"
          "sample node=5\n",
          lines);
}

int main(int argc, char **argv)
{
    static struct made made = {.packet_room = PROF_PACKET_DEFAULT, .step = 1};

    if (argc != 2 || (lines = fopen(argv[1], "w")) == NULL)
        return 2;
    put_all(&made);
    put_short(&made);
    made_hello(&made, 64); /* and one that makes sense */
    made_flush(&made);
    fwrite(made.bytes, 1, made.count, stdout);
    return fclose(lines) == 0 ? 0 : 1;
}
