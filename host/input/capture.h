/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INPUT_CAPTURE_H
#define INPUT_CAPTURE_H

/* One recording: bytes from a target become packets, and packets a trace, or
 * one for each boot of the guest. All bytes are searched for raw packets and
 * for console text. */

#include "image/image.h"
#include "input/qemu.h"
#include "input/send.h"
#include "input/shared_ring.h"
#include "input/target.h"
#include "trace/boots.h"
#include "trace/console.h"
#include "trace/packet.h"

struct capture {
    struct boots boots;
    struct scanner scanner;
    struct console console;
    struct shared_ring share;
    struct image *image;   /* to compare, or NULL */
    struct sender *sender; /* commands to the guest, or NULL */
    bool show_text;        /* other output goes to stdout */
    bool force;            /* record a guest of another image too */
    bool refused;          /* another image, or a ring that cannot be */
    double seconds;        /* time limit, 0 = none; from (timed) on */
    uint32_t hz;           /* requested on the command line of a guest, or 0 */
    double began;          /* on the monotonic clock */
    double timed;          /* once commands are answered: then what they set
                              is in force */
    double shown;          /* when the last progress line was printed */
    uint64_t from_text;    /* packets from console text */
};

/* Starts a recording into the folder (path). */
void capture_begin(struct capture *capture, const char *path);

/* Records until the target or the guest ends, the time is over, Ctrl-C is
 * pressed, the guest turns out to have another image, or it refuses a command.
 * (guest) may be NULL; (ring) is the address of prof_share_ring, for a target
 * that is RAM. */
void capture_run(struct capture *capture, const struct target *target,
                 struct guest *guest, uint64_t ring);

/* Completes the trace and prints a summary. */
void capture_end(struct capture *capture);

#endif
