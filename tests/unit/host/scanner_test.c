/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever happens to a stream between the guest and the host, all packets
 * that were not touched are found, and no others.
 */

#include "../unit.h"

#define ROOM 160u /* bytes of a packet: many packets, few bytes */

#include "fault_maker.h"

/* Feeds (bytes) in pieces of (piece) and says what was found. */
static struct found scan(const uint8_t *bytes, size_t count, size_t piece)
{
    struct found found = {0};
    struct scanner scanner = {.sink = {note_found, &found}};

    for (size_t at = 0; at < count; at += piece)
        scanner_feed(&scanner, bytes + at,
                     count - at < piece ? count - at : piece);
    scanner_end(&scanner);
    assert_int_equal(found.wrong, 0);
    return found;
}

TEST(pieces_of_any_size_do)
{
    for (size_t piece = 1; piece <= made->count; ++piece)
        require_others(scan(made->bytes, made->count, piece), 0);
}

TEST(a_flipped_bit_costs_its_packet)
{
    uint8_t *bytes = malloc(made->count);

    memcpy(bytes, made->bytes, made->count);
    for (size_t bit = 0; bit < 8 * made->count; ++bit) {
        uint8_t mask = (uint8_t)(1u << bit % 8);

        bytes[bit / 8] ^= mask;
        require_others(scan(bytes, made->count, 1000),
                       1u << made_owner(bit / 8));
        bytes[bit / 8] ^= mask;
    }
    free(bytes);
}

TEST(a_cut_costs_the_packet_it_is_in)
{
    uint8_t *bytes = malloc(made->count);

    for (size_t cut = 0; cut < made->count; ++cut) {
        size_t lost = cut % 7 + 1;
        size_t end = cut + lost < made->count ? cut + lost : made->count;
        unsigned touched = 1u << made_owner(cut);

        touched |= 1u << made_owner(end - 1);
        memcpy(bytes, made->bytes, cut);
        memcpy(bytes + cut, made->bytes + end, made->count - end);
        require_others(scan(bytes, made->count - (end - cut), 64), touched);
    }
    free(bytes);
}

TEST(a_stream_may_end_anywhere)
{
    for (size_t end = 0; end < made->count; ++end) {
        unsigned whole = made_owner(end);
        unsigned all = (1u << FAULT_PACKETS) - 1;

        require_others(scan(made->bytes, end, 100), all & ~((1u << whole) - 1));
    }
}

TEST(packets_may_come_in_any_order_and_again)
{
    uint8_t *bytes = malloc(3 * made->count);
    size_t used = 0;
    struct found found;

    for (unsigned i = 0; i < 3 * FAULT_PACKETS; ++i) {
        size_t count;
        const uint8_t *from = made_packet(made, i * 5 % FAULT_PACKETS, &count);

        memcpy(bytes + used, from, count);
        used += count;
    }
    found = scan(bytes, used, 333);
    for (unsigned i = 0; i < FAULT_PACKETS; ++i)
        assert_int_equal(found.count[i], 3);
    free(bytes);
}

TEST(other_bytes_between_packets_are_passed_over)
{
    uint8_t *bytes = malloc(2 * made->count + 4096);
    static const uint8_t noise[] = {0xc1, 0x1f, 0xfc, 0xc1, 0xc1,
                                    0x1f, 0xc1, 0,    0xff, 0xc1};
    size_t used = 0;

    for (unsigned i = 0; i < FAULT_PACKETS; ++i) {
        size_t count;
        const uint8_t *from = made_packet(made, i, &count);

        memcpy(bytes + used, noise, sizeof noise);
        used += sizeof noise;
        memcpy(bytes + used, from, count);
        used += count;
    }
    require_others(scan(bytes, used, 50), 0);
    free(bytes);
}

TEST(garbage_is_counted)
{
    struct found found = {0};
    struct packet_sink sink = {note_found, &found};
    uint64_t garbage = 0;
    size_t second = made_offset(1);

    packet_scan(made->bytes + 10, made->count - 10, true, &sink, &garbage);
    assert_int_equal(garbage, second - 10);
}
