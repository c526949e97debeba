/* SPDX-License-Identifier: Apache-2.0 */

/* The identity of a stream, from the configuration and the time. */

#include "stream/hello.h"

#include "base/cpu.h"

static void mix(uint8_t *to, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        to[i] ^= (uint8_t)(value >> (8 * i));
}

/* This image, by its build-id, and this boot of it, by the time. The bits that
 * say "of a kind of its own" are RFC 9562's, version 8. */
void prof_hello_uuid(const struct prof_config *config, uint8_t uuid[16])
{
    uint64_t tsc = prof_tsc();

    for (unsigned i = 0; i < 16; i++)
        uuid[i] = 0;
    for (size_t i = 0; i < config->build_id_bytes; i++)
        uuid[i % 8] = (uint8_t)(uuid[i % 8] * 31 + config->build_id[i]);
    mix(uuid + 8, tsc * 0x9e3779b97f4a7c15ull);
    mix(uuid + 8, config->boot_unix_seconds << 24);
    uuid[6] = (uuid[6] & 0x0f) | 0x80;
    uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

void prof_hello_put(const struct prof_config *config,
                    struct prof_packet_maker *packet, uint64_t clock)
{
    struct prof_event_hello hello = {
        .version = PROF_FORMAT_VERSION,
        .pointer_bits = 8 * sizeof(void *),
        .tsc_hz = config->tsc_hz,
        .unix_seconds = config->boot_unix_seconds,
        .text_begin = config->text.begin,
        .text_end = config->text.end,
    };

    for (size_t i = 0; i < config->build_id_bytes; i++)
        if (i < sizeof hello.build_id)
            hello.build_id[hello.build_id_bytes++] = config->build_id[i];
    prof_packet_put(packet, PROF_EVENT_HELLO, clock, &hello, sizeof hello);
}
