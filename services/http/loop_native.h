/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_LOOP_NATIVE_H
#define HTTP_LOOP_NATIVE_H

/*
 * A histogram of <prof/loop_stats.h> as a native one: buckets that grow by
 * 2^(1/8), numbered by the logarithm of their upper bounds in seconds. A range
 * of the guest's is in the bucket of its middle.
 */

#include <kernel/http_text.h>

#include <prof/loop_stats.h>

/* Appends what makes (row)'s histogram native to a message Histogram. Its count
 * MUST be that of the values that are in a range. */
void loop_native(struct http_text *histogram, const struct prof_loop_row *row,
                 enum prof_loop_measure measure);

/* The bucket of (cycles) at (hz): n, where it is in (2^((n-1)/8), 2^(n/8)] s.
 * (cycles) is not 0. */
int loop_native_bucket(uint64_t cycles, uint64_t hz);

#endif
