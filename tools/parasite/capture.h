/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAPTURE_H
#define CAPTURE_H

/*
 * One recording: bytes from a target become packets, packets a trace, or one
 * for each boot of the guest. Raw
 * packets and console text are looked for at the same time, in all bytes.
 */

#include "boots.h"
#include "console.h"
#include "guest.h"
#include "image.h"
#include "packet.h"
#include "send.h"
#include "share.h"
#include "target.h"

struct capture {
    struct boots boots;
    struct scanner scanner;
    struct console console;
    struct share share;
    struct image *image;   /* to be compared, or NULL */
    struct sender *sender; /* commands to the guest, or NULL */
    bool show_text;        /* that is no stream goes to stdout */
    bool force;            /* although it is another one */
    bool refused;          /* it was another one */
    double seconds;        /* to run, 0 = no limit */
    double began;          /* on the monotonic clock */
    double shown;          /* when the last progress line was */
    uint64_t from_text;    /* packets from console text */
};

/* Starts a recording to the folder (path). */
void capture_begin(struct capture *capture, const char *path);

/* Records until the end of the target or of the guest, until the time is over,
 * Ctrl-C, or another image than expected, or a command that the guest
 * refuses. (guest) may be NULL; (ring) is the
 * address of prof_share_ring, for a target that is RAM. */
void capture_run(struct capture *capture, const struct target *target,
                 struct guest *guest, uint64_t ring);

/* Completes the trace, and says what it has become. */
void capture_end(struct capture *capture);

#endif
