/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_FIREFOX_H
#define EXPORT_FIREFOX_H

/* The two halves of the Firefox export: firefox.c writes the profile and its
 * samples, firefox_tables.c a thread's stacks, frames and functions. */

#include "profile/samples.h"

#include <stdio.h>

/* A row of a thread's stack table. */
struct firefox_stack {
    uint32_t prefix; /* its caller's row + 1, 0 = none */
    uint32_t frame;
};

struct firefox {
    struct view *view;
    struct samples samples;
    FILE *out;
    struct strings strings; /* of the whole profile */

    /* tables of the thread being written */
    uint32_t *stack_of_node;
    struct firefox_stack *stacks;
    struct index stack_keys; /* (prefix, frame) */
    struct frame *frames;
    struct index frame_keys; /* (function, line) */
    uint32_t *functions;     /* numbers of names */
    struct index function_keys;
};

/* Builds the tables of a track from the selected cells. */
void firefox_make_tables(struct firefox *firefox, uint32_t track);

/* Writes them as members of the thread's object, and frees them. */
void firefox_put_tables(struct firefox *firefox);

/* The array of the categories that frames have. */
void firefox_put_categories(FILE *out);

#endif
