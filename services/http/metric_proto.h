/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_METRIC_PROTO_H
#define HTTP_METRIC_PROTO_H

/*
 * The protocol buffer format of Prometheus: messages MetricFamily of
 * io.prometheus.client (metrics.proto of client_model), each after its length.
 * It is the only one with native histograms.
 */

#include <kernel/http_text.h>

#define METRIC_PROTO_TYPE                                                      \
    "application/vnd.google.protobuf; "                                        \
    "proto=io.prometheus.client.MetricFamily; encoding=delimited"

/* Fields of the messages. */
enum {
    FAMILY_NAME = 1,
    FAMILY_HELP,
    FAMILY_TYPE,
    FAMILY_METRIC,
    METRIC_LABEL = 1,
    METRIC_GAUGE,
    METRIC_COUNTER,
    METRIC_HISTOGRAM = 7,
    LABEL_NAME = 1,
    LABEL_VALUE,
    VALUE = 1, /* of a gauge or counter */
    TYPE_COUNTER = 0,
    TYPE_GAUGE,
    TYPE_HISTOGRAM = 4,
};

/* Appends the counters and gauges of (text), which is in the text format as
 * this service writes it; histograms are left out. */
void metric_proto(struct http_text *out, const struct http_text *text);

/* Appends a label to a Metric. */
void metric_proto_label(struct http_text *metric, const char *name,
                        const char *value, size_t count);

#endif
