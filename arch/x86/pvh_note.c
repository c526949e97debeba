/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The note in which QEMU, Firecracker and others look for the address of a
 * 32-bit PVH entry, for images of either width. QEMU looks for a Multiboot 1
 * header first, so that an i386 image is entered by PVH only where there is no
 * such header.
 */

#include "pvh.h"

/* boot_entry, unless the linker sets it otherwise (linker/image.ld). */
extern char boot_pvh_entry[];

struct note {
    uint32_t name_bytes, value_bytes, type;
    char name[sizeof(PVH_NOTE_NAME)];
    uintptr_t value;
} __attribute__((packed, aligned(4)));

static const struct note pvh_note
    __attribute__((section(".note.pvh"), used, aligned(4))) = {
        .name_bytes = sizeof(PVH_NOTE_NAME),
        .value_bytes = sizeof(uintptr_t),
        .type = PVH_NOTE_ENTRY,
        .name = PVH_NOTE_NAME,
        .value = (uintptr_t)boot_pvh_entry,
};
