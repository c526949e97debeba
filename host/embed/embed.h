/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_H
#define EMBED_H

/*
 * embed, the step after the link that gives an image the names of its own
 * functions.
 *
 *     image.c   reads an ELF file: function symbols, build-id, embedded table
 *     names.c   the names, each without what it shares with the previous one,
 *               compressed: one code for frequent pairs of bytes
 *     lookup.c  where in the table a search begins
 *     table.c   the bytes of <prof/symtab.h>
 *     verify.c  whether a table says what the image has
 *     fill.c    the table put into the space that an image reserves for it
 *     build_id.c  a build-id for an image that was linked without
 *     fail.c    errors that end the program
 *     main.c    the command line
 *
 * Error policy: a file that cannot be used ends the program through
 * embed_fail() with one line and status 1. Nothing here crashes on a
 * malicious file.
 */

#include "symbols/function_symbols.h"
#include "symbols/space.h"

#include <prof/symtab.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct functions {
    struct function *at; /* by address; on the heap */
    size_t count;
    size_t beyond; /* further ones that a table's offsets do not reach */
};

/* The parts of an ELF file that matter here. */
struct image {
    const char *path;
    void *elf; /* libelf's handle; owns what is pointed to below */
    int file;
    unsigned bits;            /* 32 or 64, those of its code */
    bool stripped;            /* it has no symbol table */
    struct functions symbols; /* all function symbols, several to an address */
    uint32_t build_id_bytes;  /* 0 = the file has none */
    uint8_t build_id[PROF_BUILD_ID_MAX];
    enum space_result space_result;
    struct space space; /* reserved for a table */
};

/* How the names are stored in a table. */
enum names_form {
    NAMES_AS_PAYS, /* whichever table_make() finds to be smaller */
    NAMES_RAW,     /* as they are */
    NAMES_PACKED,  /* compressed */
};

/* The names of a table and what is needed to read them, all on the heap. */
struct names {
    uint8_t *bytes;
    size_t count;
    uint32_t *marks; /* where each 16th begins, little-endian */
    uint8_t *tokens; /* as in <prof/symtab.h>; NULL = bytes are bytes */
    size_t tokens_bytes;
};

/* An index over the entries' offsets, as in <prof/symtab.h>, on the heap. */
struct lookup {
    uint32_t shift;
    uint32_t window;
    uint32_t *parts; /* little-endian, as the firsts are */
    size_t parts_count;
    uint32_t *firsts;
    size_t firsts_count;
};

/* A table, ready to be written. */
struct table {
    uint8_t *bytes; /* on the heap */
    size_t count;
};

/* The program's name in messages, "embed". */
extern const char *embed_program;

/* Prints "(program): (path): ..." on stderr and exits with status 1. */
__attribute__((noreturn, format(printf, 2, 3))) void
embed_fail(const char *path, const char *format, ...);

/* calloc(), but never NULL. */
void *embed_alloc(size_t count, size_t bytes);

/* Reads (path), which must stay valid. */
void embed_open(struct image *image, const char *path);
void embed_close(struct image *image);

/* Fails if (image) has no functions to make a table of. */
void embed_need_symbols(const struct image *image);

/* Fails if (image) has no build-id. */
void embed_need_build_id(const struct image *image);

/*
 * One function for each address (functions_choose()). (all) is sorted by
 * function_compare(); the result is new and shares its names. A table reaches
 * 4 GiB: of functions further apart, such as the start code of a kernel in the
 * higher half, the 4 GiB with the most of them are kept.
 */
struct functions select_functions(const struct functions *all);

/* The (count) names at (all), in that order, packed or not. Names longer than
 * PROF_SYMTAB_NAME_MAX are cut and end with "...". */
struct names names_make(const char *const *all, size_t count, bool packed);
void names_free(struct names *names);

/* The index over (count) starts and an end, little-endian at (offsets): at most
 * one part for 16 entries and two more, and half a piece per entry besides the
 * one that each part has. */
struct lookup lookup_make(const uint32_t *offsets, size_t count);
void lookup_free(struct lookup *index);

/* The table of (image). The same functions always make the same bytes. */
struct table table_make(const struct image *image, enum names_form form);

/* Fails unless (table), decoded anew, has names and addresses of (image). */
void verify_table(const struct image *image, const uint8_t *table);

/* Makes a build-id for (image) from what is loaded of it, its headers and the
 * space for the table aside: stripping the image does not change it. */
void build_id_make(struct image *image);

/* What `parasite embed` is to do. */
struct fill {
    const char *image;
    const char *symbols; /* NULL: those of the image, else of this twin of it */
    const char *output;  /* NULL: the image itself */
};

/* What it did. */
struct filled {
    size_t functions;
    size_t beyond; /* that had to be left out */
    uint32_t bytes, reserved;
    uint32_t build_id_bytes;
    uint8_t build_id[PROF_BUILD_ID_MAX];
    bool build_id_made;
    bool relocatable; /* it may run elsewhere than it was linked for */
};

/* Fills the space of an image; one that cannot be filled stays as it was. */
struct filled fill_image(const struct fill *fill);

#endif
