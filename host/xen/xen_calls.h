/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XEN_XEN_CALLS_H
#define XEN_XEN_CALLS_H

/* What Xen does for a domain that controls others: all that xen.c knows of it.
 * Functions return 0, or what errno would be. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XEN_FRAME_BYTES 4096u

struct xen_about {
    bool is_hvm;   /* HVM or PVH, not PV */
    bool is_64;    /* PV: its width */
    unsigned cpus; /* the highest number, and one */
};

struct xen_cpu_state {
    bool online;
    bool blocked; /* waits for an event */
    int error;    /* of reading its registers */
    /* A struct hvm_hw_cpu if it is HVM, else a struct vcpu_guest_context of
     * its width; valid until the next pause. */
    const uint8_t *context;
};

struct xen_state {
    bool ended;    /* is being destroyed */
    bool shutdown; /* powered off, rebooted or crashed */
    bool paused;   /* by somebody else, before us */
};

struct xen_calls {
    /* Opens the domain (number). */
    int (*open)(void *owner, unsigned number, struct xen_about *about);

    /* Pauses it, and takes the registers of all CPUs. It is paused if this
     * returns 0, even if some registers could not be had. */
    int (*pause)(void *owner, struct xen_state *state,
                 struct xen_cpu_state *cpus);
    int (*unpause)(void *owner);

    /* Maps (count) frames, to be read, beside one another. missing[] is not 0
     * for each that there is not. NULL if there is none. */
    const uint8_t *(*map)(void *owner, const uint64_t *frames, size_t count,
                          uint8_t *missing);
    void (*unmap)(void *owner, const uint8_t *bytes, size_t count);
    void (*close)(void *owner);
};

/* Xen itself, and its owner; NULL if this build has none. */
const struct xen_calls *xen_calls_here(void **owner);

#endif
