/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHARE_H
#define SHARE_H

/*
 * Packets in the guest's RAM (struct prof_share): the RAM is a file that both
 * QEMU and this command map, so the guest runs on without noticing. Works the
 * same after it died, as long as the file is there.
 */

#include "packet.h"

struct share {
    const char *path;
    uint8_t *ram;
    size_t ram_bytes;
    uint64_t ring;        /* offset of struct prof_share in the file */
    uint64_t read;        /* bytes since the guest's start */
    bool in_step;         /* a packet begins at (read) */
    uint64_t overwritten; /* bytes that were gone before they were read */
};

/* Maps the file (path), which may still be empty; the ring's address is
 * (ring). False if there is no such file yet. */
bool share_open(struct share *share, const char *path, uint64_t ring);

/* Gives what is new to the sink. Says whether there was anything. */
bool share_read(struct share *share, const struct packet_sink *sink);

void share_close(struct share *share);

#endif
