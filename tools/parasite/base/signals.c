/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT and SIGTERM as a flag. */

#include "base/signals.h"

#include <signal.h>
#include <stddef.h>

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
