/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_NAMES_H
#define IMAGE_NAMES_H

/* Names for addresses: functions from the image's symbols and, if asked for,
 * source lines and inlined functions from its DWARF data. Each address is
 * looked up once. */

#include "base/index.h"
#include "image/image.h"
#include "image/own_code.h"

struct dwarf;
struct guest_names;

/* One function at an address, as numbers of names->strings. */
struct frame {
    uint32_t function;
    uint32_t line; /* "file.c:12", 0 = unknown or not asked for */
    bool own;      /* the profiler's */
};

#define NAMES_INLINED_MAX 16 /* functions at one address */

/*
 * Addresses in a stack that mean something else; also one byte less, as which a
 * return address is looked up.
 *
 * NAMES_SCANNED  the callers from here on were found by a search of the stack
 * NAMES_OTHER    code where the image was linked, but is not
 */
#define NAMES_SCANNED (UINT64_MAX - 256)
#define NAMES_OTHER (UINT64_MAX - 258)

struct names {
    struct image *image; /* NULL = addresses are shown as numbers */
    struct own_code own;
    struct dwarf *dwarf;   /* NULL = no lines */
    struct dwarf **others; /* of the images after the first, in their order */
    bool lines;            /* source lines are asked for */
    bool inlined;          /* inlined functions are frames too */
    struct strings strings;
    struct names_lookups {
        struct index known; /* addresses */
        struct {
            uint32_t first; /* in frames */
            uint32_t count;
        } * found;
    } lookups[2]; /* [1] of return addresses */
    struct frame *frames;
    size_t frame_count;
    const char *(*readable)(const char *symbol); /* how a symbol is displayed */
    const struct guest_names *guest; /* of address spaces; NULL = unknown */
};

/* --return-types: C++ templates show what they return, where known. */
extern bool names_with_returns;

/* (image) may be NULL. (lines) asks for source lines, (inlined) for inlined
 * functions too. */
void names_open(struct names *names, struct image *image, bool lines,
                bool inlined);

/* The functions at (address), the innermost first; *(count) is at least 1. If
 * (returned), it is a return address, and the call before it is looked up. The
 * result is valid until the next call. */
const struct frame *names_at(struct names *names, uint64_t address,
                             bool returned, size_t *count);

/* The debug information of what is at *(address), which becomes the address as
 * linked; NULL if there is none. */
struct dwarf *names_dwarf(const struct names *names, uint64_t *address);

/* A frame's line as file and number, which other formats need separately:
 * "file.c" and 12, or "" and 0 if it is unknown. The name is to be freed. */
struct source_line {
    char *file;
    uint32_t line;
};

struct source_line frame_source(const struct names *names,
                                const struct frame *frame);

/* Adds a name that belongs to no address. */
uint32_t names_put(struct names *names, const char *text);

const char *names_text(const struct names *names, uint32_t number);

void names_close(struct names *names);

#endif
