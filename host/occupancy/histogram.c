/* SPDX-License-Identifier: Apache-2.0 */
/* Log-linear histograms: 32 buckets for each octave, so a value is known to
 * within 1/32, and the middle of its bucket to within 1/64. */

#include "base/checked.h"
#include "occupancy/occupancy.h"

#define LINEAR 32u /* buckets of one octave, and values with their own bucket */

uint32_t occupancy_bucket(uint64_t value)
{
    unsigned octave = 0;

    while (value >> octave >= 2 * LINEAR)
        ++octave;
    return octave * LINEAR + (uint32_t)(value >> octave);
}

uint64_t occupancy_bucket_begin(uint32_t number)
{
    unsigned octave = number / LINEAR;

    if (octave == 0)
        return number;
    if (number >= OCCUPANCY_BUCKETS)
        return UINT64_MAX;
    return (uint64_t)(LINEAR + number % LINEAR) << (octave - 1);
}

uint64_t occupancy_values(const uint32_t *buckets)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; buckets != NULL && i < OCCUPANCY_BUCKETS; ++i)
        sum += buckets[i];
    return sum;
}

uint64_t occupancy_quantile(const uint32_t *buckets, double share)
{
    uint64_t all = occupancy_values(buckets), sum = 0, wanted;

    if (all == 0)
        return 0;
    wanted = checked_u64(share * (double)all);
    if (wanted >= all)
        wanted = all - 1;
    for (uint32_t i = 0; i < OCCUPANCY_BUCKETS; ++i) {
        uint64_t begin = occupancy_bucket_begin(i);

        sum += buckets[i];
        if (sum > wanted)
            return begin + (occupancy_bucket_begin(i + 1) - begin) / 2;
    }
    return 0;
}
