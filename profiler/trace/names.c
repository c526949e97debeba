/* SPDX-License-Identifier: Apache-2.0 */

/* The table of names; see names.h. */

#include "trace/names.h"

#include <stdbool.h>

#define PROBES 16u
#define ROOM_MAX 4096u
#define SLOTS_PER_NAME 2u
#define SLOT_BYTES ((uint32_t)sizeof(struct prof_trace_name *))
#define PER_NAME                                                               \
    (SLOT_BYTES + 2 * (uint32_t)sizeof(uint32_t) +                             \
     SLOTS_PER_NAME * (uint32_t)sizeof(uint16_t))

struct prof_names prof_names;
static struct prof_names *const names = &prof_names;

/* Half for the list and what belongs to it, the rest for copies. */
void prof_names_open(void *memory, size_t bytes)
{
    uint32_t room = 1;

    while (room < ROOM_MAX && (size_t)room * 2 * PER_NAME <= bytes / 2)
        room *= 2;
    *names = (struct prof_names){.list = memory, .room = room};
    names->notes[0] = (uint32_t *)(names->list + room);
    names->notes[1] = names->notes[0] + room;
    names->slots = (uint16_t *)(names->notes[1] + room);
    names->slots_mask = room * SLOTS_PER_NAME - 1;
    names->copies = (unsigned char *)(names->slots + names->slots_mask + 1);
    names->copies_bytes = (uint32_t)(bytes - (size_t)room * PER_NAME);
    for (uint32_t i = 0; i < room; i++)
        names->list[i] = NULL;
    for (uint32_t i = 0; i < 2 * room; i++)
        names->notes[0][i] = 0;
    for (uint32_t i = 0; i <= names->slots_mask; i++)
        names->slots[i] = 0;
}

/* Gives (name) the next number; false: there are no more. The list has it
 * before anybody can learn the number. */
static bool give_number(struct prof_trace_name *name)
{
    uint32_t at;

    if (__atomic_load_n(&names->taken, __ATOMIC_RELAXED) >= names->room)
        return false;
    at = __atomic_fetch_add(&names->taken, 1, __ATOMIC_RELAXED);
    if (at >= names->room)
        return false;
    __atomic_store_n(&names->list[at], name, __ATOMIC_RELEASE);
    __atomic_store_n(&name->tag, (at + 1) << PROF_NAME_SHIFT, __ATOMIC_RELEASE);
    return true;
}

/* Any CPU counts. */
static void count(uint32_t *counter)
{
    if (PROF_CPUS_MAX == 1)
        ++*counter;
    else
        (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

uint32_t prof_names_tag(struct prof_trace_name *name)
{
    if (give_number(name))
        return __atomic_load_n(&name->tag, __ATOMIC_RELAXED);
    count(&names->lost);
    return 0;
}

/* Fowler, Noll and Vo's hash 1a. */
static uint32_t hash(const char *text, uint32_t bytes)
{
    uint32_t sum = 2166136261u;

    for (uint32_t i = 0; i < bytes; i++)
        sum = (sum ^ (unsigned char)text[i]) * 16777619u;
    return sum;
}

static bool is_same(const struct prof_trace_name *name, const char *text)
{
    const char *known = name->text;

    while (*known == *text && *known != '\0') {
        known++;
        text++;
    }
    return *known == *text;
}

/* Copies to (to), which has room for PROF_TRACE_TEXT_MAX and a NUL, what of
 * (text) may be kept. Returns its length. */
static uint32_t clean(char *to, const char *text, size_t bytes)
{
    bool cut = bytes > PROF_TRACE_TEXT_MAX;
    uint32_t length = cut ? PROF_TRACE_TEXT_MAX - 3 : (uint32_t)bytes;

    for (uint32_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];

        to[i] = byte < ' ' || byte == 0x7f ? '?' : text[i];
    }
    for (uint32_t i = 0; cut && i < 3; i++)
        to[length++] = '.';
    to[length] = '\0';
    return length;
}

/* A copy of (text) with a number of its own; NULL: no room. */
static struct prof_trace_name *copy(const char *text, uint32_t length)
{
    uint32_t align = (uint32_t) _Alignof(struct prof_trace_name);
    uint32_t bytes = (uint32_t)sizeof(struct prof_trace_name) + length + 1;
    struct prof_trace_name *name;
    uint32_t at;
    char *to;

    bytes = (bytes + align - 1) & ~(align - 1);
    if (__atomic_load_n(&names->copies_used, __ATOMIC_RELAXED) + bytes >
        names->copies_bytes)
        return NULL;
    at = __atomic_fetch_add(&names->copies_used, bytes, __ATOMIC_RELAXED);
    if (at + bytes > names->copies_bytes)
        return NULL;
    name = (void *)(names->copies + at);
    to = (char *)(name + 1);
    for (uint32_t i = 0; i <= length; i++)
        to[i] = text[i];
    *name = (struct prof_trace_name){.text = to};
    return give_number(name) ? name : NULL;
}

uint32_t prof_names_intern(const char *text, size_t bytes)
{
    char cleaned[PROF_TRACE_TEXT_MAX + 1];
    uint32_t length = clean(cleaned, text, bytes);
    uint32_t at = hash(cleaned, length);
    struct prof_trace_name *name;
    uint32_t given;

    for (uint32_t probe = 0; probe < PROBES; probe++, at++) {
        uint16_t *slot = &names->slots[at & names->slots_mask];
        uint16_t number = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

        if (number != 0) {
            if (is_same(names->list[number - 1], cleaned))
                return number;
            continue;
        }
        name = copy(cleaned, length);
        if (name == NULL)
            break;
        if (bytes > PROF_TRACE_TEXT_MAX)
            count(&names->cut);
        /* an interrupt, or another CPU, may have taken the slot: then this copy
           is used once */
        given = name->tag >> PROF_NAME_SHIFT;
        (void)__atomic_compare_exchange_n(slot, &number, (uint16_t)given, false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        return given;
    }
    count(&names->lost);
    return PROF_NAME_NONE;
}

uint32_t prof_names_count(void)
{
    return names->taken < names->room ? names->taken : names->room;
}

const struct prof_trace_name *prof_names_get(uint32_t number)
{
    return __atomic_load_n(&names->list[number - 1], __ATOMIC_ACQUIRE);
}
