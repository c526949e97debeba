/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLOW_H
#define SLOW_H

/*
 * The truth for causal profiling of the services irc and http: functions of
 * theirs that really are faster. They are some hundred instructions, of which
 * none can be left out. So a loop of thousands is added to each (ldflags: the
 * linker's --wrap), and a build in which the function is p faster has so many
 * rounds less that function and loop take p less. Which function, and by how
 * much, is on the command line:
 *
 *     net.load_truth_how=plain      it is faster, and there are no experiments
 *     net.load_truth_how=really     it is, and experiments are at normal speed
 *     net.load_truth_how=virtually  it is faster on the virtual clock only
 *     net.load_truth_what=parse     or lookup, checksum, flush (none)
 *     net.load_truth_faster=50      per cent
 *     net.load_truth_visits=2000    requests that are measured, after a tenth
 *
 * In all of these the other functions are as slow. Clients are in the image
 * (kernel/load), and the clock of both is theirs: their work takes no time.
 *
 * Contexts: thread, everywhere.
 */

#include <stdint.h>

enum slow { SLOW_NONE, SLOW_PARSE, SLOW_LOOKUP, SLOW_CHECKSUM, SLOW_FLUSH };
#define SLOW_FUNCTIONS 5u

/* Without experiments the clients' clock, else the virtual one. */
uint64_t slow_now(void);

/* The loop of (cycles) after (function), whose own instructions began at
 * (since), by slow_now(). */
void slow_done(enum slow function, uint64_t since, uint32_t cycles);

/* A unit of the service's work is done. */
void slow_visit(void);

#endif
