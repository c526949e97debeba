/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INPUT_VSOCK_H
#define INPUT_VSOCK_H

/*
 * A port of a guest's virtio socket device (prof.out=vsock), reached in one of
 * two ways:
 *
 *     vsock:PATH:PORT  through a socket of the hypervisor, by the convention of
 *                      Firecracker (its docs/vsock.md), which Cloud Hypervisor
 *                      shares: "CONNECT PORT\n" is answered by "OK N\n"
 *     vsock:CID:PORT   through the host's kernel (vhost-vsock)
 *
 * What is a number is a CID; a path that looks like one is written ./3.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vsock_address {
    char *path; /* NULL: a CID */
    uint32_t cid;
    uint32_t port;
};

/* Parses (text), what follows "vsock:". NULL, or what is wrong with it. To be
 * freed in either case. */
const char *vsock_address_parse(struct vsock_address *address,
                                const char *text);
void vsock_address_free(struct vsock_address *address);

/*
 * Asks the hypervisor at (file), which is connected to address->path and does
 * not block, for the guest's port. False, and a line in (why) of (room) bytes:
 * nobody listens there, the answer is none, or the (deadline) was over.
 */
bool vsock_ask(const struct vsock_address *address, int file, double deadline,
               char *why, size_t room);

#endif
