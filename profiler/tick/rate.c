/* SPDX-License-Identifier: Apache-2.0 */

#include "tick/rate.h"

#include "base/cpu.h"
#include "base/options.h"
#include "tick/clock.h"
#include "tick/floor.h"
#include "tick/source.h"

#include <prof/config.h>

uint32_t prof_rate_divisor(uint32_t hz)
{
    uint32_t divisor = (PROF_PIT_HZ + hz / 2) / hz;

    if (divisor < PROF_DIVISOR_MIN)
        divisor = PROF_DIVISOR_MIN;
    if (PROF_WITH_BUILTIN && divisor < prof_floor_mean())
        divisor = prof_floor_mean();
    return divisor;
}

bool prof_rate_change_alone(uint32_t *divisor, uint32_t hz)
{
    uint32_t before = *divisor, period = prof_rate_divisor(hz);
    uint32_t most =
        PROF_DIVISOR_MAX * 100u / (100u + PROF_OPTION(jitter_percent));

    *divisor = period < most ? period : most - 1;
    return *divisor != before || (PROF_WITH_BUILTIN && prof_floor_too_fast());
}

uint32_t prof_rate_cycles(uint32_t divisor)
{
    return (uint32_t)prof_divide(prof_clock.tsc_hz * divisor, PROF_PIT_HZ);
}
