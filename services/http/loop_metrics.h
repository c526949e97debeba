/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_LOOP_METRICS_H
#define HTTP_LOOP_METRICS_H

#include <kernel/http_text.h>

/* Appends the metrics of <prof/loop_stats.h> in the Prometheus text format
 * 0.0.4; nothing if nothing is counted. Of sites, those with the most self
 * time; one that has done nothing since the last reset is left out. */
void http_loop_metrics(struct http_text *text);

/* Appends the histograms of these as messages of metric_proto.h, classic and
 * native. */
void http_loop_proto(struct http_text *out);

#endif
