/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_H
#define GUEST_H

/*
 * Starting a guest: the QEMU command line that the user gave, with a device
 * for the stream added to it and the guest told to use it.
 */

#include "target.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum guest_transport {
    GUEST_UART,     /* a second UART at 0x2f8 */
    GUEST_DEBUGCON, /* port 0xe9 */
    GUEST_VIRTIO,   /* a virtio console */
    GUEST_SERIAL,   /* text among the console's output */
    GUEST_SHM,      /* the guest's RAM, a file */
};

struct guest {
    char **words; /* QEMU's command line, ended by NULL */
    int count;
    pid_t process;
    int stream;      /* what the device says, -1 = shared RAM */
    char *ram;       /* the RAM's file, or NULL */
    FILE *talk;      /* what it says goes there, NULL = to our own output */
    bool stopped;    /* by us */
    bool has_status; /* it ended, with */
    int status;      /* as of waitpid() */
};

/* The transport called (name); false if there is none. */
bool guest_transport(const char *name, enum guest_transport *transport);

/* Starts (words) so that it sends its stream, at (hz) if that is not 0, with
 * (depth) callers if that is not -1. The guest is zeros, but for its talk. */
void guest_start(struct guest *guest, char **words,
                 enum guest_transport transport, uint32_t hz, int depth);

/* Where its stream comes from. */
struct target guest_target(const struct guest *guest);

/* What follows the word (option) in the guest's command line, or NULL. */
const char *guest_word(char *const *words, const char *option);

/* Whether it still runs. */
bool guest_runs(struct guest *guest);

/* Ends it, and waits. */
void guest_stop(struct guest *guest);

/* The guest's own exit code, if isa-debug-exit told one; 0 if it was switched
 * off or ended by us; 126 if QEMU failed or was killed. */
int guest_code(const struct guest *guest);

void guest_free(struct guest *guest);

#endif
