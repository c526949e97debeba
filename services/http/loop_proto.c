/* SPDX-License-Identifier: Apache-2.0 */

/* The histograms of the event loop as messages: classic and native at once, so
 * that the reader may choose. */

#include "loop_metrics.h"

#include "loop_native.h"
#include "loop_sites.h"
#include "metric_proto.h"
#include "protobuf.h"

#include <kernel/clock.h>
#include <stdio.h>
#include <string.h>

/* Fields of a message Histogram, and of a Bucket. */
enum {
    SAMPLE_COUNT = 1,
    SAMPLE_SUM,
    BUCKET,
    CUMULATIVE_COUNT = 1,
    UPPER_BOUND,
};

static void put_classic(struct http_text *histogram,
                        const struct prof_loop_row *row,
                        enum prof_loop_measure measure)
{
    struct loop_buckets buckets;

    loop_buckets_take(&buckets, row, measure);
    for (unsigned i = 0; i < LOOP_BOUNDS; i++) {
        struct http_text bucket = {0};

        protobuf_uint(&bucket, CUMULATIVE_COUNT, buckets.values[i]);
        protobuf_double(&bucket, UPPER_BOUND,
                        (double)loop_bounds_ns[i] / (double)NS_PER_S);
        protobuf_message(histogram, BUCKET, &bucket);
    }
}

static void put_site(struct http_text *family, const struct prof_loop_row *row,
                     enum prof_loop_measure measure)
{
    const struct prof_loop_sum *sum = &row->sums[measure];
    const struct prof_trace_name *site = row->site;
    const char *file = site->file != NULL ? site->file : "";
    struct http_text metric = {0}, histogram = {0};
    char line[16];

    snprintf(line, sizeof line, "%u", (unsigned)site->line);
    metric_proto_label(&metric, "site", site->text, strlen(site->text));
    metric_proto_label(&metric, "file", file, strlen(file));
    metric_proto_label(&metric, "line", line, strlen(line));
    /* readers refuse a count that is not that of the native buckets */
    protobuf_uint(&histogram, SAMPLE_COUNT, sum->count - sum->unbinned);
    protobuf_double(&histogram, SAMPLE_SUM,
                    (double)sum->cycles / (double)clock_tsc_hz());
    put_classic(&histogram, row, measure);
    loop_native(&histogram, row, measure);
    protobuf_message(&metric, METRIC_HISTOGRAM, &histogram);
    protobuf_message(family, FAMILY_METRIC, &metric);
}

void http_loop_proto(struct http_text *out)
{
    static struct loop_sites sites;

    if (!prof_loop_is_on())
        return;
    loop_sites_take(&sites);
    for (unsigned i = 0; i < loop_histogram_count(); i++) {
        const struct loop_histogram *histogram = &loop_histograms[i];
        struct http_text family = {0};

        protobuf_string(&family, FAMILY_NAME, histogram->name);
        protobuf_string(&family, FAMILY_HELP, histogram->help);
        protobuf_uint(&family, FAMILY_TYPE, TYPE_HISTOGRAM);
        for (unsigned j = 0; j < sites.ranking.count; j++)
            if (sites.row[j].sums[histogram->measure].count != 0)
                put_site(&family, &sites.row[j], histogram->measure);
        protobuf_delimited(out, &family);
    }
}
