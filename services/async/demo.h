/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASYNC_DEMO_H
#define ASYNC_DEMO_H

#include <kernel/promise.h>

/* A small asynchronous program. */
struct demo {
    const char *name; /* demo= */
    const char *what; /* one line about it */

    /* Begins it; NULL: that is impossible, and the reason was printed. It is
     * over when the promise is completed. */
    struct promise *(*begin)(void);
};

/* Each ends with a demo without a name. */
extern const struct demo demo_waits[];
extern const struct demo demo_devices[];
extern const struct demo demo_network[];
extern const struct demo demo_many[];

#endif
