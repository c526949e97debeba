/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C against the numbers of RFC 3720 and against its own definition. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crc.h"
#include "../names/table_maker.h"

static void the_check_value_is_the_catalogue_s(void **state)
{
    (void)state;
    assert_int_equal(prof_crc32c(0, "123456789", 9), 0xe3069283u);
}

static void the_examples_of_rfc_3720_hold(void **state)
{
    uint8_t zeros[32] = {0}, ones[32], up[32], down[32];

    (void)state;
    for (unsigned i = 0; i < 32; ++i) {
        ones[i] = 0xff;
        up[i] = (uint8_t)i;
        down[i] = (uint8_t)(31 - i);
    }
    assert_int_equal(prof_crc32c(0, zeros, 32), 0x8a9136aau);
    assert_int_equal(prof_crc32c(0, ones, 32), 0x62a8ab43u);
    assert_int_equal(prof_crc32c(0, up, 32), 0x46dd794eu);
    assert_int_equal(prof_crc32c(0, down, 32), 0x113fdb5cu);
}

static void no_bytes_change_nothing(void **state)
{
    (void)state;
    assert_int_equal(prof_crc32c(0, "", 0), 0);
    assert_int_equal(prof_crc32c(0x12345678u, NULL, 0), 0x12345678u);
}

static void every_byte_value_agrees_with_the_definition(void **state)
{
    uint8_t bytes[256];

    (void)state;
    for (unsigned i = 0; i < 256; ++i)
        bytes[i] = (uint8_t)i;
    for (unsigned i = 0; i < 256; ++i) {
        assert_int_equal(prof_crc32c(0, bytes + i, 1), made_crc(bytes + i, 1));
        assert_int_equal(prof_crc32c(0, bytes, i), made_crc(bytes, i));
    }
}

static void pieces_give_the_checksum_of_the_whole(void **state)
{
    static const char text[] = "where the time goes, in two pieces or in one";
    size_t bytes = sizeof text - 1;
    uint32_t whole = prof_crc32c(0, text, bytes);

    (void)state;
    for (size_t cut = 0; cut <= bytes; ++cut) {
        uint32_t crc = prof_crc32c(0, text, cut);

        assert_int_equal(prof_crc32c(crc, text + cut, bytes - cut), whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_value_is_the_catalogue_s),
        cmocka_unit_test(the_examples_of_rfc_3720_hold),
        cmocka_unit_test(no_bytes_change_nothing),
        cmocka_unit_test(every_byte_value_agrees_with_the_definition),
        cmocka_unit_test(pieces_give_the_checksum_of_the_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
