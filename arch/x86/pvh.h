/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PVH_H
#define PVH_H

/*
 * The parts of the x86/HVM direct boot ABI that are used here. Source: Xen,
 * docs/misc/pvh.pandoc and the public header arch-x86/hvm/start_info.h.
 */

#include <stdbool.h>
#include <stdint.h>

#define PVH_START_MAGIC 0x336ec578u /* "xEn3" with the high bit of the E set */
#define PVH_NOTE_NAME "Xen"
#define PVH_NOTE_ENTRY 18u /* XEN_ELFNOTE_PHYS32_ENTRY */

struct pvh_start_info {
    uint32_t magic;
    uint32_t version; /* has a memory map from 1 up */
    uint32_t flags;
    uint32_t module_count;
    uint64_t modules;      /* address of struct pvh_module */
    uint64_t command_line; /* address, or 0 */
    uint64_t rsdp;
    uint64_t ranges; /* address of struct pvh_range, or 0 */
    uint32_t range_count;
    uint32_t reserved;
};

struct pvh_module {
    uint64_t begin;
    uint64_t bytes;
    uint64_t command_line; /* address, or 0 */
    uint64_t reserved;
};

struct pvh_range {
    uint64_t begin;
    uint64_t bytes;
    uint32_t type;
    uint32_t reserved;
};

#define PVH_RANGE_RAM 1u

/* Whether (information) is that of a PVH loader. Contexts: boot. */
bool pvh_is_at(uintptr_t information);

/*
 * Fills arch_boot from the start_info at (information). False: that is none.
 * Ends the image with a line on COM1 where QEMU has overwritten it. Contexts:
 * boot.
 */
bool pvh_read(uintptr_t information);

#endif
