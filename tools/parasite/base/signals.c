/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT and SIGTERM as a flag, SIGBUS as a message. */

#include "base/signals.h"

#include "base/log.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void note(int number)
{
    (void)number;
    asked = 1;
}

void signals_catch(void)
{
    struct sigaction action = {.sa_handler = note};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool signals_caught(void)
{
    return asked;
}

static void end_of_file(int number)
{
    static const char text[] =
        "parasite: a file became shorter while it was read\n";

    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(STATUS_DATA);
}

void signals_explain(void)
{
    sigaction(SIGBUS, &(struct sigaction){.sa_handler = end_of_file}, NULL);
}
