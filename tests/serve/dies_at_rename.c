/* SPDX-License-Identifier: Apache-2.0 */
/* To be loaded before libc: rename() to serve.state ends the process, as kill
 * -9 does, before it if there is a file named $DIE_BEFORE, or after it if there
 * is one named $DIE_AFTER. */

#define _GNU_SOURCE

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die_if(const char *variable)
{
    const char *sign = getenv(variable);

    if (sign != NULL && access(sign, F_OK) == 0)
        raise(SIGKILL);
}

int rename(const char *from, const char *to)
{
    const char *name = strrchr(to, '/');
    int is_state = name != NULL && strcmp(name, "/serve.state") == 0;
    int done;

    if (is_state)
        die_if("DIE_BEFORE");
    done = renameat(AT_FDCWD, from, AT_FDCWD, to);
    if (is_state)
        die_if("DIE_AFTER");
    return done;
}
