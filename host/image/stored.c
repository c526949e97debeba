/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of images in a trace. A reader trusts nothing of it. */

#include "image/stored.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 65535u /* bytes */

struct maker {
    uint8_t *bytes;
    size_t count;
    size_t texts;     /* bytes of all so far */
    size_t functions; /* so far */
    char text[TEXT_MAX + 1];
};

static void put_byte(struct maker *to, uint8_t byte)
{
    VECTOR_ADD(to->bytes, to->count, byte);
}

static void put_varint(struct maker *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put_byte(to, (uint8_t)(number | 0x80));
    put_byte(to, (uint8_t)number);
}

static void put_signed(struct maker *to, uint64_t now, uint64_t before)
{
    uint64_t change = now - before;

    put_varint(to, change << 1 ^ -(change >> 63));
}

static void put_bytes(struct maker *to, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        put_byte(to, ((const uint8_t *)bytes)[i]);
}

static void put_text(struct maker *to, const char *text)
{
    size_t shared = 0, length = strnlen(text, TEXT_MAX);

    while (shared < length && to->text[shared] == text[shared])
        ++shared;
    put_varint(to, shared);
    put_varint(to, length - shared);
    to->texts += length;
    put_bytes(to, text + shared, length - shared);
    memcpy(to->text + shared, text + shared, length - shared);
    to->text[length] = '\0';
}

static void put_functions(struct maker *to, const struct image *image)
{
    uint64_t before = 0;

    put_varint(to, image->count);
    to->functions += image->count;
    for (size_t i = 0; i < image->count; ++i) {
        const struct image_symbol *function = &image->functions[i];

        put_varint(to, function->start - image->moved - before);
        put_varint(to, function->end - function->start);
        put_text(to, function->name);
        before = function->start - image->moved;
    }
}

/* A large table is left out: no sources, no lines. */
static void put_lines(struct maker *to, const struct image *image)
{
    struct image_line before = {0};
    size_t begin = to->count;

    put_varint(to, image->source_count);
    for (size_t i = 0; i < image->source_count; ++i)
        put_text(to, image->sources[i]);
    put_varint(to, image->line_count);
    for (size_t i = 0; i < image->line_count; ++i) {
        const struct image_line *line = &image->lines[i];

        put_varint(to, line->address - before.address);
        put_signed(to, line->source, before.source);
        put_signed(to, line->line, before.line);
        before = *line;
    }
    if (to->count - begin > STORED_LINES_MAX) {
        to->count = begin;
        put_varint(to, 0);
        put_varint(to, 0);
    }
}

static void put_image(struct maker *to, const struct image *image)
{
    char *path = realpath(image->path, NULL);

    put_text(to, path != NULL ? path : image->path);
    free(path);
    put_varint(to, image->is_list);
    put_varint(to, image->build_id_bytes);
    put_bytes(to, image->build_id, image->build_id_bytes);
    put_varint(to, image->begin);
    put_varint(to, image->end);
    put_varint(to, image->moved);
    put_functions(to, image);
    put_lines(to, image);
}

uint8_t *stored_payload(const struct image *image, size_t *bytes)
{
    struct maker *payload = xreallocarray(NULL, 1, sizeof *payload);
    uint8_t *made = NULL;
    size_t images = 0;

    *payload = (struct maker){0};
    for (const struct image *at = image; at != NULL; at = at->next)
        ++images;
    put_varint(payload, images);
    for (const struct image *at = image; at != NULL; at = at->next)
        put_image(payload, at);
    if (payload->count <= STORED_PAYLOAD_MAX &&
        payload->texts <= STORED_TEXTS_MAX &&
        payload->functions <= STORED_FUNCTIONS_MAX) {
        made = payload->bytes;
        *bytes = payload->count;
    } else {
        free(payload->bytes);
    }
    free(payload);
    return made;
}

struct reader {
    const uint8_t *at;
    const uint8_t *end;
    bool wrong;
    size_t texts;      /* bytes of all so far */
    size_t functions;  /* so far */
    size_t text_bytes; /* of the last one */
    char text[TEXT_MAX + 1];
};

static uint64_t get_varint(struct reader *from)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64 && from->at < from->end; shift += 7) {
        uint8_t byte = *from->at++;

        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    from->wrong = true;
    from->at = from->end;
    return 0;
}

static uint64_t get_signed(struct reader *from, uint64_t before)
{
    uint64_t change = get_varint(from);

    return before + (change >> 1 ^ -(change & 1));
}

/* How many entries follow; each takes at least (bytes). */
static size_t get_count(struct reader *from, size_t bytes)
{
    uint64_t count = get_varint(from);

    if (count > (size_t)(from->end - from->at) / bytes) {
        from->wrong = true;
        return 0;
    }
    return (size_t)count;
}

static void get_bytes(struct reader *from, void *to, uint64_t count)
{
    if (count > (uint64_t)(from->end - from->at)) {
        from->wrong = true;
        return;
    }
    memcpy(to, from->at, count);
    from->at += count;
}

/* To be freed. */
static char *get_text(struct reader *from)
{
    uint64_t shared = get_varint(from), bytes = get_varint(from);

    if (shared > from->text_bytes || bytes > TEXT_MAX - shared ||
        bytes > (uint64_t)(from->end - from->at) ||
        shared + bytes > STORED_TEXTS_MAX - from->texts ||
        memchr(from->at, '\0', bytes) != NULL) {
        from->wrong = true;
        return xstrdup("");
    }
    get_bytes(from, from->text + shared, bytes);
    from->text_bytes = shared + bytes;
    from->texts += from->text_bytes;
    from->text[from->text_bytes] = '\0';
    return xstrdup(from->text);
}

/* (number) more than (before), if that does not wrap around. */
static uint64_t added(struct reader *from, uint64_t before, uint64_t number)
{
    from->wrong = from->wrong || number > UINT64_MAX - before;
    return before + number;
}

/* Starts rise, no function overlaps the next, and none wraps around where it
 * was moved to. */
static void get_functions(struct reader *from, struct image *image)
{
    size_t count = get_count(from, 4);
    uint64_t before = image->moved;

    from->wrong = from->wrong || count > STORED_FUNCTIONS_MAX - from->functions;
    if (from->wrong)
        return;
    from->functions += count;
    image->functions = xreallocarray(NULL, count, sizeof *image->functions);
    while (image->count < count && !from->wrong) {
        struct image_symbol *function = &image->functions[image->count];
        const struct image_symbol *last = function - 1;

        function->start = added(from, before, get_varint(from));
        function->end = added(from, function->start, get_varint(from));
        function->name = get_text(from);
        from->wrong =
            from->wrong || (image->count > 0 && (function->start == before ||
                                                 function->start < last->end));
        before = function->start;
        ++image->count;
    }
}

static void get_lines(struct reader *from, struct image *image)
{
    struct image_line before = {0};
    size_t count = get_count(from, 2);

    image->sources = xreallocarray(NULL, count, sizeof *image->sources);
    while (image->source_count < count && !from->wrong)
        image->sources[image->source_count++] = get_text(from);
    count = get_count(from, 3);
    image->lines = xreallocarray(NULL, count, sizeof *image->lines);
    while (image->line_count < count && !from->wrong) {
        uint64_t source, line;

        before.address = added(from, before.address, get_varint(from));
        source = get_signed(from, before.source);
        line = get_signed(from, before.line);
        from->wrong =
            from->wrong || source > image->source_count || line > INT32_MAX;
        before.source = (uint32_t)source;
        before.line = (uint32_t)line;
        image->lines[image->line_count++] = before;
    }
}

static void get_image(struct reader *from, struct image *image)
{
    uint64_t build_id_bytes;

    *image = (struct image){.is_stored = true};
    image->path = image->own_path = get_text(from);
    image->is_list = get_varint(from) != 0;
    build_id_bytes = get_varint(from);
    if (build_id_bytes > sizeof image->build_id) {
        build_id_bytes = 0;
        from->wrong = true;
    }
    image->build_id_bytes = (uint32_t)build_id_bytes;
    get_bytes(from, image->build_id, image->build_id_bytes);
    image->begin = get_varint(from);
    image->end = get_varint(from);
    image->moved = get_varint(from);
    from->wrong = from->wrong || image->end < image->begin ||
                  image->moved > UINT64_MAX - image->end;
    get_functions(from, image);
    get_lines(from, image);
}

bool stored_read_payload(struct image *image, const uint8_t *bytes,
                         size_t count)
{
    struct reader *from = xreallocarray(NULL, 1, sizeof *from);
    struct image *last = image;
    bool fine;
    size_t images;

    *from = (struct reader){.at = bytes, .end = bytes + count};
    images = get_count(from, 10);
    *image = (struct image){0};
    for (size_t i = 0; i < images && !from->wrong; ++i) {
        if (i > 0) {
            last->next = xreallocarray(NULL, 1, sizeof *last);
            last = last->next;
        }
        get_image(from, last);
    }
    fine = images > 0 && !from->wrong && from->at == from->end;
    free(from);
    if (!fine)
        image_close(image);
    return fine;
}
