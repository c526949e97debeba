/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XEN_XEN_FRAMES_H
#define XEN_XEN_FRAMES_H

/*
 * A guest's RAM as it is mapped here: each frame when it is first read, with
 * its neighbours where a guest numbers its own frames. So most samples read
 * their stacks and page tables without a call of Xen.
 */

#include "xen/xen_calls.h"
#include "base/index.h"

#define XEN_FRAMES_TOGETHER 512u

struct xen_run {
    const uint8_t *bytes; /* NULL = none of them is there */
    uint8_t missing[XEN_FRAMES_TOGETHER];
};

/* Starts as zeros, but for the first three. */
struct xen_frames {
    const struct xen_calls *calls;
    void *owner;
    unsigned together; /* 1, or XEN_FRAMES_TOGETHER */
    struct index index;
    struct xen_run *runs;
};

/* Copies (bytes) from a physical address, which do not leave their frame.
 * False if it is not there. */
bool xen_frames_copy(struct xen_frames *frames, uint64_t physical, uint8_t *to,
                     size_t bytes);

/* Unmaps all. */
void xen_frames_free(struct xen_frames *frames);

#endif
