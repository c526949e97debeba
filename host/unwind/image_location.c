/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for images in a guest's memory. */

#include "unwind/image_location.h"

#include "base/log.h"
#include "base/memory.h"
#include "image/names.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u
#define PART_SHIFT 21 /* of the address space, in which searches are counted */
#define CANDIDATES_MAX 1024u
#define PIECE PLACES_PIECE
#define PIECES 16u
#define NOTE_HEAD 16u /* bytes of a note before the build-id */

void places_open(struct places *places, const struct image *image)
{
    places->tries = UINT_MAX;
    for (; image != NULL; image = image->next) {
        struct code *code = &places->codes[places->code_count];

        if (places->code_count == PLACES_CODES_MAX)
            die("at most %u images at a time", PLACES_CODES_MAX);
        code_open(code, image);
        places->files = places->files || code->file != NULL;
        places->list[places->code_count++] =
            (struct place){code, 0, false, false};
    }
    places->count = places->code_count;
}

static bool is_in(const struct code *code, uint64_t linked)
{
    return linked >= code->image->begin && linked < code->image->end;
}

static struct place *find_place(struct places *places, uint64_t address)
{
    for (size_t i = places->count; i-- > 0;) {
        struct place *place = &places->list[i];

        if (is_in(place->code, address - place->slide))
            return place;
    }
    return NULL;
}

const struct place *places_at(const struct places *places, uint64_t address)
{
    return find_place((struct places *)places, address);
}

enum found { FOUND, FOUND_NONE, FOUND_OTHER };

/* Whether a build-id is there, and which. Some loaders leave it out. */
static enum found find_note(const struct code *code, uint64_t slide,
                            const struct places_memory *memory)
{
    static const uint8_t head[NOTE_HEAD] = {4, 0, 0, 0, 0,   0,   0,   0,
                                            3, 0, 0, 0, 'G', 'N', 'U', 0};
    const struct image *image = code->image;
    uint8_t there[NOTE_HEAD + sizeof image->build_id];

    if (image->note == 0 ||
        !memory->bytes(memory->owner, image->note - NOTE_HEAD + slide, there,
                       NOTE_HEAD + image->build_id_bytes))
        return FOUND_NONE;
    there[4] = 0; /* the bytes of a build-id */
    if (memcmp(there, head, NOTE_HEAD) != 0)
        return FOUND_NONE;
    return memcmp(there + NOTE_HEAD, image->build_id, image->build_id_bytes) ==
                   0
               ? FOUND
               : FOUND_OTHER;
}

/* Whether most of the code is there; the guest may have changed some. */
static bool has_code(const struct code *code, uint64_t slide,
                     const struct places_memory *memory)
{
    const struct image *image = code->image;
    size_t compared = 0, same = 0;

    for (size_t i = 0; i < PIECES; ++i) {
        uint64_t at = image->begin + (image->end - image->begin) / PIECES * i;
        uint8_t there[PIECE];

        if (image->count > 0)
            at = image->functions[image->count * i / PIECES].start -
                 image->moved;
        if (code_byte(code, at + PIECE - 1) < 0)
            continue;
        compared += PIECE;
        if (memory->bytes(memory->owner, at + slide, there, PIECE))
            same += code_same(code, at, there, PIECE);
    }
    return 5 * same >= 3 * compared;
}

/* Whether it is there; then place->seen. */
static bool see(struct place *place, const struct places_memory *memory)
{
    enum found found = find_note(place->code, place->slide, memory);

    place->has_note = found == FOUND;
    place->seen = found == FOUND;
    if (found == FOUND_NONE) /* nothing of a list can be checked */
        place->seen = place->code->file == NULL ||
                      has_code(place->code, place->slide, memory);
    return place->seen;
}

/* Adds (code) at that (slide) if it is there. */
static bool add_place(struct places *places, struct code *code, uint64_t slide,
                      const struct places_memory *memory)
{
    struct place place = {code, slide, false, false};

    if (!see(&place, memory))
        return false;
    if (places->count == PLACES_MAX) {
        memmove(places->list, places->list + 1,
                (PLACES_MAX - 1) * sizeof *places->list);
        --places->count;
    }
    places->list[places->count++] = place;
    ++places->changes;
    return true;
}

/* Sets the next range to search: places of an image, by its alignment, that
 * have the address in it. False if there is none. */
static bool next_range(struct places *places)
{
    struct places_search *search = &places->search;

    while (search->next < 2 * places->code_count) {
        struct code *code = &places->codes[search->next / 2];
        bool by_pages = search->next++ % 2 == 1;
        uint64_t width = code->image->end - code->image->begin;
        uint64_t step = by_pages ? PAGE : code->align, below, first;

        if (code->file == NULL || (by_pages && code->align <= PAGE))
            continue;
        /* slides are modular: those above (below), by (width) at most */
        below = search->ip - code->image->end;
        first = (below + step) & ~(step - 1);
        if (first - below > width ||
            (width - (first - below)) / step >= CANDIDATES_MAX)
            continue;
        search->code = code;
        search->step = step;
        search->slide = first;
        search->left = (width - (first - below)) / step + 1;
        return true;
    }
    return false;
}

static bool try_next(struct places *places, const struct places_memory *memory)
{
    struct places_search *search = &places->search;
    uint64_t slide = search->slide;
    bool same =
        4 * code_same(search->code, search->ip - slide, search->there, PIECE) >=
        3 * PIECE;

    search->slide += search->step;
    --search->left;
    return (same || find_note(search->code, slide, memory) == FOUND) &&
           add_place(places, search->code, slide, memory);
}

static void search(struct places *places, const struct places_memory *memory)
{
    for (unsigned tries = 0; places->search.on && tries < places->tries;) {
        if (places->search.left == 0) {
            places->search.on = next_range(places);
            continue;
        }
        places->search.on = !try_next(places, memory);
        ++tries;
    }
}

/* Whether to search around (address) again: less and less often. */
static bool is_due(struct places *places, uint64_t address)
{
    bool is_new;
    uint32_t number =
        index_add(&places->searched, address >> PART_SHIFT, &is_new);

    if (is_new) {
        vector_reserve_one(&places->searches, number, sizeof *places->searches);
        places->searches[number] = 0;
    }
    ++places->searches[number];
    return (places->searches[number] & (places->searches[number] - 1)) == 0;
}

static void look_for(struct places *places, uint64_t ip,
                     const struct places_memory *memory)
{
    bool due = !places->search.on && is_due(places, ip);
    uint8_t there[PIECE];

    if (!places->files || !memory->bytes(memory->owner, ip, there, PIECE))
        return;
    for (size_t i = 0; i < places->code_count; ++i) {
        struct code *code = &places->codes[i];

        if (code->file != NULL && is_in(code, ip) &&
            2 * code_same(code, ip, there, PIECE) >= PIECE &&
            add_place(places, code, 0, memory))
            return;
    }
    if (due) {
        places->search = (struct places_search){.on = true, .ip = ip};
        memcpy(places->search.there, there, PIECE);
    }
    search(places, memory);
}

static void forget(struct places *places)
{
    for (size_t i = 0; i < places->code_count; ++i)
        places->list[i] = (struct place){&places->codes[i], 0, false, false};
    places->count = places->code_count;
    index_free(&places->searched);
    places->searched = (struct index){0};
    places->search.on = false;
    ++places->changes;
}

void places_see(struct places *places, size_t number,
                const struct registers *registers,
                const struct places_memory *memory)
{
    struct place *place;

    if (places->code_count == 0)
        return;
    if (registers->mode == MODE_REAL) {
        if (number == 0)
            forget(places);
        return;
    }
    place = find_place(places, registers->ip);
    if (place != NULL && place->seen)
        return;
    if (place != NULL) {
        if (see(place, memory))
            return;
        *place = places->list[--places->count];
    }
    look_for(places, registers->ip, memory);
}

uint64_t places_traced(const struct places *places, uint64_t address)
{
    const struct place *place = places_at(places, address);

    if (place != NULL)
        return address - place->slide + place->code->image->moved;
    if (places->code_count > 0 &&
        image_at(places->codes[0].image, address) != NULL)
        return NAMES_OTHER;
    return address;
}

static void report(const struct place *place)
{
    bool down = place->slide > INT64_MAX;

    log_summary("[ %s: 0x%" PRIx64 " bytes %s where it was linked, found by "
                "its %s ]",
                place->code->image->path, down ? -place->slide : place->slide,
                down ? "below" : "above",
                place->has_note ? "build-id" : "code");
}

void places_report(const struct places *places)
{
    for (size_t i = 0; i < places->code_count; ++i) {
        const struct code *code = &places->codes[i];
        bool seen = false;

        for (size_t k = 0; k < places->count; ++k) {
            const struct place *place = &places->list[k];

            if (place->code != code || !place->seen)
                continue;
            seen = true;
            if (place->slide != 0)
                report(place);
        }
        if (!seen)
            log_summary("[ %s: not seen in the guest ]", code->image->path);
    }
}

void places_close(struct places *places)
{
    for (size_t i = 0; i < places->code_count; ++i)
        code_close(&places->codes[i]);
    index_free(&places->searched);
    free(places->searches);
}
