/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest writes while we read. A packet is copied first and checked then: if
 * the guest overwrote it meanwhile, its checksum is wrong. `written` is read
 * before the bytes it covers (A, pairs with the guest's release), `read` is
 * written after them.
 */

#include "input/shared_ring.h"

#include "base/bytes.h"
#include "base/checked.h"
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
    int file = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct stat about;
    void *ram;

    *share = (struct shared_ring){.path = path, .ring = ring};
    if (file < 0 && errno == ENOENT)
        return false;
    if (file < 0 || fstat(file, &about) != 0)
        die("%s: cannot be opened: %s", path, strerror(errno));
    share->ram_bytes = (size_t)about.st_size;
    if (!S_ISREG(about.st_mode))
        die("%s: is not a file", path);
    if (ring % sizeof(uint64_t) != 0)
        die("%#llx is no address of a ring: it is not a multiple of 8",
            (unsigned long long)ring);
    if (share->ram_bytes < sizeof(struct prof_share) ||
        ring > share->ram_bytes - sizeof(struct prof_share)) {
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

struct ring {
    const uint8_t *bytes;
    uint64_t count;
};

/* Copies the packet at share->read out of the ring. Returns the bytes to
 * advance by: of the packet; up to the ring's end if there is none; or 8. A
 * zero has a meaning only where a packet would begin. *(copied) are the bytes
 * that were looked at. */
static uint64_t take_next(struct shared_ring *share, const struct ring *ring,
                          const struct packet_sink *sink, uint64_t *copied)
{
    static uint8_t copy[PROF_PACKET_MAX];
    uint64_t at = share->read % ring->count, left = ring->count - at, total;
    const uint8_t *from = ring->bytes + at;
    bool in_step = share->in_step || at == 0;
    struct packet packet;

    share->in_step = in_step;
    if (left < PROF_PACKET_BYTES || (in_step && le32(from) == 0))
        return left;
    share->in_step = false;
    total = le32(from + offsetof(struct prof_packet, packet_bits)) / 8;
    if (total > left || total > sizeof copy)
        return 8;
    memcpy(copy, from, total);
    *copied += total;
    if (packet_check(copy, total, &packet) != PACKET_GOOD)
        return 8;
    share->in_step = true;
    sink->take(sink->owner, &packet);
    return (total + 7) / 8 * 8;
}

static bool find_ring(struct shared_ring *share, struct ring *ring)
{
    uint64_t address;

    if (share->ram == NULL || FIELD(share, magic) != PROF_SHARE_MAGIC)
        return false;
    address = FIELD(share, ring_address);
    ring->count = FIELD(share, ring_bytes);
    share->damaged = ring->count < PROF_PACKET_BYTES ||
                     ring->count > SHARED_RING_BYTES_MAX ||
                     (ring->count & (ring->count - 1)) != 0 ||
                     address > share->ram_bytes ||
                     ring->count > share->ram_bytes - address;
    ring->bytes = share->ram + (share->damaged ? 0 : address);
    return !share->damaged;
}

/* Sets share->read to the oldest byte up to (written) that is still there. */
static void catch_up(struct shared_ring *share, uint64_t written,
                     uint64_t ring_bytes)
{
    if (written < share->read) { /* another guest in the same RAM */
        share->read = 0;
        share->in_step = false;
    }
    if (written - share->read > ring_bytes) {
        share->overwritten =
            checked_add(share->overwritten, written - ring_bytes - share->read);
        share->read = written - ring_bytes;
        share->in_step = false;
    }
}

/* (written) may be anything up to 2^64 - 1, and no packet reaches beyond it. */
bool shared_ring_read(struct shared_ring *share, const struct packet_sink *sink)
{
    struct ring ring;
    uint64_t written, copied = 0;

    if (!find_ring(share, &ring))
        return false;
    written = FIELD(share, written);
    catch_up(share, written, ring.count);
    if (share->read == written)
        return false;
    for (uint64_t count = 0;
         share->read < written && count + copied < SHARED_RING_STEP;) {
        uint64_t more = take_next(share, &ring, sink, &copied);

        if (more > written - share->read)
            more = written - share->read;
        share->read += more;
        count += more;
    }
    __atomic_store_n((uint64_t *)(void *)(share->ram + share->ring +
                                          offsetof(struct prof_share, read)),
                     share->read, __ATOMIC_RELEASE);
    return true;
}

void shared_ring_read_rest(struct shared_ring *share,
                           const struct packet_sink *sink)
{
    uint64_t steps = 0;
    struct ring ring;

    if (!find_ring(share, &ring))
        return;
    while (steps++ <= 2 * ring.count / SHARED_RING_STEP + 1 &&
           shared_ring_read(share, sink))
        ;
}

void shared_ring_close(struct shared_ring *share)
{
    if (share->ram != NULL)
        munmap(share->ram, share->ram_bytes);
    share->ram = NULL;
}
