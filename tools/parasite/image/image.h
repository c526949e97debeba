/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

/*
 * The ELF file of the image that was profiled: its build-id and symbols.
 *
 * Where several were running, the others follow the first one. Addresses are
 * those as linked, wherever the image was in memory. Of two images that were
 * linked to the same place the second one's are moved up, in a trace and here.
 */

#include "trace/model.h"

struct image_symbol {
    uint64_t start;
    uint64_t end; /* exclusive */
    const char *name;
};

#define IMAGE_PATHS_MARK ':' /* between the paths of several images */

struct image {
    const char *path;
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    uint64_t note; /* address of the build-id in memory, 0 = not there */
    bool is_list;  /* a text file of symbols */
    struct image_symbol *functions; /* sorted by start */
    size_t count;
    struct image_symbol *objects; /* data, in no order */
    size_t object_count;
    uint64_t begin; /* of the code, as linked, half-open */
    uint64_t end;
    uint64_t moved;     /* added to all addresses */
    struct image *next; /* another image, or NULL */
    char *own_path;     /* to be freed */
};

/* Reads (paths), an ELF file with symbols or a list of symbols as in
 * /proc/kallsyms, or several, with IMAGE_PATHS_MARK in between; ends the
 * process if one of them is neither. */
void image_open(struct image *image, const char *paths);

/* Reads one of them. */
void image_open_one(struct image *image, const char *path);

/* Reads a list of symbols; false if (path) is none. */
bool image_open_list(struct image *image, const char *path);

/* Whether all (paths) can be read. */
bool image_is_there(const char *paths);

/* (paths), which may be NULL, and (path), to be freed. */
char *image_paths_add(const char *paths, const char *path);

/* The absolute form of all (paths), to be freed. */
char *image_paths_real(const char *paths);

/* The image with the code at (address), or NULL. */
const struct image *image_at(const struct image *image, uint64_t address);

/* The function that holds (address), or NULL. */
const struct image_symbol *image_function(const struct image *image,
                                          uint64_t address);

/* The address of the object (name); false if there is none. */
bool image_object(const struct image *image, const char *name,
                  uint64_t *address);

/* Whether this is the image of (hello); true also if one of them has no
 * build-id. Otherwise prints both build-ids, and returns (force). */
bool image_fits(const struct image *image, const struct event_hello *hello,
                bool force);

void image_close(struct image *image);

#endif
