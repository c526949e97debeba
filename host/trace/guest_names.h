/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_GUEST_NAMES_H
#define TRACE_GUEST_NAMES_H

/* The names that a guest gives to places, reasons, counters and labels (NAME
 * and SITE of <prof/events.def>), by its own numbers, 0 is no name; and to
 * address spaces (SPACE). */

#include "base/index.h"
#include "trace/event.h"

#include <prof/user.h>

#define GUEST_NAMES 65536u

struct guest_name {
    uint32_t text; /* of strings; 0 = not defined */
    uint32_t file; /* 0 = a name only */
    uint32_t line;
};

/* Starts as zeros. */
struct guest_names {
    struct guest_name *all;
    uint32_t count; /* the highest number and 1 */
    struct strings strings;
    uint32_t spaces[PROF_SPACES]; /* of strings; 0 = no name */
};

/* Takes NAME and SITE, of which what is repeated is ignored, and SPACE. Returns
 * whether (event) was one of them. */
bool guest_names_take(struct guest_names *names, const struct event *event);

/* "" if it is unknown; file: "" if it is no place in the source. */
const char *guest_names_text(const struct guest_names *names, uint32_t name);
const char *guest_names_file(const struct guest_names *names, uint32_t name);
uint32_t guest_names_line(const struct guest_names *names, uint32_t name);
const char *guest_names_space(const struct guest_names *names, uint32_t space);

void guest_names_free(struct guest_names *names);

#endif
