/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_METRIC_TEXT_H
#define HTTP_METRIC_TEXT_H

/* Lines of the Prometheus text format 0.0.4. */

#include <kernel/http_text.h>

#include <stdint.h>

/* The help and the type of the metric (name). */
void metric_describe(struct http_text *text, const char *name, const char *type,
                     const char *help);

/* A metric without labels, described: a number, or a time. */
void metric_one(struct http_text *text, const char *name, const char *type,
                const char *help, uint64_t value);
void metric_time(struct http_text *text, const char *name, const char *type,
                 const char *help, uint64_t cycles);

/* A line of (name), with its labels, and a time. */
void metric_seconds(struct http_text *text, const char *name, uint64_t cycles);

#endif
