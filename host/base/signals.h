/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

/*
 * Commands that run until they are interrupted: SIGINT, SIGTERM and SIGHUP set
 * a flag that the command polls, so that it can write out its data and send the
 * guest its last commands. base/wait.h does so in every wait.
 */

#include <stdbool.h>

/* From now on these signals only set the flag; SIGHUP stays ignored if it is.
 * They also interrupt a system call that waits. */
void signals_catch(void);

/* Whether one of them was received, and when the first was, on the clock of
 * seconds_now(). */
bool signals_caught(void);
double signals_caught_at(void);

/* From now on reading a mapped file beyond its end, because somebody else cut
 * it, prints one line and ends the process. */
void signals_explain(void);

/* Has (last) called once before the process ends, by exit() or by such a file:
 * for what nobody else would undo. Only what a signal handler may do. NULL =
 * nothing any more. */
void signals_at_end(void (*last)(void));

#endif
