/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_METRICS_H
#define HTTP_METRICS_H

#include <kernel/http.h>
#include <kernel/http_text.h>

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Drains, then writes all metrics in the Prometheus text format 0.0.4; (counts)
 * are those of the server. */
void http_metrics(struct http_text *text, const struct http_counts *counts);

#endif
