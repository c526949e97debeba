/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NAMES_H
#define NAMES_H

/*
 * Names for addresses: functions from the image's symbols, and, where they are
 * asked for, source lines and inlined functions from its DWARF data. Each
 * address is looked up once.
 */

#include "image.h"
#include "strings.h"

struct dwarf;

/* One function at an address. Numbers of names->strings. */
struct place {
    uint32_t function;
    uint32_t line; /* "file.c:12", 0 = unknown or not asked for */
};

#define NAMES_INLINED_MAX 16 /* functions at one address */

struct names {
    struct image *image; /* NULL = addresses are their own names */
    struct dwarf *dwarf; /* NULL = no lines */
    bool inlined;        /* functions that were inlined are frames as well */
    struct strings strings;
    struct index known; /* 2 * address, + 1 if it is one that is returned to */
    struct {
        uint32_t first; /* in places */
        uint32_t count;
    } * lookups;
    struct place *places;
    size_t place_count;
    const char *(*readable)(const char *symbol); /* how a symbol is shown */
};

/* (image) may be NULL. With (lines), lines are looked up; with (inlined),
 * inlined functions too. */
void names_open(struct names *names, struct image *image, bool lines,
                bool inlined);

/* The functions at (address), the innermost first; *(count) is at least 1. If
 * (returned) the address is one that a call returns to, and the call is looked
 * up. The result is valid until the next call. */
const struct place *names_at(struct names *names, uint64_t address,
                             bool returned, size_t *count);

/* A name that is not an address's. */
uint32_t names_put(struct names *names, const char *text);

const char *names_text(const struct names *names, uint32_t number);

void names_close(struct names *names);

/* The DWARF data of the ELF file (path), or NULL if it has none. */
struct dwarf *dwarf_open(const char *path);

/* What is at one address, the innermost first. Strings live as long as the
 * dwarf; (function) is NULL for the outermost one, whose name is the symbol's,
 * (file) is NULL if it is unknown. */
struct dwarf_place {
    const char *function;
    const char *file;
    int line;
};

size_t dwarf_at(struct dwarf *dwarf, uint64_t address,
                struct dwarf_place *places, size_t room);

/* DW_LANG_... of what is at (address), -1 = unknown. */
int dwarf_language(struct dwarf *dwarf, uint64_t address);

void dwarf_close(struct dwarf *dwarf);

#endif
