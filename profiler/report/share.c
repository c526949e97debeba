/* SPDX-License-Identifier: Apache-2.0 */

/* Shares that add up; see share.h. */

#include "report/share.h"

#include "base/cpu.h"

uint32_t prof_share_of(uint64_t part, uint64_t whole)
{
    while (whole >> 32 != 0) {
        part >>= 1;
        whole >>= 1;
    }
    if (whole == 0)
        return 0;
    return (uint32_t)prof_divide(part * PROF_SHARE_ALL + whole / 2,
                                 (uint32_t)whole);
}

uint32_t prof_share_next(struct prof_share_sum *share, uint64_t part)
{
    uint32_t before = share->given;

    share->sum += part;
    share->given = prof_share_of(share->sum, share->whole);
    return share->given - before;
}
