/* SPDX-License-Identifier: Apache-2.0 */

/* The piece of memory that was read with a CPU, for addresses of any kind. */

#include "../unit.h"

#include "machine/machine.h"

TEST(what_was_read_is_there_and_nothing_else)
{
    static const struct {
        uint64_t window;
        size_t window_bytes;
        uint64_t address;
        size_t bytes;
        int at; /* in the window, -1 = it is not there */
    } rows[] = {
        {0x8000, 64, 0x8000, 64, 0},
        {0x8000, 64, 0x8038, 8, 56},
        {0x8000, 64, 0x8040, 0, 64},
        {0x8000, 64, 0x7fff, 1, -1},
        {0x8000, 64, 0x8000, 65, -1},
        {0x8000, 64, 0x8039, 8, -1},
        {0x8000, 64, 0x8040, 1, -1},
        {0x8000, 64, 0, 8, -1},
        {0x8000, 0, 0x8000, 1, -1},
        {0x8000, 0, 0x7ff8, 8, -1},
        /* an address and a length whose sum is beyond all addresses */
        {0, 64, 8, SIZE_MAX, -1},
        {0, 64, UINT64_MAX, SIZE_MAX, -1},
        {UINT64_MAX - 63, 64, UINT64_MAX - 7, 8, 56},
        {UINT64_MAX - 63, 64, UINT64_MAX - 3, 8, -1},
        {UINT64_MAX - 63, 64, 0, 8, -1},
    };
    static struct machine_cpu cpu;

    for (size_t i = 0; i < COUNT(rows); ++i) {
        cpu.window = rows[i].window;
        cpu.window_bytes = rows[i].window_bytes;
        assert_ptr_equal(machine_window(&cpu, rows[i].address, rows[i].bytes),
                         rows[i].at < 0 ? NULL : cpu.bytes + rows[i].at);
    }
    cpu.window = 0;
    for (uint64_t i = 1; i < 16; ++i)
        assert_null(machine_window(&cpu, 0 - i, 8));
}
