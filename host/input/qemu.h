/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INPUT_QEMU_H
#define INPUT_QEMU_H

/* Starts a guest: the QEMU command line that the user gave, with a device for
 * the stream, and with options on the guest's command line to use it. */

#include "input/target.h"

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
    GUEST_STUB,     /* no stream: GDB's protocol, and the guest not started */
};

struct guest {
    char **words; /* QEMU's command line, ended by NULL */
    int count;
    pid_t process;
    int stream;      /* the device's output, -1 = shared RAM */
    int errors;      /* its stderr */
    char *ram;       /* the RAM's file, or NULL */
    FILE *talk;      /* its output goes there, NULL = to our own */
    bool complained; /* it wrote an error to stderr, no warning */
    bool stopped;    /* by us */
    bool has_status; /* it ended with (status) */
    int status;      /* as of waitpid() */
};

/* Finds the transport called (name); false if there is none. */
bool guest_transport(const char *name, enum guest_transport *transport);

/* Starts (words) with a stream, at (hz) unless 0, with (depth) callers unless
 * -1. The guest is zeros, except for its talk. */
void guest_start(struct guest *guest, char **words,
                 enum guest_transport transport, uint32_t hz, int depth);

/* The target to read its stream from. */
struct target guest_target(const struct guest *guest);

/* The word after (option) in the guest's command line, or NULL. */
const char *guest_word(char *const *words, const char *option);

/* Whether it is still running. */
bool guest_runs(struct guest *guest);

/* Copies what it wrote to stderr to our own or to (talk), except that we ended
 * it. To be called several times a second; guest_runs() does it, too. */
void guest_copy_errors(struct guest *guest);

/* Ends it and waits for it, if it was started: after a while by SIGKILL. */
void guest_stop(struct guest *guest);

/* The guest's exit code from isa-debug-exit; 0 if it was powered off or ended
 * by us; 126 if QEMU failed or was killed. */
int guest_code(const struct guest *guest);

void guest_free(struct guest *guest);

#endif
