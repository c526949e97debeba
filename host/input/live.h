/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INPUT_LIVE_H
#define INPUT_LIVE_H

/*
 * A running guest: what it sends becomes a model of its present boot.
 *
 * A restarted guest has another uuid, and the model starts anew. If the
 * connection is lost because QEMU ended, it is opened again as soon as
 * possible, and the guest is sent the same commands again. Only a file, and a
 * guest that we started, have an end.
 */

#include "input/request.h"
#include "input/shared_ring.h"
#include "trace/console.h"
#include "trace/packet.h"

#include <sys/stat.h>

struct live {
    struct request *request;
    struct packet_sink also; /* if set after live_open(), gets packets too */
    uint64_t ring;           /* of prof_share_ring, for RAM */

    /* the connection */
    struct target target; /* file -1 and no RAM = not open */
    struct guest guest;   /* if we started it */
    struct shared_ring share;
    ino_t ram_file;
    bool ended;               /* nothing more will come */
    char why[TARGET_WHY_MAX]; /* why nothing comes at present, or "" */
    double tried;             /* when opening was last tried */

    /* what was received */
    struct scanner scanner;
    struct console console;
    struct model model;
    uint8_t uuid[16];
    unsigned boots;
    bool late;            /* we connected in the middle of the boot */
    uint64_t lost_before; /* samples, before we connected */
};

/* Opens or starts what (request) names; ends the process on failure. (image) is
 * needed for RAM; the console of a guest that we start goes to (talk). */
void live_open(struct live *live, struct request *request,
               const struct image *image, FILE *talk);

/* Waits (wait_ms) for bytes or for (other), -1 = none; takes what is there. */
void live_wait(struct live *live, int other, int wait_ms);

/* Why nothing has been received yet. */
const char *live_silence(struct live *live);

/* Samples lost since we connected. */
uint64_t live_lost(const struct live *live);

/* Ends a guest that we started. Returns its exit code, 0 if there is none. */
int live_close(struct live *live);

#endif
