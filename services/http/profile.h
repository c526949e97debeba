/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_PROFILE_H
#define HTTP_PROFILE_H

#include "client.h"

/*
 * Takes a profile and answers with it: (query) may say seconds (1 to 3600, 10),
 * hz (1 to 10000, 997) and format: "folded", a line for each call stack, sent
 * when it is taken, or "trace", the profiler's own stream, sent while it is.
 *
 * The profiler begins anew for it, and afterwards is again as it was; what was
 * counted before is forgotten. One at a time.
 */
void http_profile(struct http_client *client, const char *query);

#endif
