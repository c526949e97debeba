/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a guest's memory without asking its VMM. */

#include "attach/ram.h"

#include "machine/paging.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HIGH (1ull << 32)
#define PART_MAX 512u /* bytes that are compared at a time */

/* By rising address. */
static const uint64_t splits[] = {
    0x80000000, /* QEMU: q35 */
    0xb0000000, /* the largest of q35 that is in one piece */
    0xc0000000, /* pc, microvm */
    0xe0000000, /* pc before version 2.0, Xen */
};

static void find_splits(struct ram *ram)
{
    ram->split_count = 0;
    for (size_t i = 0; i < sizeof splits / sizeof *splits; ++i) {
        if (splits[i] < ram->count)
            ram->splits[ram->split_count++] = splits[i];
    }
    if (ram->count <= HIGH)
        ram->splits[ram->split_count++] = ram->count;
}

bool ram_open(struct ram *ram, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    void *bytes = MAP_FAILED;

    if (file < 0)
        return false;
    if (fstat(file, &about) == 0 && about.st_size == 0)
        errno = ENODATA;
    else
        bytes =
            mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (bytes == MAP_FAILED)
        return false;
    ram->bytes = bytes;
    ram->count = (uint64_t)about.st_size;
    find_splits(ram);
    return true;
}

/* RAM as one of the splits has it. */
struct view {
    const struct ram *ram;
    uint64_t low;
    bool plain; /* nothing was read of which the splits differ */
};

/* Copies (bytes) from a physical address; false unless all are RAM. */
static bool copy_physical(void *owner, uint64_t physical, uint8_t *to,
                          size_t bytes)
{
    struct view *view = owner;
    const struct ram *ram = view->ram;
    uint64_t end = view->low, least = ram->splits[0];

    if (physical >= least || bytes > least - physical)
        view->plain = false;
    if (physical >= HIGH) {
        physical = physical - HIGH + view->low;
        end = ram->count;
    }
    if (physical >= end || bytes > end - physical)
        return false;
    memcpy(to, ram->bytes + physical, bytes);
    return true;
}

static size_t read_by(struct view *view, const struct registers *registers,
                      uint64_t address, uint8_t *to, size_t bytes)
{
    const struct paging_memory memory = {copy_physical, view};

    view->plain = true;
    return paging_read(registers, &memory, address, to, bytes);
}

const uint8_t *ram_below(const struct ram *ram, uint64_t physical, size_t bytes)
{
    uint64_t end = ram->count < HIGH ? ram->count : HIGH;

    if (physical >= end || bytes > end - physical)
        return NULL;
    return ram->bytes + physical;
}

size_t ram_read(const struct ram *ram, const struct registers *registers,
                uint64_t address, uint8_t *to, size_t bytes, bool *sure)
{
    struct view view = {.ram = ram, .low = ram->splits[0]};
    size_t count = read_by(&view, registers, address, to, bytes);

    *sure = ram->split_count == 1 || view.plain;
    return count;
}

/* Whether that split has other bytes; where it has none may be no RAM. */
static bool differs(const struct ram *ram, uint64_t low,
                    const struct registers *registers, uint64_t address,
                    const uint8_t *bytes, size_t count)
{
    struct view view = {.ram = ram, .low = low};
    uint8_t part[PART_MAX];

    for (size_t at = 0; at < count; at += sizeof part) {
        size_t left = count - at < sizeof part ? count - at : sizeof part;

        left = read_by(&view, registers, address + at, part, left);
        if (memcmp(part, bytes + at, left) != 0)
            return true;
    }
    return false;
}

bool ram_compare(struct ram *ram, const struct registers *registers,
                 uint64_t address, const uint8_t *bytes, size_t count)
{
    unsigned left = 0;

    for (unsigned i = 0; i < ram->split_count; ++i) {
        if (!differs(ram, ram->splits[i], registers, address, bytes, count))
            ram->splits[left++] = ram->splits[i];
    }
    ram->split_count = left;
    return left > 0;
}

void ram_close(struct ram *ram)
{
    if (ram->bytes != NULL)
        munmap((void *)ram->bytes, (size_t)ram->count);
    ram->bytes = NULL;
}
