/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LIVE_H
#define LIVE_H

/*
 * A guest while it runs: what it sends becomes a model of its present boot.
 *
 * A guest that was restarted is one with another uuid; the model then begins
 * anew. Where the line itself went away (QEMU ended), it is opened again as
 * soon as there is somebody at its other end, and the guest is told again what
 * the user wants it told. Only a file has an end, and a guest that we started.
 */

#include "console.h"
#include "packet.h"
#include "request.h"
#include "share.h"

#include <sys/stat.h>

struct live {
    struct request *request;
    uint64_t ring; /* address of prof_share_ring, for RAM */

    /* the line */
    struct target target; /* file -1 and no RAM = not open */
    struct guest guest;   /* that we started */
    struct share share;
    ino_t ram_file;
    bool ended;               /* nothing more will come */
    char why[TARGET_WHY_MAX]; /* nothing comes at the moment; "" = it does */
    double tried;             /* when it was last tried to open the line */

    /* what came */
    struct scanner scanner;
    struct console console;
    struct model model;
    uint8_t uuid[16];
    unsigned boots;
    bool late;            /* we began to listen in the middle of it */
    uint64_t lost_before; /* samples, before we listened */
};

/* Opens what (request) names, or starts it; ends the process if it cannot.
 * (image) is for guests' RAM. What a started guest says goes to (talk). */
void live_open(struct live *live, struct request *request,
               const struct image *image, FILE *talk);

/* Waits up to (wait_ms) for bytes, or until (other), a file, can be read (-1 =
 * none), and takes what there is. */
void live_wait(struct live *live, int other, int wait_ms);

/* Samples lost since we listen. */
uint64_t live_lost(const struct live *live);

/* Ends a guest that we started; its exit code, 0 if there is none. */
int live_close(struct live *live);

#endif
