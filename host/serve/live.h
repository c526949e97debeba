/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_LIVE_H
#define SERVE_LIVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes the page of the guests that are connected, of (head), the JSON object
 * that the page reads again and again (collect/collector.h), and frees that.
 * Returns whether all of it was written. */
bool live_page_write(json_t *head, FILE *out);

#endif
