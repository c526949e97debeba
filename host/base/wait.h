/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_WAIT_H
#define BASE_WAIT_H

#include <poll.h>
#include <stdbool.h>
#include <time.h>

/* Seconds of the monotonic clock: only differences mean anything. */
static inline double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Commands that run until they are interrupted: SIGINT, SIGTERM and SIGHUP set
 * a flag that the command polls, so that it can write out its data and send the
 * guest its last commands. All waits below do so. */

/* From now on these signals only set the flag; SIGHUP stays ignored if it is.
 * They also interrupt a system call that waits. */
void signals_catch(void);

/* Whether one of them came, and when the first did (seconds_now()). */
bool signals_caught(void);
double signals_caught_at(void);

/* How many came: who asks twice does not want to wait. */
unsigned signals_count(void);

/* From now on reading a mapped file that was cut prints a line and exits. */
void signals_explain(void);

/* Calls (access), which touches a mapped file. False: the file was cut
 * meanwhile, and (access) did not come to its end, which must not matter: it
 * copies, no more. Needs signals_explain(). */
bool mapped_try(void (*access)(void *context), void *context);

/* Has (last) called once before the process ends, by exit() or by such a file.
 * Only what a signal handler may do. NULL = nothing any more. */
void signals_at_end(void (*last)(void));

/*
 * Waiting for another process. Every wait has an end: a deadline on the clock
 * of seconds_now(), and once a signal has been caught at most
 * (grace) seconds more, to let go of what is held. What is ready is reported
 * even after that, so that a process which did not run for a while takes what
 * came meanwhile.
 */

/* The deadline, as a caught signal leaves it. */
double wait_deadline(double deadline, double grace);

/* Waits until one of the (count) files is ready; false if none is in time. */
bool wait_for(struct pollfd *files, nfds_t count, double deadline,
              double grace);

/* The same for one file. */
bool wait_readable(int file, double deadline, double grace);
bool wait_writable(int file, double deadline, double grace);

/* Sleeps until (deadline); false if a signal was caught. */
bool wait_until(double deadline);

#endif
