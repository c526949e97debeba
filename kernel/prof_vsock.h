/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNEL_PROF_VSOCK_H
#define KERNEL_PROF_VSOCK_H

/*
 * The transport prof.out=vsock: a port of the guest's virtio socket device, to
 * which the host connects. Each client may send commands and gets the answers
 * to its own; packets go to the one that has been connected for longest. While
 * none is connected packets are dropped and counted, as on a serial line that
 * nobody listens to.
 */

#include <stdbool.h>
#include <stddef.h>

/* Sets the port, "9999", in the place of PROF_VSOCK_PORT. False: it is no
 * number from 1 to 4294967294. Contexts: boot. */
#define PROF_VSOCK_PORT 9999u
bool prof_vsock_set_port(const char *text);

/* The functions of a struct prof_transport (<prof/transport.h>). */
bool prof_vsock_open(void);
bool prof_vsock_send(const void *packet, size_t bytes);
void prof_vsock_finish(void);
int prof_vsock_receive(void);

/* Sends the answer to the command whose last byte prof_vsock_receive() has
 * returned. */
bool prof_vsock_answer(const void *line, size_t bytes);

/* Whether one of these was interrupted, or anybody's call for the device's
 * sockets. Contexts: interrupt. */
bool prof_vsock_busy(void);

/* Prints what became of clients and packets. */
void prof_vsock_print(void);

#endif
