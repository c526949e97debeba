/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_INSIDE_H
#define ATTACH_INSIDE_H

/*
 * The guest's own profiler, as far as it can be read in the stopped guest's
 * memory: of which boot it is, and when it took its newest sample, on its own
 * clock. That is what a trace from outside and one from inside have in common
 * (struct prof_outside in <prof/format.h>).
 */

#include "image/image.h"
#include "unwind/image_location.h"

struct inside {
    uint64_t address; /* of prof_outside, 0 = the image has none */
    double due;       /* when to look, in seconds */
    bool found;       /* what follows was read */
    uint32_t word;    /* bytes of the guest's addresses */
    uint64_t ring;
    uint64_t clock;
    uint64_t uuid_address;
    uint32_t entry_bytes;
    uint32_t tsc_offset;

    uint64_t zero_tsc; /* of its clock */
    uint32_t factor;
    uint8_t uuid[16];
    uint64_t newest; /* sample, in clocks */
    uint64_t tsc;    /* the same */
    bool is_new;     /* it was read, and is not used yet */
    unsigned left;   /* looks until the boot is asked for again */
    uint64_t looks;  /* that found something */
};

/* Looks for the symbol in (image), or NULL. */
void inside_open(struct inside *inside, const struct image *image);

/* Whether to look at (now), in seconds. */
bool inside_due(const struct inside *inside, double now);

/* The guest is stopped: reads what there is. */
void inside_look(struct inside *inside, const struct places_memory *memory,
                 double now);

#endif
