/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EVENT_SCRIPT_H
#define EVENT_SCRIPT_H

/*
 * Streams from text:
 *
 *     made_script(made, "create 1 task site=3; switch 1; suspend; flush;"
 *                       "name 7 any text; stolen %llu", clocks);
 *
 * An event is its name in <prof/events.def> and its fields, in their order or
 * by name; those that are left out are 0. Where there is a wide form, that is
 * made. Besides, "sample NODE", "node NODE PARENT ADDRESS" and "leaf" take the
 * form that fits (stream_maker.h), "flush" ends the packet, "on CPU" also
 * says whose the next ones are, and "step CLOCKS" sets the time between events.
 */

#include "stream_maker.h"

#include <stdarg.h>

#define SCRIPT_uint8 "1"
#define SCRIPT_name8 "1"
#define SCRIPT_tiny "1"
#define SCRIPT_object_kind "1"
#define SCRIPT_uint16 "2"
#define SCRIPT_int16 "2"
#define SCRIPT_near "2"
#define SCRIPT_walk_stop "2"
#define SCRIPT_uint32 "4"
#define SCRIPT_uint64 "8"
#define SCRIPT_int64 "8"
#define SCRIPT_address "8"
#define SCRIPT_clock "8"
#define SCRIPT_bytes32 "9" /* of HELLO: made_hello() */
#define SCRIPT_text "0"

/* (fields): of each the digit of its bytes, its name and a blank. */
static const struct script_kind {
    const char *name;
    enum prof_event kind;
    const char *fields;
} script_kinds[] = {
#define PROF_EVENT(NAME, name, kind, meaning, fields)                          \
    {#name, PROF_EVENT_##NAME, fields},
#define PROF_BARE(NAME, name, kind, meaning) {#name, PROF_EVENT_##NAME, ""},
#define PROF_FIELD(type, name, meaning) SCRIPT_##type #name " "
#include <prof/events.def>
};

static const char *const script_objects[] = {
#define PROF_OBJECT(NAME, name, number, meaning) [number] = #name,
#include <prof/events.def>
};

static inline const struct script_kind *script_kind(const char *name)
{
    const struct script_kind *found = NULL;
    char wide[40];

    snprintf(wide, sizeof wide, "%s_wide", name);
    for (size_t i = 0; i < sizeof script_kinds / sizeof *script_kinds; ++i) {
        if (strcmp(script_kinds[i].name, wide) == 0)
            return &script_kinds[i];
        if (strcmp(script_kinds[i].name, name) == 0)
            found = &script_kinds[i];
    }
    if (found == NULL) {
        fprintf(stderr, "no event %s\n", name);
        abort();
    }
    return found;
}

static inline uint64_t script_number(const char *word)
{
    uint64_t number;
    char *end;

    for (size_t i = 0; i < sizeof script_objects / sizeof *script_objects; ++i)
        if (strcmp(word, script_objects[i]) == 0)
            return i;
    number = strtoull(word, &end, 0);
    if (*end != '\0') {
        fprintf(stderr, "no number: %s\n", word);
        abort();
    }
    return number;
}

/* The next field to set: (field) is in the kind's list, (at) its offset. */
struct script_place {
    const char *field;
    unsigned at;
};

static inline struct script_place script_next(struct script_place place)
{
    return (struct script_place){strchr(place.field, ' ') + 1,
                                 place.at + (unsigned)(*place.field - '0')};
}

/* The event (kind) with the fields in (words). */
static inline void script_fields(struct made *made,
                                 const struct script_kind *kind, char *words)
{
    uint8_t bytes[256] = {0};
    const struct script_place first = {kind->fields, 0};
    struct script_place next = first;
    size_t length = 0;
    char *word;

    while (*next.field > '0') {
        char *value;

        word = strtok_r(NULL, " ", &words);
        if (word == NULL)
            break;
        value = strchr(word, '=');
        if (value != NULL) {
            *value++ = '\0';
            next = first;
            while (strncmp(next.field + 1, word, strlen(word)) != 0 ||
                   next.field[1 + strlen(word)] != ' ')
                next = script_next(next);
        }
        made_bits(bytes + next.at, script_number(value == NULL ? word : value),
                  (unsigned)(*next.field - '0'));
        next = script_next(next);
    }
    while (*next.field > '0')
        next = script_next(next);
    if (*next.field == '0') {
        length = strlen(words) + 1;
        memcpy(bytes + next.at, words, length);
    }
    made_event(made, kind->kind, bytes, next.at + length);
}

static inline void script_line(struct made *made, char *line)
{
    char *words = NULL, *name = strtok_r(line, " \n", &words);
    uint64_t number[3];
    char *end = words;

    if (name == NULL)
        return;
    for (int i = 0; i < 3; ++i)
        number[i] = strtoull(end, &end, 0);
    if (strcmp(name, "flush") == 0)
        made_flush(made);
    else if (strcmp(name, "on") == 0)
        made_flush(made), made->cpu = (uint16_t)number[0];
    else if (strcmp(name, "step") == 0)
        made->step = number[0];
    else if (strcmp(name, "sample") == 0)
        made_sample(made, (uint32_t)number[0]);
    else if (strcmp(name, "node") == 0)
        made_node(made, (uint32_t)number[0], (uint32_t)number[1], number[2]);
    else if (strcmp(name, "leaf") == 0)
        made_leaf(made, (uint32_t)number[0], (uint32_t)number[1], number[2]);
    else
        script_fields(made, script_kind(name), words);
}

__attribute__((format(printf, 2, 3))) static inline void
made_script(struct made *made, const char *format, ...)
{
    char text[4096], *lines = NULL;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *line = strtok_r(text, ";", &lines); line != NULL;
         line = strtok_r(NULL, ";", &lines))
        script_line(made, line);
}

#endif
