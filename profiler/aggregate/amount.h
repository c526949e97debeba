/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_AMOUNT_H
#define PROF_AMOUNT_H

#include <prof/prof.h>
#include <stdint.h>

/* An account: samples, and the time that they cover (TSC cycles). */
struct prof_amount {
    uint64_t samples;
    uint64_t cycles;
};

static inline void prof_amount_add(struct prof_amount *to, uint64_t samples,
                                   uint64_t cycles)
{
    to->samples += samples;
    to->cycles += cycles;
}

#endif
