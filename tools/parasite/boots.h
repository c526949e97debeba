/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOTS_H
#define BOOTS_H

/*
 * The boots that one recording is of. A guest that starts again while it is
 * recorded begins a stream of its own, with clocks and numbers of its own, and
 * so a trace of its own: the first boot goes to the folder that was asked for,
 * x.trace, the next ones to x.trace-2, x.trace-3 and so on, in the order of
 * their first packets. Packets find their boot by its uuid.
 */

#include "model.h"
#include "trace.h"

struct boot {
    char *path;
    struct trace_writer writer;
    struct model model; /* what came so far */
    bool checked;       /* its image is one that was expected */
};

/* Starts as zeros. */
struct boots {
    const char *image;  /* path, to be remembered in the traces, or NULL */
    struct boot **list; /* by number; the first is there from the beginning */
    size_t count;
    struct boot *now; /* whose packet came last */
};

/* Makes the first boot's folder, (path). */
void boots_begin(struct boots *boots, const char *path);

/* Puts (packet) into the trace of its boot and adds it to the model. Returns
 * that boot, or NULL where the packet was there already. */
struct boot *boots_take(struct boots *boots, const struct packet *packet);

/* Completes all traces; the boots can still be looked at. */
void boots_end(struct boots *boots);

#endif
