/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_TRACE_NAMES_H
#define PROF_TRACE_NAMES_H

/*
 * The names that events mention by their numbers, from 1 on: constant ones,
 * whose pointers are kept, and copies of others. They are never forgotten.
 *
 * Numbers are given in any context. Reentrant; a race may give a name two ids.
 */

#include <prof/trace.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_NAME_NONE 0u /* number of a name without room */
#define PROF_NAME_SHIFT 16

struct prof_names {
    struct prof_trace_name **list; /* by number - 1 */
    uint32_t room;                 /* of the list */
    uint32_t taken;                /* numbers given, or more than room */
    uint32_t *notes[2];            /* of two encoders, by number - 1 */
    uint16_t *slots;               /* of copies: numbers, by hash; 0 = free */
    uint32_t slots_mask;
    unsigned char *copies; /* structs, each followed by its text */
    uint32_t copies_bytes; /* room for these */
    uint32_t copies_used;
    uint32_t lost; /* uses of names without a number */
    uint32_t cut;  /* copies that are not whole */
};

extern struct prof_names prof_names;

/* Takes over (bytes) of (memory), aligned to 8. Contexts: thread, once. */
void prof_names_open(void *memory, size_t bytes);

/* The tag of (name), which has none: it gets a number. 0, and counted: there is
 * no room for it. */
uint32_t prof_names_tag(struct prof_trace_name *name);

/* The number of the name whose text is (bytes) of (text); what cannot be
 * printed becomes '?'. Linear in PROF_TRACE_TEXT_MAX at most. */
uint32_t prof_names_intern(const char *text, size_t bytes);

/* How many numbers there are; and the name of a number, NULL if it is just
 * being added. */
uint32_t prof_names_count(void);
const struct prof_trace_name *prof_names_get(uint32_t number);

#endif
