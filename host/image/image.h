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

/* From (address) to the next entry, code of a line; (source) counts from 1 on,
 * 0 = code of no known line. */
struct image_line {
    uint64_t address;
    uint32_t source;
    uint32_t line;
};

#define IMAGE_PATHS_MARK ':' /* between the paths of several images */
#define IMAGE_WHY_MAX 512    /* bytes of a reason, a path in it may be cut */

struct image {
    const char *path;
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    uint64_t note;  /* address of the build-id in memory, 0 = not there */
    bool is_list;   /* a text file of symbols */
    bool is_stored; /* from a trace (stored.h): there is no file of it */
    struct image_symbol *functions; /* sorted by start */
    size_t count;
    struct image_symbol *objects; /* data, in no order */
    size_t object_count;
    struct image_line *lines; /* sorted by address; only if it is stored */
    size_t line_count;
    char **sources; /* paths */
    size_t source_count;
    uint64_t begin; /* of the code, as linked, half-open */
    uint64_t end;
    uint64_t moved;     /* added to all addresses */
    struct image *next; /* another image, or NULL */
    char *own_path;     /* to be freed */
};

/* Reads (paths), an ELF file with symbols or a list of symbols as in
 * /proc/kallsyms or of nm or objdump, or several, with IMAGE_PATHS_MARK in
 * between; ends the process if one of them is neither. */
void image_open(struct image *image, const char *paths);

/* The same, but returns false with the reason in (why), which has room for
 * IMAGE_WHY_MAX, if they cannot be read; (image) is empty then. */
bool image_try(struct image *image, const char *paths, char *why);

/* The image's ELF file, NULL if it is a list of symbols or from a trace. */
const char *image_file(const struct image *image);

/* Reads a list of symbols into (image), which is empty; false, with the reason
 * in (why) as above, if (path) is none. */
bool image_open_list(struct image *image, const char *path, char *why);

/* A part of an image's code, in memory and in its ELF file. */
struct segment {
    uint64_t address;
    uint64_t bytes;
    uint64_t offset;
    uint64_t align; /* of its place in memory */
};

/* Executable segments of the file (path), to be freed; none if unreadable. */
struct segment *segments_read(const char *path, size_t *count);

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

/* The line of the code at (address), wherever its image was moved, and its
 * source's path; NULL: unknown, or (image) has no lines. */
const struct image_line *image_line(const struct image *image, uint64_t address,
                                    const char **source);

/* The address of the object (name); false if there is none. */
bool image_object(const struct image *image, const char *name,
                  uint64_t *address);

/* Whether (image) has this build-id; true also if one has none. */
bool image_is_of(const struct image *image, const uint8_t *build_id,
                 size_t bytes);

/* Whether this is the image of (hello); true also if one of them has no
 * build-id. Otherwise prints both build-ids, and returns (force). */
bool image_fits(const struct image *image, const struct event_hello *hello,
                bool force);

void image_close(struct image *image);

#endif
