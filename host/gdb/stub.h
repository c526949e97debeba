/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUB_STUB_H
#define STUB_STUB_H

/*
 * A guest seen through the stub of its VMM, to which GDB could connect as well:
 *
 *     stub_begin()
 *     machine_continue()                the guest runs
 *     machine_stop()                    all CPUs: registers, a piece of stack
 *     machine_read() ...                more of the memory
 *     machine_continue()
 *     ...
 *     machine_end()
 *
 * QEMU's stub handles what is sent after an interrupt as soon as the guest has
 * stopped, so a stop with the registers and a piece of each CPU's stack takes
 * one round trip. With other stubs each packet waits for its answer.
 *
 * Nothing that a stub sends is trusted: what is damaged, contradictory or late
 * makes a stop "torn", or ends the conversation with a reason.
 */

#include "machine/machine.h"
#include "gdb/remote.h"

struct stub {
    struct machine machine; /* late_stop: a stop came between answers */
    int file;
    double timeout;   /* seconds until an answer is late */
    double deadline;  /* of the present question */
    bool is_qemu;     /* takes packets after an interrupt */
    bool acks;        /* packets are acknowledged */
    bool binary;      /* reads memory as bytes */
    bool steps_apart; /* vCont;c is needed for all CPUs */
    bool runs;        /* the guest, as far as is known */
    struct register_layout layout;
    size_t current;   /* CPU that the stub reads from */
    uint64_t packets; /* received */
    unsigned torn_in_row;
    unsigned stops;   /* stop replies since the last request to stop */
    unsigned answers; /* since then */
    bool owes_ack;
    volatile bool cut; /* a packet was sent in part */
    size_t in_at;
    size_t in_end;
    size_t out_used;
    struct remote_reader reader;
    uint8_t in[1 << 16];
    char out[1 << 14];
};

/* Starts the conversation over the connected socket (file). The guest is
 * stopped then, and goes on however the process ends, unless a signal kills it
 * that cannot be caught. False if that is no stub; the reason is set. To be
 * ended by machine_end() in any case, which closes the connection. */
bool stub_begin(struct stub *stub, int file, double timeout);

#endif
