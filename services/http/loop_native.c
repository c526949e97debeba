/* SPDX-License-Identifier: Apache-2.0 */

#include "loop_native.h"

#include "protobuf.h"

#include <kernel/clock.h>

#define SCHEMA 3 /* 2^3 buckets in each octave */
#define STEPS 8
#define FIRST (-320) /* from 2^-40 s on: less than a cycle of any clock */
#define BUCKETS 640u
#define ZERO_THRESHOLD 1e-12

/* Fields of a message Histogram, and of a BucketSpan. */
enum {
    SCHEMA_FIELD = 5,
    ZERO_THRESHOLD_FIELD,
    ZERO_COUNT_FIELD,
    POSITIVE_SPAN = 12,
    POSITIVE_DELTA = 13,
    SPAN_OFFSET = 1,
    SPAN_LENGTH,
};

int loop_native_bucket(uint64_t cycles, uint64_t hz)
{
    /* 2^(n/8), 16 bits after the point */
    static const uint32_t bounds[STEPS] = {65536, 71468,  77936,  84990,
                                           92682, 101070, 110218, 120194};
    int octave = 0, step = 0;
    uint64_t mantissa;

    for (; cycles < hz; cycles <<= 1)
        octave--;
    for (; cycles >= 2 * hz; hz <<= 1)
        octave++;
    mantissa = (cycles << 16) / hz; /* from 1 to below 2 */
    while (step < STEPS && mantissa > bounds[step])
        step++;
    return STEPS * octave + step;
}

struct counts {
    uint64_t hz;
    uint64_t zero;
    uint64_t bucket[BUCKETS];
};

static void on_range(uint64_t low, uint64_t high, uint64_t count, void *context)
{
    struct counts *counts = context;
    int bucket;

    if (low == 0 && high == 1) {
        counts->zero += count;
        return;
    }
    bucket = loop_native_bucket(low + (high - low) / 2, counts->hz) - FIRST;
    if (bucket < 0)
        bucket = 0;
    if (bucket >= (int)BUCKETS)
        bucket = (int)BUCKETS - 1;
    counts->bucket[bucket] += count;
}

/* A span of buckets without a gap; (gap) empty ones are before it. */
static void put_span(struct http_text *histogram, int gap, unsigned length)
{
    struct http_text span = {0};

    protobuf_sint(&span, SPAN_OFFSET, gap);
    protobuf_uint(&span, SPAN_LENGTH, length);
    protobuf_message(histogram, POSITIVE_SPAN, &span);
}

static void put_spans(struct http_text *histogram, const struct counts *counts)
{
    int next = -FIRST; /* the first offset is from bucket 0 */
    unsigned from = 0;

    while (from < BUCKETS) {
        unsigned to = from;

        while (to < BUCKETS && counts->bucket[to] != 0)
            to++;
        if (to > from) {
            put_span(histogram, (int)from - next, to - from);
            next = (int)to;
        }
        from = to + 1;
    }
}

/* Each bucket's count less the one before. */
static void put_deltas(struct http_text *histogram, const struct counts *counts)
{
    uint64_t before = 0;

    for (unsigned i = 0; i < BUCKETS; i++) {
        if (counts->bucket[i] == 0)
            continue;
        protobuf_sint(histogram, POSITIVE_DELTA,
                      (int64_t)(counts->bucket[i] - before));
        before = counts->bucket[i];
    }
}

void loop_native(struct http_text *histogram, const struct prof_loop_row *row,
                 enum prof_loop_measure measure)
{
    static struct counts counts;

    counts = (struct counts){.hz = clock_tsc_hz()};
    prof_loop_buckets(row->number, measure, on_range, &counts);
    protobuf_sint(histogram, SCHEMA_FIELD, SCHEMA);
    protobuf_double(histogram, ZERO_THRESHOLD_FIELD, ZERO_THRESHOLD);
    protobuf_uint(histogram, ZERO_COUNT_FIELD, counts.zero);
    put_spans(histogram, &counts);
    put_deltas(histogram, &counts);
}
