/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Advanced Configuration and Power Interface Specification 6.4, chapter
 * 20 (AML) and 6.4 (resources).
 *
 * A reader has the bytes from `at` to `end`; one that has met what it does not
 * know, or has too few bytes, has none left.
 */

#include "aml.h"

#define DEPTH_MAX 16u

#define OP_ZERO 0x00u
#define OP_ONE 0x01u
#define OP_ALIAS 0x06u
#define OP_NAME 0x08u
#define OP_BYTE 0x0au
#define OP_WORD 0x0bu
#define OP_DWORD 0x0cu
#define OP_STRING 0x0du
#define OP_QWORD 0x0eu
#define OP_SCOPE 0x10u
#define OP_BUFFER 0x11u
#define OP_PACKAGE 0x12u
#define OP_VAR_PACKAGE 0x13u
#define OP_METHOD 0x14u
#define OP_EXTERNAL 0x15u
#define OP_EXTENDED 0x5bu
#define OP_IF 0xa0u
#define OP_ELSE 0xa1u
#define OP_WHILE 0xa2u
#define OP_ONES 0xffu

#define EXTENDED_MUTEX 0x01u
#define EXTENDED_EVENT 0x02u
#define EXTENDED_REVISION 0x30u
#define EXTENDED_REGION 0x80u
#define EXTENDED_FIELD 0x81u
#define EXTENDED_DEVICE 0x82u
#define EXTENDED_BANK 0x87u /* 0x83 to it: all begin with their length */

#define NAME_BYTES 4u
#define NAME_ROOT 0x5cu
#define NAME_PARENT 0x5eu
#define NAME_DUAL 0x2eu
#define NAME_MULTI 0x2fu

#define RESOURCE_LARGE 0x80u
#define RESOURCE_END 0x0fu
#define RESOURCE_IRQ 0x04u
#define RESOURCE_MEMORY_32 0x86u
#define RESOURCE_INTERRUPT 0x89u
#define RESOURCE_MEMORY_32_BYTES 9u
#define INTERRUPT_EDGE 0x02u
#define INTERRUPT_LOW 0x04u
#define IRQ_EDGE 0x01u
#define IRQ_LOW 0x08u

struct reader {
    const uint8_t *at, *end;
};

struct search {
    const char *hid;
    void (*take)(const struct aml_device *device);
};

/* What is known of the device that is being read. */
struct found {
    bool is_wanted;
    struct aml_device device;
};

static size_t left(const struct reader *reader)
{
    return (size_t)(reader->end - reader->at);
}

static void give_up(struct reader *reader)
{
    reader->at = reader->end;
}

static void skip(struct reader *reader, size_t bytes)
{
    if (bytes > left(reader))
        give_up(reader);
    else
        reader->at += bytes;
}

/* 0 at the end. */
static uint8_t peek(const struct reader *reader)
{
    return reader->at < reader->end ? *reader->at : 0;
}

static uint8_t next(struct reader *reader)
{
    const uint8_t byte = peek(reader);

    skip(reader, 1);
    return byte;
}

static uint64_t read_number(struct reader *reader, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)next(reader) << 8 * i;
    return value;
}

/* A length, which counts its own bytes; the reader of what it encloses. The
 * outer one is behind that. */
static struct reader package(struct reader *reader)
{
    const uint8_t *begin = reader->at;
    const size_t whole = left(reader);
    const uint8_t lead = next(reader);
    const unsigned more = lead >> 6;
    size_t bytes = more == 0 ? lead & 0x3fu : lead & 0x0fu;
    struct reader inner;

    for (unsigned i = 0; i < more; i++)
        bytes |= (size_t)next(reader) << (4 + 8 * i);
    if (bytes > whole || bytes < 1 + more) {
        give_up(reader);
        return *reader;
    }
    inner = (struct reader){reader->at, begin + bytes};
    reader->at = begin + bytes;
    return inner;
}

/* Returns its last part, NULL if there is none. */
static const char *name(struct reader *reader)
{
    const char *last;
    size_t parts = 1;

    while (peek(reader) == NAME_ROOT || peek(reader) == NAME_PARENT)
        skip(reader, 1);
    if (peek(reader) == 0) {
        skip(reader, 1);
        return NULL;
    }
    if (peek(reader) == NAME_DUAL) {
        skip(reader, 1);
        parts = 2;
    } else if (peek(reader) == NAME_MULTI) {
        skip(reader, 1);
        parts = next(reader);
    }
    if (parts == 0 || parts * NAME_BYTES > left(reader)) {
        give_up(reader);
        return NULL;
    }
    skip(reader, parts * NAME_BYTES);
    last = (const char *)reader->at - NAME_BYTES;
    return last;
}

/* A constant; false: it is something else, and the reader has given up. */
static bool integer(struct reader *reader, uint64_t *value)
{
    switch (next(reader)) {
    case OP_ZERO:
        *value = 0;
        return true;
    case OP_ONE:
        *value = 1;
        return true;
    case OP_ONES:
        *value = UINT64_MAX;
        return true;
    case OP_BYTE:
        *value = read_number(reader, 1);
        return true;
    case OP_WORD:
        *value = read_number(reader, 2);
        return true;
    case OP_DWORD:
        *value = read_number(reader, 4);
        return true;
    case OP_QWORD:
        *value = read_number(reader, 8);
        return true;
    default:
        give_up(reader);
        return false;
    }
}

static bool is_string(const struct reader *reader, const char *text)
{
    size_t i = 1;

    if (peek(reader) != OP_STRING)
        return false;
    for (; i < left(reader); i++) {
        if ((char)reader->at[i] != text[i - 1])
            return false;
        if (text[i - 1] == '\0')
            return true;
    }
    return false;
}

static void skip_data(struct reader *reader)
{
    uint64_t unused;

    switch (peek(reader)) {
    case OP_STRING:
        while (left(reader) != 0 && next(reader) != '\0')
            ;
        break;
    case OP_BUFFER:
    case OP_PACKAGE:
    case OP_VAR_PACKAGE:
        skip(reader, 1);
        (void)package(reader);
        break;
    case OP_EXTENDED:
        skip(reader, 1);
        if (next(reader) != EXTENDED_REVISION)
            give_up(reader);
        break;
    default:
        (void)integer(reader, &unused);
    }
}

/* ---- resources */

static void large_resource(struct reader item, uint8_t tag,
                           struct aml_device *device)
{
    uint8_t flags;

    if (tag == RESOURCE_MEMORY_32 && device->bytes == 0 &&
        left(&item) >= RESOURCE_MEMORY_32_BYTES) {
        skip(&item, 1);
        device->memory = read_number(&item, 4);
        device->bytes = read_number(&item, 4);
    } else if (tag == RESOURCE_INTERRUPT && !device->has_input &&
               left(&item) >= 6) {
        flags = next(&item);
        if (next(&item) == 0)
            return;
        device->has_input = true;
        device->input = (struct acpi_input){
            .gsi = (uint32_t)read_number(&item, 4),
            .level = (flags & INTERRUPT_EDGE) == 0,
            .low = (flags & INTERRUPT_LOW) != 0,
        };
    }
}

/* Lines of an ISA bus: edge-triggered and active high, unless a third byte says
 * otherwise. What the MADT says of a line goes before that, as with Linux. */
static void irq_resource(struct reader item, struct aml_device *device)
{
    const uint32_t lines = (uint32_t)read_number(&item, 2);
    const uint8_t flags = left(&item) != 0 ? next(&item) : IRQ_EDGE;
    struct acpi_interrupts found;

    for (uint32_t line = 0; line < ACPI_ISA_LINES && !device->has_input; line++)
        if ((lines >> line & 1) != 0) {
            (void)acpi_interrupts(&found);
            device->has_input = true;
            device->input = found.isa[line];
            if ((found.overrides >> line & 1) != 0)
                continue;
            device->input.level = (flags & IRQ_EDGE) == 0;
            device->input.low = (flags & IRQ_LOW) != 0;
        }
}

/* A buffer: its length, its size, and descriptors. */
static void resources(struct reader reader, struct aml_device *device)
{
    struct reader buffer, item;
    uint64_t size;

    if (next(&reader) != OP_BUFFER)
        return;
    buffer = package(&reader);
    if (!integer(&buffer, &size))
        return;
    while (left(&buffer) != 0) {
        const uint8_t tag = next(&buffer);
        size_t bytes = tag & 7u;

        if ((tag & RESOURCE_LARGE) != 0)
            bytes = (size_t)read_number(&buffer, 2);
        item = (struct reader){buffer.at, buffer.at};
        if (bytes <= left(&buffer))
            item.end += bytes;
        skip(&buffer, bytes);
        if ((tag & RESOURCE_LARGE) != 0)
            large_resource(item, tag, device);
        else if (tag >> 3 == RESOURCE_IRQ)
            irq_resource(item, device);
        else if (tag >> 3 == RESOURCE_END)
            return;
    }
}

/* ---- terms */

static bool is_called(const char *part, const char *name_of)
{
    for (unsigned i = 0; i < NAME_BYTES; i++)
        if (part == NULL || part[i] != name_of[i])
            return false;
    return true;
}

static void named(struct reader *reader, const struct search *search,
                  struct found *found)
{
    const char *called = name(reader);

    if (found != NULL && is_called(called, "_HID"))
        found->is_wanted = is_string(reader, search->hid);
    else if (found != NULL && is_called(called, "_CRS"))
        resources(*reader, &found->device);
    skip_data(reader);
}

static void terms(struct reader reader, const struct search *search,
                  struct found *found, unsigned depth);

static void scope(struct reader inner, const struct search *search,
                  unsigned depth)
{
    (void)name(&inner);
    terms(inner, search, NULL, depth + 1);
}

static void device(struct reader inner, const struct search *search,
                   unsigned depth)
{
    struct found found = {0};

    (void)name(&inner);
    terms(inner, search, &found, depth + 1);
    if (found.is_wanted)
        search->take(&found.device);
}

static void extended(struct reader *reader, const struct search *search,
                     unsigned depth)
{
    const uint8_t op = next(reader);
    uint64_t unused;

    if (op == EXTENDED_DEVICE) {
        device(package(reader), search, depth);
    } else if (op >= EXTENDED_FIELD && op <= EXTENDED_BANK) {
        (void)package(reader);
    } else if (op == EXTENDED_MUTEX) {
        (void)name(reader);
        skip(reader, 1);
    } else if (op == EXTENDED_EVENT) {
        (void)name(reader);
    } else if (op == EXTENDED_REGION) {
        (void)name(reader);
        skip(reader, 1);
        if (integer(reader, &unused))
            (void)integer(reader, &unused);
    } else {
        give_up(reader);
    }
}

static void terms(struct reader reader, const struct search *search,
                  struct found *found, unsigned depth)
{
    while (left(&reader) != 0 && depth < DEPTH_MAX) {
        switch (next(&reader)) {
        case OP_SCOPE:
            scope(package(&reader), search, depth);
            break;
        case OP_NAME:
            named(&reader, search, found);
            break;
        case OP_ALIAS:
            (void)name(&reader);
            (void)name(&reader);
            break;
        case OP_EXTERNAL:
            (void)name(&reader);
            skip(&reader, 2);
            break;
        case OP_METHOD:
        case OP_IF:
        case OP_ELSE:
        case OP_WHILE:
            (void)package(&reader);
            break;
        case OP_EXTENDED:
            extended(&reader, search, depth);
            break;
        default:
            give_up(&reader);
        }
    }
}

void aml_devices(const void *code, size_t bytes, const char *hid,
                 void (*take)(const struct aml_device *device))
{
    const struct reader reader = {code, (const uint8_t *)code + bytes};
    const struct search search = {hid, take};

    terms(reader, &search, NULL, 0);
}
