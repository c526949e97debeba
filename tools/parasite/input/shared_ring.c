/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest writes while we read. A packet is copied first and checked then: if
 * the guest overwrote it meanwhile, its checksum is wrong. `written` is read
 * before the bytes it covers (A, pairs with the guest's release), `read` is
 * written after them.
 */

#include "input/shared_ring.h"

#include "base/bytes.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <prof/format.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool shared_ring_open(struct shared_ring *share, const char *path,
                      uint64_t ring)
{
    int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat about;
    void *ram;

    *share = (struct shared_ring){.path = path, .ring = ring};
    if (file < 0 && errno == ENOENT)
        return false;
    if (file < 0 || fstat(file, &about) != 0)
        die("%s: cannot be opened: %s", path, strerror(errno));
    share->ram_bytes = (size_t)about.st_size;
    if (share->ram_bytes < ring + sizeof(struct prof_share)) {
        close(file);
        return false;
    }
    ram = mmap(NULL, share->ram_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
               0);
    if (ram == MAP_FAILED)
        die("%s: cannot be mapped: %s", path, strerror(errno));
    close(file);
    share->ram = ram;
    return true;
}

static uint64_t field(const struct shared_ring *share, size_t offset)
{
    const void *at = share->ram + share->ring + offset;

    return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE); /* A */
}

#define FIELD(share, name) field(share, offsetof(struct prof_share, name))

/* Copies the packet at share->read out of the ring. Returns the bytes to
 * advance by: of the packet; up to the ring's end if there is none; or 8. A
 * zero has a meaning only where a packet would begin. */
static uint64_t take_next(struct shared_ring *share, const uint8_t *ring,
                          uint64_t bytes, const struct packet_sink *sink)
{
    static uint8_t copy[PROF_PACKET_MAX];
    uint64_t left = bytes - share->read % bytes, total;
    const uint8_t *from = ring + share->read % bytes;
    bool in_step = share->in_step || left == bytes;
    struct packet packet;

    share->in_step = in_step;
    if (left < PROF_PACKET_BYTES || (in_step && le32(from) == 0))
        return left;
    share->in_step = false;
    total = le32(from + offsetof(struct prof_packet, packet_bits)) / 8;
    if (total > left || total > sizeof copy)
        return 8;
    memcpy(copy, from, total);
    if (packet_check(copy, total, &packet) != PACKET_GOOD)
        return 8;
    share->in_step = true;
    sink->take(sink->owner, &packet);
    return (total + 7) / 8 * 8;
}

bool shared_ring_read(struct shared_ring *share, const struct packet_sink *sink)
{
    uint64_t address, bytes, written, end;

    if (share->ram == NULL || FIELD(share, magic) != PROF_SHARE_MAGIC)
        return false;
    address = FIELD(share, ring_address);
    bytes = FIELD(share, ring_bytes);
    if (bytes < PROF_PACKET_BYTES || (bytes & (bytes - 1)) != 0 ||
        address > share->ram_bytes || bytes > share->ram_bytes - address)
        die("%s: the ring in it is damaged (%#llx, %llu bytes)", share->path,
            (unsigned long long)address, (unsigned long long)bytes);
    written = FIELD(share, written);
    end = written;
    if (written < share->read) { /* another guest in the same RAM */
        share->read = 0;
        share->in_step = false;
    }
    if (written - share->read > bytes) {
        share->overwritten += written - bytes - share->read;
        share->read = written - bytes;
        share->in_step = false;
    }
    if (share->read == end)
        return false;
    while (share->read < end)
        share->read += take_next(share, share->ram + address, bytes, sink);
    __atomic_store_n((uint64_t *)(void *)(share->ram + share->ring +
                                          offsetof(struct prof_share, read)),
                     share->read, __ATOMIC_RELEASE);
    return true;
}

void shared_ring_close(struct shared_ring *share)
{
    if (share->ram != NULL)
        munmap(share->ram, share->ram_bytes);
    share->ram = NULL;
}
