/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XEN_XEN_H
#define XEN_XEN_H

#include "base/index.h"
#include "machine/machine.h"
#include "machine/registers.h"
#include "xen/xen_calls.h"

/* A Xen domain as a machine, seen from the domain that controls it. One call of
 * Xen pauses it and takes all registers, one lets it go on, and what is in its
 * RAM is read without any, by the CPU's own page tables. */

/* A guest's RAM as it is mapped here: each frame when it is first read, with
 * its neighbours where a guest numbers its own frames. So most samples read
 * their stacks and page tables without a call of Xen. */

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

/* Copies from a physical address, within its frame; false: not there. */
bool xen_frames_copy(struct xen_frames *frames, uint64_t physical, uint8_t *to,
                     size_t bytes);

struct xen {
    struct machine machine;
    struct xen_about about;
    struct xen_frames frames;
    struct xen_cpu_state *cpus;
    unsigned number; /* of the domain */
    bool takes_dead; /* stops a domain that has crashed or powered off, too */
    bool paused;
    unsigned torn_in_row;
};

/* Opens domain (number). Returns 0, or an errno. Closed by machine_end(). */
int xen_begin(struct xen *xen, const struct xen_calls *calls, void *owner,
              unsigned number);

/* Begins with (target), "xen:NUMBER"; dies if there is no Xen, or it refuses.
 * The domain goes on however we end, but by a signal that none can catch. */
void xen_attach(struct xen *xen, const char *target);

/* "HVM or PVH", or which PV. */
const char *xen_kind(const struct xen *xen);

/*
 * Registers in what Xen says of a CPU. Only offsets are known here, so that
 * this is built and tested without Xen's headers; xen_calls.c holds them
 * against these.
 *
 * Source: Xen's public headers xen/arch-x86/hvm/save.h, xen/foreign/x86_*.h.
 */

#define XEN_HVM_RBP 544u
#define XEN_HVM_RSP 568u
#define XEN_HVM_RIP 640u
#define XEN_HVM_RFLAGS 648u
#define XEN_HVM_CR0 656u
#define XEN_HVM_CR3 672u
#define XEN_HVM_CR4 680u
#define XEN_HVM_CS 736u
#define XEN_HVM_CS_BASE 808u
#define XEN_HVM_CS_ATTRIBUTES 888u
#define XEN_HVM_EFER 992u
#define XEN_HVM_BYTES 1032u

#define XEN_PV64_FLAGS 512u
#define XEN_PV64_RBP 552u
#define XEN_PV64_RIP 648u
#define XEN_PV64_CS 656u
#define XEN_PV64_RSP 672u
#define XEN_PV64_CR 4984u /* an array: cr0 to cr7 */
#define XEN_PV64_BYTES 5168u

#define XEN_PV32_EBP 536u
#define XEN_PV32_EIP 548u
#define XEN_PV32_CS 552u
#define XEN_PV32_ESP 560u
#define XEN_PV32_CR 2716u
#define XEN_PV32_BYTES 2800u

/* A PV guest has its interrupts masked in its own memory: what is here does not
 * say so. */
void xen_context_hvm(const uint8_t *context, struct registers *registers);
void xen_context_pv64(const uint8_t *context, struct registers *registers);
void xen_context_pv32(const uint8_t *context, struct registers *registers);

#endif
