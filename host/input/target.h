/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INPUT_TARGET_H
#define INPUT_TARGET_H

/*
 * Where a stream comes from, as the user names it:
 *
 *     unix:PATH      a socket that QEMU listens at
 *     tcp:HOST:PORT  the same
 *     unix:PATH?guest=NAME, tcp:HOST:PORT?guest=NAME
 *                    a guest that `parasite serve` has, which listens there
 *     http://HOST:PORT  the profiler's port of a guest (input/http.h)
 *     vsock:PATH:PORT  a guest's virtio socket device (input/vsock.h)
 *     vsock:CID:PORT   the same
 *     file:PATH      packets, or a console log; "-" is stdin
 *     console:PATH   the same
 *     shm:PATH       the guest's RAM
 *
 * and a PATH by itself is a file. What kind of stream it is need not be said:
 * packets and "#prof" lines cannot be taken for each other. A file that is a
 * terminal (QEMU's -serial pty) is a line in both directions.
 *
 * A socket is tried for ten seconds, or until a signal is caught. Sockets and
 * terminals do not block.
 */

#include <stdbool.h>
#include <stddef.h>

struct target {
    bool is_ram;
    bool two_way;     /* commands can be written to the file */
    bool answered;    /* the guest has: it serves the file (http) */
    const char *path; /* of the RAM */
    int file;         /* to read from, -1 = RAM */
};

enum target_use {
    TARGET_STREAM,   /* to be read; commands, too, where that can be */
    TARGET_COMMANDS, /* for commands and their answers alone */
};

/* Opens (uri); ends the process on failure. */
void target_open(struct target *target, const char *uri, enum target_use use);

#define TARGET_WHY_MAX 512

/* The same, but if nothing answers at (uri) at present it writes one line to
 * (why), which has room for (room) bytes, and returns false. */
bool target_try(struct target *target, const char *uri, enum target_use use,
                char *why, size_t room);

#endif
