/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting, the clock for it, and the signals that end it. */

#include "base/wait.h"

#include "base/log.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t asked; /* how often */
static volatile double asked_at;
static void (*volatile at_end)(void);

static void note_signal(int number)
{
    (void)number;
    if (!asked)
        asked_at = seconds_now();
    asked = asked + 1;
}

void signals_catch(void)
{
    struct sigaction action = {.sa_handler = note_signal}, before;

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
}

bool signals_caught(void)
{
    return asked != 0;
}

unsigned signals_count(void)
{
    return (unsigned)asked;
}

double signals_caught_at(void)
{
    return asked_at;
}

static void call_last(void)
{
    void (*last)(void) = at_end;

    at_end = NULL;
    if (last != NULL)
        last();
}

void signals_at_end(void (*last)(void))
{
    static bool registered;

    at_end = last;
    if (!registered)
        atexit(call_last);
    registered = true;
}

static _Thread_local sigjmp_buf *volatile escape; /* of mapped_try() */

static void end_of_file(int number)
{
    static const char text[] =
        "parasite: a file became shorter while it was read\n";

    (void)number;
    if (escape != NULL)
        siglongjmp(*escape, 1);
    call_last();
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(STATUS_DATA);
}

void signals_explain(void)
{
    /* not blocked in it, for mapped_try() does not come back to it */
    struct sigaction action = {.sa_handler = end_of_file,
                               .sa_flags = SA_NODEFER};

    sigaction(SIGBUS, &action, NULL);
}

bool mapped_try(void (*access)(void *context), void *context)
{
    sigjmp_buf here;

    if (sigsetjmp(here, 0) != 0) {
        escape = NULL;
        return false;
    }
    escape = &here;
    access(context);
    escape = NULL;
    return true;
}

#define PIECE_SECONDS 0.1 /* so that a signal just before poll() is seen */

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
