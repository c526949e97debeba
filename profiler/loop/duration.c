/* SPDX-License-Identifier: Apache-2.0 */

/* Times as text. */

#include "loop/loop.h"

#include "base/cpu.h"

static uint64_t nanoseconds(uint64_t cycles)
{
    uint32_t khz = (uint32_t)prof_divide(prof_loop_state.tsc_hz, 1000);
    uint64_t ms;

    if (khz == 0)
        return cycles;
    ms = prof_divide(cycles, khz);
    return ms * 1000000 + prof_divide((cycles - ms * khz) * 1000000, khz);
}

void prof_loop_write_time(struct prof_text *out, uint64_t cycles)
{
    static const struct {
        const char *unit;
        uint32_t ns;
    } units[] = {{" us", 1000}, {" ms", 1000000}, {" s ", 1000000000}};
    uint64_t ns = nanoseconds(cycles);
    uint32_t i = 0;

    while (i < 2 && ns >= (uint64_t)units[i].ns * 1000)
        i++;
    prof_text_fixed(out, prof_divide(ns, units[i].ns / 10), 3, 10);
    prof_text_string(out, units[i].unit);
}
