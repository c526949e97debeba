/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNWIND_IMAGE_LOCATION_H
#define UNWIND_IMAGE_LOCATION_H

/*
 * Where the images are in the guest, which may not be where they were linked:
 * a loader has put them elsewhere (KASLR), or they have moved themselves.
 *
 * An image is looked for when a CPU stands where none is known: at the places
 * by which that address would be in its code. It is at one of them if its
 * build-id is there or, if it has none in memory, if its code is. What was
 * linked to the very address comes first, and is in doubt until it was seen.
 * A search goes on in the next stop at an unknown address, for each candidate
 * is a question to the stub, and a stop must be short.
 * Once CPU 0 is in real mode the guest begins anew, and all of it is forgotten.
 */

#include "base/index.h"
#include "image/code.h"
#include "machine/registers.h"

#define PLACES_CODES_MAX 16u
#define PLACES_MAX 32u
#define PLACES_PIECE 32u /* bytes of code that are compared */

/* Reads (count) bytes at (address) of the guest; false unless all are there. */
struct places_memory {
    bool (*bytes)(void *owner, uint64_t address, uint8_t *to, size_t count);
    void *owner;
};

struct place {
    struct code *code;
    uint64_t slide; /* added to the addresses as linked */
    bool seen;      /* it is there */
    bool has_note;  /* by its build-id */
};

/* One for an image around an address, a few candidates in each stop. */
struct places_search {
    bool on;
    uint64_t ip;
    uint8_t there[PLACES_PIECE]; /* the bytes at it */
    size_t next;                 /* range: an image, and a step */
    struct code *code;
    uint64_t step;
    uint64_t slide; /* the next one to try */
    uint64_t left;  /* to try in this range */
};

struct places {
    struct code codes[PLACES_CODES_MAX];
    size_t code_count;
    bool files; /* some are no lists of symbols: they can be looked for */
    struct place list[PLACES_MAX]; /* the last that fits is right */
    size_t count;
    struct index searched; /* parts of the address space */
    uint32_t *searches;    /* by number: samples there without a place */
    struct places_search search;
    unsigned tries; /* at most, in a stop; any number at first */
    unsigned changes;
};

/* Of (image) and those that follow it; NULL = none. */
void places_open(struct places *places, const struct image *image);

/* CPU (number) of the stopped guest stands there: looks for what is unknown. */
void places_see(struct places *places, size_t number,
                const struct registers *registers,
                const struct places_memory *memory);

/* The place of what is at (address), or NULL. */
const struct place *places_at(const struct places *places, uint64_t address);

/* (address) of the guest as a trace has it: as linked. */
uint64_t places_traced(const struct places *places, uint64_t address);

/* Prints where the images were. */
void places_report(const struct places *places);

void places_close(struct places *places);

#endif
