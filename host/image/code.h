/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IMAGE_CODE_H
#define IMAGE_CODE_H

#include "image/image.h"

#include <stdbool.h>
#include <stdint.h>

/* Call frame information as rules that can be followed with three registers. A
 * rule is looked up by libdw once for an address and kept. */

enum cfi_kind {
    CFI_UNKNOWN,   /* no information, or a rule of another form */
    CFI_SP,        /* the frame begins (base) above the stack pointer */
    CFI_FP,        /* above the frame pointer */
    CFI_OUTERMOST, /* there is no caller */
};

struct cfi_rule {
    enum cfi_kind kind;
    bool saves_fp;   /* the caller's frame pointer is at (fp) from there */
    int32_t base;    /* bytes */
    int32_t address; /* where the return address is, from the beginning */
    int32_t fp;
};

struct cfi;

/* Of the ELF file (path); NULL if it has none. */
struct cfi *cfi_open(const char *path);

/* The rule while the instruction at (address) is about to run. */
struct cfi_rule cfi_find(struct cfi *cfi, uint64_t address);

void cfi_close(struct cfi *cfi);

/* An image's instructions, as its file has them, and what is known of how to
 * unwind them. All addresses are those as linked. */

struct code {
    const struct image *image;
    struct cfi *cfi; /* NULL = none */
    struct segment *segments;
    size_t segment_count;
    const uint8_t *file; /* mapped, NULL = not there */
    size_t file_bytes;
    uint64_t align;    /* of places that it may be moved to; a power of two */
    bool keeps_frames; /* most functions set up a frame pointer */
};

void code_open(struct code *code, const struct image *image);

/* The byte at (address), -1 if it is not known. */
int code_byte(const struct code *code, uint64_t address);

/* How many of (count) bytes at (address) are those of (bytes). */
size_t code_same(const struct code *code, uint64_t address,
                 const uint8_t *bytes, size_t count);

/* Whether a function that begins with these bytes sets up a frame pointer. */
bool code_sets_frame(const uint8_t *bytes, size_t count);

void code_close(struct code *code);

#endif
