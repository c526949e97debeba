/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_PROFILE_H
#define HTTP_PROFILE_H

#include "client.h"

/*
 * Takes a profile and sends it. (query) may contain seconds (1 to 3600, default
 * 10), hz (1 to PROF_HZ_MAX, default 997) and format: "folded", a line per call
 * stack, sent at the end, or "trace", the profiler's stream, sent meanwhile.
 *
 * The profiler is reset before; afterwards it continues as before, without the
 * earlier counts. One profile at a time.
 */
void http_profile(struct http_client *client, const char *query);

#endif
