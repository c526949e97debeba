/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The size of RAM as the firmware stored it in the CMOS. Bytes 0x30 and 0x31
 * hold the KiB above 1 MiB, at most 64 MiB; 0x34 and 0x35 the units of 64 KiB
 * above 16 MiB and below the PCI hole. Used if there is no memory map.
 */

#include "boot_info.h"

#include <arch/cpu.h>

#define CMOS_INDEX 0x70u
#define CMOS_DATA 0x71u
#define CMOS_KIB_ABOVE_1M 0x30u
#define CMOS_64KIB_ABOVE_16M 0x34u

static uint32_t cmos_word(uint8_t index)
{
    uint32_t low, high;

    arch_out8(CMOS_INDEX, index);
    low = arch_in8(CMOS_DATA);
    arch_out8(CMOS_INDEX, (uint8_t)(index + 1));
    high = arch_in8(CMOS_DATA);
    return high << 8 | low;
}

uint64_t boot_cmos_bytes(void)
{
    const uint64_t above_16m = (uint64_t)cmos_word(CMOS_64KIB_ABOVE_16M) << 16;

    if (above_16m != 0)
        return above_16m + (15u << 20);
    return (uint64_t)cmos_word(CMOS_KIB_ABOVE_1M) << 10;
}
