/* SPDX-License-Identifier: Apache-2.0 */
/* poll() in pieces, so that a signal which comes just before it is seen. */

#include "base/wait.h"

#include "base/seconds.h"
#include "base/signals.h"

#include <stddef.h>

#define PIECE_SECONDS 0.1

double wait_deadline(double deadline, double grace)
{
    double limit;

    if (!signals_caught())
        return deadline;
    limit = signals_caught_at() + grace;
    return limit < deadline ? limit : deadline;
}

bool wait_for(struct pollfd *files, nfds_t count, double deadline, double grace)
{
    for (;;) {
        double left = wait_deadline(deadline, grace) - seconds_now();
        int wait_ms = 0;

        if (left > 0)
            wait_ms =
                1 + (int)((left < PIECE_SECONDS ? left : PIECE_SECONDS) * 1000);
        if (poll(files, count, wait_ms) > 0)
            return true;
        if (left <= 0)
            return false;
    }
}

bool wait_readable(int file, double deadline, double grace)
{
    struct pollfd wait = {.fd = file, .events = POLLIN};

    return wait_for(&wait, 1, deadline, grace);
}

bool wait_writable(int file, double deadline, double grace)
{
    struct pollfd wait = {.fd = file, .events = POLLOUT};

    return wait_for(&wait, 1, deadline, grace);
}

bool wait_until(double deadline)
{
    wait_for(NULL, 0, deadline, 0);
    return !signals_caught();
}
