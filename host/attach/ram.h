/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_RAM_H
#define ATTACH_RAM_H

/*
 * The RAM of a guest, a file that its VMM shares (QEMU: memory-backend-file
 * with share=on). A large one is split: its beginning is below 4 GiB, the rest
 * above. Where, depends on the machine (QEMU's pc: at 3 GiB, q35: at 2 GiB), so
 * all splits that may be are tried where one matters, and held against what the
 * VMM says is there.
 */

#include "machine/registers.h"

#define RAM_SPLITS 5u

struct ram {
    const uint8_t *bytes; /* NULL = not opened */
    uint64_t count;
    uint64_t splits[RAM_SPLITS]; /* bytes below 4 GiB that there may be */
    unsigned split_count;        /* 1 = it is known */
};

/* Maps the file (path); false with errno set if that fails. */
bool ram_open(struct ram *ram, const char *path);

/* The (bytes) from a physical address below 4 GiB; NULL unless all are there.
 * The address may be anything. */
const uint8_t *ram_below(const struct ram *ram, uint64_t physical,
                         size_t bytes);

/* Reads at most (bytes) of a stopped CPU, to the first page not mapped; returns
 * how many. *(sure): they do not depend on an unknown split of the RAM. */
size_t ram_read(const struct ram *ram, const struct registers *registers,
                uint64_t address, uint8_t *to, size_t bytes, bool *sure);

/* The guest has these (count) bytes at (address): forgets the splits by which
 * it would have others. False if none is left. */
bool ram_compare(struct ram *ram, const struct registers *registers,
                 uint64_t address, const uint8_t *bytes, size_t count);

void ram_close(struct ram *ram);

#endif
