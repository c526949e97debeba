/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_WAIT_H
#define BASE_WAIT_H

/*
 * Waiting for another process. Every wait has an end: a deadline on the clock
 * of seconds_now(), and once a signal has been caught (base/signals.h) at most
 * (grace) seconds more, to let go of what is held. What is ready is reported
 * even after that, so that a process which did not run for a while takes what
 * came meanwhile.
 */

#include <poll.h>
#include <stdbool.h>

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
