/* SPDX-License-Identifier: Apache-2.0 */

/* Replaces transport.c and the commands if PROF_WITH_STREAM is 0
 * (<prof/config.h>): an image that calls them still links, and nothing is
 * sent or received. */

#include <prof/config.h>
#include <prof/transport.h>

#if PROF_WITH_STREAM
#error "this is compiled only without the stream; see tools/build/sources.py"
#endif

const struct prof_transport *
prof_transport_choose(const struct prof_transport *list, size_t count)
{
    (void)list;
    (void)count;
    return NULL;
}

void prof_transport_use(const struct prof_transport *transport)
{
    (void)transport;
}

void prof_transport_end(uint32_t code)
{
    (void)code;
}

void prof_transport_panic(uint32_t code)
{
    (void)code;
}

bool prof_command_byte(uint8_t byte)
{
    (void)byte;
    return false;
}

bool prof_command_read(int (*receive)(void), uint32_t drop_cycles)
{
    (void)receive;
    (void)drop_cycles;
    return false;
}
