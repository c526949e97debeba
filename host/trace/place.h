/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_PLACE_H
#define TRACE_PLACE_H

/*
 * The folder that a trace is written to.
 *
 * A trace that is there already is renamed to NAME.old once the new one has its
 * first packet, and replaces an older NAME.old. No file of it is opened for
 * writing, so whoever has it mapped keeps what he sees. Symbolic links are not
 * followed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACE_WHY_MAX 512

/* Whether a trace may be written to (path), which has no slash at its end:
 * nothing is there, an empty folder, or a trace. Changes nothing. If not,
 * writes the reason to (why), which has room for PLACE_WHY_MAX. */
bool place_check(const char *path, char *why);

/* Makes an empty folder (path) in place of what place_check() allowed, and
 * returns it opened; ends the process on failure. */
int place_make(const char *path);

#endif
