/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_METRICS_H
#define HTTP_METRICS_H

#include "text.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Drains, then writes all metrics in the Prometheus text format 0.0.4. */
void http_metrics(struct http_text *text);

#endif
