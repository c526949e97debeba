/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FLEET_CAPTURE_H
#define CLI_FLEET_CAPTURE_H

/* parasite fleet capture: guests of one or several `parasite serve`, all in the
 * same seconds, as a folder with a trace of each (collect/captures.c). */

#include <stdbool.h>
#include <stddef.h>

struct fleet_capture {
    const char *service;
    char **from; /* where serve listens, (from_count) of them */
    size_t from_count;
    char **guests; /* none = all of the service */
    size_t guest_count;
    unsigned seconds;
    unsigned rate;
    bool tasks;
    double budget; /* bytes a second, of the guests of each serve */
    const char *folder;
    bool json;
};

/* Captures, prints what became of each guest, and returns the exit status: one
 * guest that did not answer is a failure. */
int fleet_capture(const struct fleet_capture *capture);

#endif
