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

#define LOW_MAX 0xe0000000ull   /* RAM of that size and more is split */
#define LOW_SPLIT 0xc0000000ull /* there */
#define HIGH (1ull << 32)

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
    ram->low = ram->count >= LOW_MAX ? LOW_SPLIT : ram->count;
    return true;
}

/* Copies (bytes) from a physical address; false unless all are RAM. */
static bool copy(void *owner, uint64_t physical, uint8_t *to, size_t bytes)
{
    const struct ram *ram = owner;
    uint64_t end = ram->low;

    if (physical >= HIGH) {
        physical = physical - HIGH + ram->low;
        end = ram->count;
    }
    if (physical >= end || bytes > end - physical)
        return false;
    memcpy(to, ram->bytes + physical, bytes);
    return true;
}

size_t ram_read(const struct ram *ram, const struct registers *registers,
                uint64_t address, uint8_t *to, size_t bytes)
{
    const struct paging_memory memory = {copy, (void *)ram};

    return paging_read(registers, &memory, address, to, bytes);
}

void ram_close(struct ram *ram)
{
    if (ram->bytes != NULL)
        munmap((void *)ram->bytes, (size_t)ram->count);
    ram->bytes = NULL;
}
