/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PERFDATA_FEATURES_H
#define EXPORT_PERFDATA_FEATURES_H

/* Pieces of a perf.data file, and its last part, the features: what perf shows
 * with --header. */

#include "trace/model.h"

#include <stdint.h>
#include <stdio.h>

struct perf_section {
    uint64_t offset;
    uint64_t bytes;
};

/* A piece that is built in memory: written to (stream), and after closing it in
 * (bytes), to be freed. Starts as zeros. */
struct perf_piece {
    FILE *stream;
    char *bytes;
    size_t count;
};

void perf_begin(struct perf_piece *piece);

/* (text) with at least one zero after it, in a field of (bytes). */
void perf_text(FILE *out, const char *text, size_t bytes);

/* Builds the features, which begin at (offset) of the file. Returns the
 * header's bits for them. */
uint64_t perf_features(struct perf_piece *features, const struct model *model,
                       uint64_t offset);

#endif
