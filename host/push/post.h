/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PUSH_POST_H
#define PUSH_POST_H

/* One request, for those who decide themselves what follows from its answer. */

#include "push/push.h"

enum push_outcome {
    PUSH_TAKEN,
    PUSH_REFUSED, /* it will not be taken later either */
    PUSH_AWAY     /* no answer, or one that asks for patience */
};

/* The body that (push) sends for (profile), of (count) bytes, to be freed. From
 * any thread. */
char *push_body(const struct push *push, const struct push_profile *profile,
                size_t *count);

/* Posts a body and waits for the answer; (why) is set unless it is taken. */
enum push_outcome push_post(struct push *push, const char *bytes, size_t count,
                            char *why);

#endif
