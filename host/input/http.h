/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INPUT_HTTP_H
#define INPUT_HTTP_H

/*
 * The profiler's port of a guest (<kernel/profile_server.h>), asked by HTTP for
 * a connection of packets and commands, as a UART of QEMU's is one.
 *
 * http://HOST:PORT, or http://HOST:PORT/?token=TOKEN. Without a token in it,
 * that of the environment, PARASITE_TOKEN.
 */

#include <stdbool.h>
#include <stddef.h>

struct http_address {
    char *host, *port; /* "80" by default */
    char *token;       /* NULL: none */
    char *name;        /* how messages name it: without the token */
};

/* Parses (text), what follows "http://". NULL, or what is wrong with it. To be
 * freed in either case. */
const char *http_address_parse(struct http_address *address, const char *text);
void http_address_free(struct http_address *address);

/*
 * Asks for /stream or, if it is only for commands, /commands, on (file), which
 * is connected. False, and a line in (why) of (room) bytes: it was refused, or
 * the time was over.
 */
bool http_ask(const struct http_address *address, int file, bool commands,
              double deadline, char *why, size_t room);

#endif
