/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_BOOTS_H
#define TRACE_BOOTS_H

/*
 * The boots in one recording. A guest that restarts while it is recorded begins
 * a new stream with clocks and numbers of its own, which becomes a trace of its
 * own: the first boot goes to the folder that was asked for, x.trace, the next
 * ones to x.trace-2, x.trace-3 and so on, in the order of their first packets.
 * A packet's uuid says which boot it belongs to.
 */

#include "trace/model.h"
#include "trace/trace.h"

#define BOOTS_MAX 64 /* in one recording */

struct boot {
    struct trace_writer writer;
    struct model model; /* of all packets so far */
    bool checked;       /* its image was compared with the expected one */
};

/* Starts as zeros. */
struct boots {
    const char *image;      /* path to store in the traces, or NULL */
    const uint8_t *symbols; /* to store in the traces, or NULL */
    size_t symbols_bytes;
    struct boot **list; /* by number; the first always exists */
    size_t count;
    struct boot *now;  /* that sent the last packet */
    uint64_t left_out; /* packets of boots beyond BOOTS_MAX, or without room */
};

/* Chooses the first boot's folder; ends the process if it is not writable. */
void boots_begin(struct boots *boots, const char *path);

/* Puts (packet) into the trace of its boot and adds it to the model. Returns
 * that boot, or NULL if the packet was there already or is left out. */
struct boot *boots_take(struct boots *boots, const struct packet *packet);

/* Completes all traces. The boots stay readable. */
void boots_end(struct boots *boots);

#endif
