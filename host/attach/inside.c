/* SPDX-License-Identifier: Apache-2.0 */
/* The newest sample of the guest's own profiler. */

#include "attach/inside.h"

#include "base/bytes.h"
#include "base/checked.h"

#include <prof/format.h>
#include <string.h>

#define INTERVAL_SECONDS 0.01 /* each look is two reads, so two round trips */
#define LOOKS_OF_BOOT 50u
#define WORDS_OF_RING 5u
#define WORD_MAX 8u
#define OUTSIDE_HEAD 24u /* bytes of prof_outside before its addresses */
#define CLOCK_BYTES 12u
#define ENTRY_BYTES_MAX 256u

static uint64_t word_at(const struct inside *inside, const uint8_t *bytes,
                        unsigned number)
{
    bytes += number * inside->word;
    return inside->word == sizeof(uint64_t) ? le64(bytes) : le32(bytes);
}

static bool read_word(const struct places_memory *memory, uint64_t address,
                      uint8_t *to, size_t count)
{
    return memory->bytes(memory->owner, address, to, count);
}

void inside_open(struct inside *inside, const struct image *image)
{
    *inside = (struct inside){0};
    for (; image != NULL && inside->address == 0; image = image->next)
        image_object(image, "prof_outside", &inside->address);
}

bool inside_due(const struct inside *inside, double now)
{
    return inside->address != 0 && now >= inside->due;
}

/* struct prof_outside, once the image is loaded. */
static bool find_profiler(struct inside *inside,
                          const struct places_memory *memory)
{
    uint8_t head[OUTSIDE_HEAD], words[3 * WORD_MAX];

    if (!read_word(memory, inside->address, head, sizeof head) ||
        le64(head) != PROF_OUTSIDE_MAGIC)
        return false;
    inside->word = le32(head + 8);
    inside->entry_bytes = le32(head + 12);
    inside->tsc_offset = le32(head + 16);
    if ((inside->word != 4 && inside->word != WORD_MAX) ||
        inside->entry_bytes > ENTRY_BYTES_MAX ||
        inside->tsc_offset > ENTRY_BYTES_MAX ||
        !read_word(memory, checked_add(inside->address, OUTSIDE_HEAD), words,
                   3 * (size_t)inside->word))
        return false;
    inside->ring = word_at(inside, words, 0);
    inside->clock = word_at(inside, words, 1);
    inside->uuid_address = word_at(inside, words, 2);
    return true;
}

/* Which boot it is, and its clock; false while there is no stream. */
static bool read_boot(struct inside *inside, const struct places_memory *memory)
{
    static const uint8_t none[sizeof inside->uuid];
    uint8_t clock[CLOCK_BYTES];

    if (!read_word(memory, inside->clock, clock, sizeof clock) ||
        !read_word(memory, inside->uuid_address, inside->uuid,
                   sizeof inside->uuid) ||
        memcmp(inside->uuid, none, sizeof none) == 0)
        return false;
    inside->zero_tsc = le64(clock);
    inside->factor = le32(clock + sizeof(uint64_t));
    inside->left = LOOKS_OF_BOOT;
    return true;
}

/* The TSC of the newest sample; 0 if there is none. */
static uint64_t read_newest(const struct inside *inside,
                            const struct places_memory *memory)
{
    uint8_t ring[WORDS_OF_RING * WORD_MAX], entry[sizeof(uint64_t)];
    uint64_t head, begin, end;

    if (!read_word(memory, inside->ring, ring,
                   WORDS_OF_RING * (size_t)inside->word))
        return 0;
    head = word_at(inside, ring, 0);
    begin = word_at(inside, ring, 3);
    end = word_at(inside, ring, 4);
    if (begin == 0 || head < begin || head >= end)
        return 0;
    head = checked_sub(head == begin ? end : head, inside->entry_bytes);
    head = checked_add(head, inside->tsc_offset);
    return read_word(memory, head, entry, sizeof entry) ? le64(entry) : 0;
}

/* As the guest computes it (profiler/stream/stream_clock.h). */
static uint64_t clock_of(const struct inside *inside, uint64_t tsc)
{
    uint64_t cycles = tsc - inside->zero_tsc;

    if ((int64_t)cycles < 0)
        return 0;
    return (cycles >> 32) * inside->factor +
           ((cycles & UINT32_MAX) * inside->factor >> 32);
}

void inside_look(struct inside *inside, const struct places_memory *memory,
                 double now)
{
    uint64_t tsc;

    inside->due = now + INTERVAL_SECONDS;
    inside->is_new = false;
    if (!inside->found)
        inside->found = find_profiler(inside, memory);
    if (!inside->found)
        return;
    tsc = read_newest(inside, memory);
    if (tsc < inside->tsc) /* it boots anew */
        inside->left = 0;
    inside->tsc = tsc;
    if (tsc == 0)
        return;
    if (inside->left == 0 && !read_boot(inside, memory))
        return;
    --inside->left;
    inside->newest = clock_of(inside, tsc);
    inside->is_new = true;
    ++inside->looks;
}
