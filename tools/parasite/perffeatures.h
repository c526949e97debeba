/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFFEATURES_H
#define PERFFEATURES_H

/* Pieces of a perf.data file, and the last of them, the features: what perf
 * shows with --header. */

#include "model.h"

#include <stdint.h>
#include <stdio.h>

struct perf_section {
    uint64_t offset;
    uint64_t bytes;
};

/* A piece that is put together in memory: written to (stream), and in (bytes),
 * to be freed, when that is closed. Starts as zeros. */
struct perf_piece {
    FILE *stream;
    char *bytes;
    size_t count;
};

void perf_begin(struct perf_piece *piece);

/* (text) with at least one zero behind it, in a field of (bytes). */
void perf_text(FILE *out, const char *text, size_t bytes);

/* Makes the features, which begin at (offset) of the file. The result is the
 * header's bits for them. */
uint64_t perf_features(struct perf_piece *features, const struct model *model,
                       uint64_t offset);

#endif
