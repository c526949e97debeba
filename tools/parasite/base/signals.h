/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

/*
 * Commands that run until they are interrupted: SIGINT and SIGTERM set a flag
 * that the command polls, so that it can write out its data and send the guest
 * its last commands.
 */

#include <stdbool.h>

/* From now on both signals only set the flag. They also interrupt a system call
 * that waits. */
void signals_catch(void);

/* Whether one of them was received. */
bool signals_caught(void);

/* From now on reading a mapped file beyond its end, because somebody else cut
 * it, prints one line and ends the process. */
void signals_explain(void);

#endif
