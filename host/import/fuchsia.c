/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of the Fuchsia trace format: words of 64 bits, little-endian. The
 * first word of a record has its type (bits 0 to 3), its length in words (4 to
 * 15), and what depends on the type. A reference to a string is 0 for the empty
 * one, a number below 2^15 that a record has defined, or 2^15 and the bytes of
 * a string that follows. Records of no use here are passed over.
 */

#include "base/bytes.h"
#include "base/memory.h"
#include "import/eio.h"
#include "import/formats.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0x0016547846040010ull
#define WORD 8u
#define STRINGS 0x8000u
#define THREADS 256u
#define TICKS_HZ 1000000000u

enum { /* of records */
       INITIALIZATION = 1,
       STRING,
       THREAD,
       EVENT,
       USER_OBJECT = 6,
       SCHEDULING = 8,
       LARGE = 15,
};

#define THREAD_WAKEUP 2u
#define ARGUMENT_STRING 6u

struct fuchsia {
    struct eio eio;
    uint64_t ticks_hz;
    struct eio_text strings[STRINGS];
    uint64_t threads[THREADS]; /* kernel objects */
    uint64_t unread;           /* bytes */
};

/* What is left of a record. */
struct record {
    const uint8_t *at;
    const uint8_t *end;
    bool cut; /* something was missing */
};

/* The (count) bits of (word) from bit (from) on. */
static uint32_t bits(uint64_t word, unsigned from, unsigned count)
{
    return (uint32_t)(word >> from & ((1ull << count) - 1));
}

static uint64_t take_word(struct record *record)
{
    uint64_t word;

    if ((size_t)(record->end - record->at) < WORD) {
        record->cut = true;
        return 0;
    }
    word = le64(record->at);
    record->at += WORD;
    return word;
}

/* (bytes) bytes, and those up to the next word. */
static struct eio_text take_bytes(struct record *record, size_t bytes)
{
    struct eio_text text = {(const char *)record->at, bytes};
    size_t whole = (bytes + WORD - 1) / WORD * WORD;

    if ((size_t)(record->end - record->at) < whole) {
        record->cut = true;
        return (struct eio_text){"", 0};
    }
    record->at += whole;
    return text;
}

static struct eio_text take_string(const struct fuchsia *fuchsia,
                                   struct record *record, uint32_t reference)
{
    if (reference >= STRINGS)
        return take_bytes(record, reference - STRINGS);
    if (fuchsia->strings[reference].text == NULL)
        return (struct eio_text){"", 0};
    return fuchsia->strings[reference];
}

static uint64_t take_thread(const struct fuchsia *fuchsia,
                            struct record *record, uint32_t reference)
{
    if (reference != 0)
        return fuchsia->threads[reference];
    take_word(record); /* the process */
    return take_word(record);
}

static uint64_t clocks_of(const struct fuchsia *fuchsia, uint64_t ticks)
{
    return ticks / fuchsia->ticks_hz * PROF_CLOCK_HZ +
           ticks % fuchsia->ticks_hz * PROF_CLOCK_HZ / fuchsia->ticks_hz;
}

static bool is_word(struct eio_text text, const char *word)
{
    return text.bytes == strlen(word) &&
           memcmp(text.text, word, text.bytes) == 0;
}

static void take_argument(const struct fuchsia *fuchsia, struct record *record,
                          struct eio_event *event)
{
    const uint8_t *begin = record->at;
    uint64_t head = take_word(record), value = 0;
    size_t bytes = bits(head, 4, 12) * WORD;
    struct record argument = {begin + WORD, begin + bytes, false};
    struct eio_text name, text = {"", 0};

    if (bytes < WORD || (size_t)(record->end - begin) < bytes) {
        record->cut = true;
        return;
    }
    name = take_string(fuchsia, &argument, bits(head, 16, 16));
    if (bits(head, 0, 4) == ARGUMENT_STRING)
        text = take_string(fuchsia, &argument, bits(head, 32, 16));
    else
        value = argument.at < argument.end ? take_word(&argument) : 0;
    record->at = begin + bytes;
    record->cut = record->cut || argument.cut;
    if (is_word(name, "id"))
        event->id = value;
    else if (is_word(name, "message") || is_word(name, "type"))
        event->message = text;
}

static void take_event(struct fuchsia *fuchsia, struct record *record,
                       uint64_t head)
{
    struct eio_event event = {.type = (uint8_t)bits(head, 16, 4)};
    uint32_t arguments = bits(head, 20, 4);

    event.time = clocks_of(fuchsia, take_word(record));
    event.thread = take_thread(fuchsia, record, bits(head, 24, 8));
    event.category = take_string(fuchsia, record, bits(head, 32, 16));
    event.name = take_string(fuchsia, record, bits(head, 48, 16));
    while (arguments-- > 0 && !record->cut)
        take_argument(fuchsia, record, &event);
    if (!record->cut)
        eio_take(&fuchsia->eio, &event);
}

/* The name of a fiber or a context. */
static void take_user_object(struct fuchsia *fuchsia, struct record *record,
                             uint64_t head)
{
    uint64_t id = take_word(record);
    struct eio_text name;

    take_thread(fuchsia, record, bits(head, 16, 8));
    name = take_string(fuchsia, record, bits(head, 24, 16));
    if (!record->cut)
        eio_name(&fuchsia->eio, id, name);
}

static void take_scheduling(struct fuchsia *fuchsia, struct record *record,
                            uint64_t head)
{
    uint64_t time, id;

    if (bits(head, 60, 4) != THREAD_WAKEUP)
        return;
    time = clocks_of(fuchsia, take_word(record));
    id = take_word(record);
    if (!record->cut)
        eio_wake(&fuchsia->eio, time, bits(head, 20, 16), id);
}

static void take_definition(struct fuchsia *fuchsia, struct record *record,
                            uint64_t head)
{
    struct eio_text text;

    if (bits(head, 0, 4) == STRING) {
        text = take_bytes(record, bits(head, 32, 15));
        if (!record->cut)
            fuchsia->strings[bits(head, 16, 15)] = text;
    } else if (bits(head, 0, 4) == THREAD) {
        take_word(record);
        fuchsia->threads[bits(head, 16, 8)] = take_word(record);
    } else {
        uint64_t hz = take_word(record);

        /* so that a product with the rest of a division fits */
        if (hz > 0 && hz <= UINT64_MAX / PROF_CLOCK_HZ)
            fuchsia->ticks_hz = hz;
    }
}

static void take_record(struct fuchsia *fuchsia, struct record *record)
{
    uint64_t head = take_word(record);

    switch (bits(head, 0, 4)) {
    case INITIALIZATION:
    case STRING:
    case THREAD:
        take_definition(fuchsia, record, head);
        break;
    case EVENT:
        take_event(fuchsia, record, head);
        break;
    case USER_OBJECT:
        take_user_object(fuchsia, record, head);
        break;
    case SCHEDULING:
        take_scheduling(fuchsia, record, head);
        break;
    default:
        break;
    }
}

bool fuchsia_is(const uint8_t *bytes, size_t count)
{
    return count >= WORD && le64(bytes) == MAGIC;
}

uint64_t fuchsia_read(struct recording *recording, const uint8_t *bytes,
                      size_t count)
{
    struct fuchsia *fuchsia = xreallocarray(NULL, 1, sizeof *fuchsia);
    const uint8_t *at = bytes, *end = bytes + count;
    uint64_t unread;

    memset(fuchsia, 0, sizeof *fuchsia);
    fuchsia->ticks_hz = TICKS_HZ;
    while ((size_t)(end - at) >= WORD) {
        uint64_t head = le64(at);
        uint64_t words =
            bits(head, 0, 4) == LARGE ? bits(head, 4, 32) : bits(head, 4, 12);
        struct record record;

        if (words == 0 || words > (size_t)(end - at) / WORD)
            break;
        record = (struct record){at, at + words * WORD, false};
        take_record(fuchsia, &record);
        fuchsia->unread += record.cut ? words * WORD : 0;
        at += words * WORD;
    }
    unread = fuchsia->unread + (uint64_t)(end - at);
    eio_finish(&fuchsia->eio, recording);
    free(fuchsia);
    return unread;
}
