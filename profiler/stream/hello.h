/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_HELLO_H
#define PROF_HELLO_H

/*
 * The identity of a stream: which boot of which image it is from.
 * Contexts: thread.
 */

#include "stream/packet.h"

#include <prof/prof.h>

/* Makes up an identity for this boot of this image. */
void prof_hello_uuid(const struct prof_config *config, uint8_t uuid[16]);

/* Puts a HELLO, which fits, into (packet). */
void prof_hello_put(const struct prof_config *config,
                    struct prof_packet_maker *packet, uint64_t clock);

#endif
