/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XEN_XEN_H
#define XEN_XEN_H

/*
 * A Xen domain as a machine, seen from the domain that controls it. One call of
 * Xen pauses it and takes all registers, one lets it go on, and what is in its
 * RAM is read without any, by the CPU's own page tables.
 */

#include "machine/machine.h"
#include "xen/xen_frames.h"

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

/* Begins with the domain in (target), "xen:NUMBER"; dies if there is no Xen, or
 * it does not let us. However the process ends, the domain goes on, unless a
 * signal kills it that cannot be caught. */
void xen_attach(struct xen *xen, const char *target);

/* "HVM or PVH", or which PV. */
const char *xen_kind(const struct xen *xen);

#endif
