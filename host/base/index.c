/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing; doubled when it is half full. Texts are keyed by a hash
 * (FNV-1a); on a collision the second one takes the next free key. */

#include "base/index.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <threads.h>

#define FIRST_ROOM 64u
#define ROOM_MAX (1u << 31)

#define BYTES 8u

/* Random numbers of this process for each value of each byte of a key. */
static uint32_t table[BYTES][256];
static once_flag table_once = ONCE_FLAG_INIT;

static void fill_table(void)
{
    unsigned char *at = (unsigned char *)table;
    size_t left = sizeof table;

    while (left > 0) {
        ssize_t count = getrandom(at, left, 0);

        if (count < 0 && errno != EINTR)
            die("random numbers: %s", strerror(errno));
        if (count > 0) {
            at += count;
            left -= (size_t)count;
        }
    }
}

/* Simple tabulation: who does not know the table cannot choose keys that
 * collide, and with linear probing a lookup takes a constant number of probes
 * on average whatever the keys are (Patrascu and Thorup, 2012). */
static uint32_t hash_key(uint64_t key)
{
    uint32_t mixed = 0;

    for (unsigned i = 0; i < BYTES; ++i)
        mixed ^= table[i][key >> 8 * i & 0xff];
    return mixed;
}

static uint32_t slot_of(const struct index *index, uint64_t key)
{
    uint32_t at = hash_key(key) & (index->room - 1);

    while (index->slots[at].number != INDEX_NONE && index->slots[at].key != key)
        at = (at + 1) & (index->room - 1);
    return at;
}

static void grow_index(struct index *index)
{
    struct index old = *index;

    if (old.room == 0)
        call_once(&table_once, fill_table);
    if (old.room == ROOM_MAX)
        die("more than %u keys in one index", ROOM_MAX / 2);
    index->room = old.room > 0 ? 2 * old.room : FIRST_ROOM;
    index->slots = xreallocarray(NULL, index->room, sizeof *index->slots);
    for (uint32_t i = 0; i < index->room; ++i)
        index->slots[i].number = INDEX_NONE;
    for (uint32_t i = 0; i < old.room; ++i) {
        if (old.slots[i].number != INDEX_NONE)
            index->slots[slot_of(index, old.slots[i].key)] = old.slots[i];
    }
    free(old.slots);
}

uint32_t index_add_row(struct index *index, uint64_t key, void *rows,
                       const void *row, size_t bytes)
{
    bool is_new;
    uint32_t number = index_add(index, key, &is_new);
    char *vector;

    if (is_new) {
        vector_reserve_one(rows, number, bytes);
        memcpy(&vector, rows, sizeof vector);
        memcpy(vector + number * bytes, row, bytes);
    }
    return number;
}

uint32_t index_probes(const struct index *index, uint64_t key)
{
    if (index->room == 0)
        return 0;
    return (slot_of(index, key) - hash_key(key)) % index->room + 1;
}

uint32_t index_find(const struct index *index, uint64_t key)
{
    return index->room > 0 ? index->slots[slot_of(index, key)].number
                           : INDEX_NONE;
}

uint32_t index_add(struct index *index, uint64_t key, bool *is_new)
{
    struct index_slot *slot;

    if (2 * index->count >= index->room)
        grow_index(index);
    slot = &index->slots[slot_of(index, key)];
    if (is_new != NULL)
        *is_new = slot->number == INDEX_NONE;
    if (slot->number == INDEX_NONE)
        *slot = (struct index_slot){key, index->count++};
    return slot->number;
}

void index_free(struct index *index)
{
    free(index->slots);
    *index = (struct index){0};
}

/* ---- interned strings */

static uint64_t hash_text(const char *text)
{
    uint64_t value = 0xcbf29ce484222325u;

    for (; *text != '\0'; ++text)
        value = (value ^ (uint8_t)*text) * 0x100000001b3u;
    return value;
}

static uint32_t put_string(struct strings *strings, const char *text)
{
    for (uint64_t key = hash_text(text);; ++key) {
        bool is_new;
        uint32_t number = index_add(&strings->keys, key, &is_new);

        if (is_new) {
            vector_reserve_one(&strings->texts, number, sizeof *strings->texts);
            strings->texts[number] = xstrdup(text);
        }
        if (strcmp(strings->texts[number], text) == 0)
            return number;
    }
}

uint32_t strings_put(struct strings *strings, const char *text)
{
    if (strings->keys.count == 0)
        put_string(strings, "");
    return put_string(strings, text);
}

const char *strings_text(const struct strings *strings, uint32_t number)
{
    return number < strings->keys.count ? strings->texts[number] : "";
}

uint32_t strings_count(const struct strings *strings)
{
    return strings->keys.count;
}

void strings_free(struct strings *strings)
{
    for (uint32_t i = 0; i < strings->keys.count; ++i)
        free(strings->texts[i]);
    free(strings->texts);
    index_free(&strings->keys);
    *strings = (struct strings){0};
}
