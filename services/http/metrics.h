/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_METRICS_H
#define HTTP_METRICS_H

#include "text.h"

#include <stdint.h>

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Drains, then writes all metrics in the Prometheus text format 0.0.4. */
void http_metrics(struct http_text *text);

/* The help and the type of the metric (name). */
void metrics_describe(struct http_text *text, const char *name,
                      const char *type, const char *help);

/* A metric without labels, described; or a line of (name), with its labels,
 * and a time. */
void metrics_one(struct http_text *text, const char *name, const char *type,
                 const char *help, uint64_t value);
void metrics_seconds(struct http_text *text, const char *name, uint64_t cycles);

#endif
