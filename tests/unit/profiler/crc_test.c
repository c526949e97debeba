/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C against the numbers of RFC 3720 and against its own definition. */

#include "../unit.h"

#include "base/crc.h"
#include "../names/table_maker.h"

/* The catalogue's check value, and the examples of RFC 3720. */
TEST(published_values_hold)
{
    uint8_t zeros[32] = {0}, ones[32], up[32], down[32];

    for (unsigned i = 0; i < 32; ++i) {
        ones[i] = 0xff;
        up[i] = (uint8_t)i;
        down[i] = (uint8_t)(31 - i);
    }
    assert_int_equal(prof_crc32c(0, "123456789", 9), 0xe3069283u);
    assert_int_equal(prof_crc32c(0, zeros, 32), 0x8a9136aau);
    assert_int_equal(prof_crc32c(0, ones, 32), 0x62a8ab43u);
    assert_int_equal(prof_crc32c(0, up, 32), 0x46dd794eu);
    assert_int_equal(prof_crc32c(0, down, 32), 0x113fdb5cu);
    assert_int_equal(prof_crc32c(0, "", 0), 0);
    assert_int_equal(prof_crc32c(0x12345678u, NULL, 0), 0x12345678u);
}

TEST(every_byte_value_agrees_with_the_definition)
{
    uint8_t bytes[256];

    for (unsigned i = 0; i < 256; ++i)
        bytes[i] = (uint8_t)i;
    for (unsigned i = 0; i < 256; ++i) {
        assert_int_equal(prof_crc32c(0, bytes + i, 1), made_crc(bytes + i, 1));
        assert_int_equal(prof_crc32c(0, bytes, i), made_crc(bytes, i));
    }
}

TEST(pieces_give_the_checksum_of_the_whole)
{
    static const char text[] = "where the time goes, in two pieces or in one";
    size_t bytes = sizeof text - 1;
    uint32_t whole = prof_crc32c(0, text, bytes);

    for (size_t cut = 0; cut <= bytes; ++cut) {
        uint32_t crc = prof_crc32c(0, text, cut);

        assert_int_equal(prof_crc32c(crc, text + cut, bytes - cut), whole);
    }
}
