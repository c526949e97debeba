/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WATCH_FOLDED_H
#define WATCH_FOLDED_H

/*
 * Folded call stacks, "outer;inner;leaf N" on each line, as samples of
 * functions. The text comes from another machine: it is parsed as untrusted,
 * and in place.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct folded_row {
    const char *name; /* in the text */
    uint64_t self;    /* samples in the function */
    uint64_t total;   /* and in what it calls */
    size_t line;      /* private: the last one that it was counted for */
};

struct folded {
    struct folded_row *rows; /* most samples of their own first */
    size_t count;
    size_t room;
    uint64_t samples; /* the halted CPU's included */
    uint64_t idle;    /* of these */
    size_t bad_lines; /* left out */
};

/* Frames of one line that are looked at. */
#define FOLDED_FRAMES_MAX 256u

/*
 * Sums up the (count) bytes at (text), one more of which can be written to.
 * (text) MUST stay as long as the rows. Returns false, and no rows, if there is
 * no memory. Linear in the frames, but for the look-up of their names.
 */
bool folded_read(struct folded *folded, char *text, size_t count);

void folded_free(struct folded *folded);

#endif
