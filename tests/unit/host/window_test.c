/* SPDX-License-Identifier: Apache-2.0 */

/* The piece of memory that was read with a CPU, for addresses of any kind. */

#include "../unit.h"

#include "machine/machine.h"

static struct machine_cpu cpu;

static const uint8_t *at(uint64_t address, size_t bytes)
{
    return machine_window(&cpu, address, bytes);
}

TEST(what_was_read_is_there)
{
    cpu.window = 0x8000;
    cpu.window_bytes = 64;
    assert_ptr_equal(at(0x8000, 64), cpu.bytes);
    assert_ptr_equal(at(0x8038, 8), cpu.bytes + 56);
    assert_ptr_equal(at(0x8040, 0), cpu.bytes + 64);
    assert_null(at(0x7fff, 1));
    assert_null(at(0x8000, 65));
    assert_null(at(0x8039, 8));
    assert_null(at(0x8040, 1));
    assert_null(at(0, 8));
}

/* An address and a length whose sum is beyond all addresses. */
TEST(sums_do_not_wrap)
{
    cpu.window = 0;
    cpu.window_bytes = 64;
    for (uint64_t i = 1; i < 16; ++i)
        assert_null(at(0 - i, 8));
    assert_null(at(8, SIZE_MAX));
    assert_null(at(UINT64_MAX, SIZE_MAX));
    cpu.window = 0 - (uint64_t)64;
    assert_ptr_equal(at(0 - (uint64_t)8, 8), cpu.bytes + 56);
    assert_null(at(0 - (uint64_t)4, 8));
    assert_null(at(0, 8));
}

TEST(nothing_is_in_an_empty_window)
{
    cpu.window = 0x8000;
    cpu.window_bytes = 0;
    assert_null(at(0x8000, 1));
    assert_null(at(0x8000 - 8, 8));
}
