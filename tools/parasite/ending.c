/* SPDX-License-Identifier: Apache-2.0 */
/* The signals that end a command; see ending.h. */

#include "ending.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t asked;

static void note(int number)
{
    (void)number;
    asked = 1;
}

void ending_begin(void)
{
    struct sigaction action = {.sa_handler = note};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool ending_asked(void)
{
    return asked;
}
