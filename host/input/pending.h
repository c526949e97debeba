/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INPUT_PENDING_H
#define INPUT_PENDING_H

/*
 * QEMU serves one client of a socket at a time. connect() succeeds for others
 * too, but they wait in the socket's queue, and what they send is delivered
 * when the first one leaves.
 */

#include <stdbool.h>

/* Whether the connected socket (file) has not been accepted yet. False if that
 * cannot be found out: the server is on another machine, or (file) is not a
 * socket. May send a newline, which is no command. */
bool pending_connection(int file);

#endif
