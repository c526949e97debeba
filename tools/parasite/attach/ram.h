/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_RAM_H
#define ATTACH_RAM_H

/*
 * The RAM of a guest, a file that its VMM shares (QEMU: memory-backend-file
 * with share=on), in the layout of QEMU's PC: from 3.5 GiB on, all beyond 3 GiB
 * is above 4 GiB.
 */

#include "machine/registers.h"

struct ram {
    const uint8_t *bytes; /* NULL = not opened */
    uint64_t count;
    uint64_t low; /* bytes below 4 GiB */
};

/* Maps the file (path); false with errno set if that fails. */
bool ram_open(struct ram *ram, const char *path);

/* Reads at most (bytes) from (address) of a stopped CPU, to the first page that
 * is not mapped. Returns how many. */
size_t ram_read(const struct ram *ram, const struct registers *registers,
                uint64_t address, uint8_t *to, size_t bytes);

void ram_close(struct ram *ram);

#endif
