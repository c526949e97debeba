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
#include "base/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <prof/format.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool shared_ring_try(struct shared_ring *share, const char *path, uint64_t ring,
                     char *why)
{
    int file = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct stat about;
    void *ram = NULL;

    *why = '\0';
    *share = (struct shared_ring){.path = path, .ring = ring};
    if (file < 0 && errno == ENOENT)
        return false;
    if (file < 0 || fstat(file, &about) != 0)
        snprintf(why, SHARED_RING_WHY, "%s: cannot be opened: %s", path,
                 strerror(errno));
    else if (!S_ISREG(about.st_mode))
        snprintf(why, SHARED_RING_WHY, "%s: is not a file", path);
    else if (ring % sizeof(uint64_t) != 0)
        snprintf(why, SHARED_RING_WHY,
                 "%#llx is no address of a ring: it is not a multiple of 8",
                 (unsigned long long)ring);
    else if ((uint64_t)about.st_size >= sizeof(struct prof_share) &&
             ring <= (uint64_t)about.st_size - sizeof(struct prof_share))
        ram = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE,
                   MAP_SHARED, file, 0);
    if (ram == MAP_FAILED) {
        snprintf(why, SHARED_RING_WHY, "%s: cannot be mapped: %s", path,
                 strerror(errno));
        ram = NULL;
    }
    if (ram != NULL) {
        share->ram_bytes = (size_t)about.st_size;
        share->ram = ram;
    }
    if (file >= 0)
        close(file);
    return ram != NULL;
}

bool shared_ring_open(struct shared_ring *share, const char *path,
                      uint64_t ring)
{
    char why[SHARED_RING_WHY];
    bool fine = shared_ring_try(share, path, ring, why);

    if (*why != '\0')
        die("%s", why);
    return fine;
}

/* ---- the guest's RAM, which is a file that may be cut */

struct head {
    const uint8_t *at;
    uint64_t magic, ring_address, ring_bytes, written;
};

static uint64_t field(const struct head *head, size_t offset)
{
    const void *at = head->at + offset;

    return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE); /* A */
}

#define FIELD(head, name) field(head, offsetof(struct prof_share, name))

static void load_head(void *context)
{
    struct head *head = context;

    head->magic = FIELD(head, magic);
    head->ring_address = FIELD(head, ring_address);
    head->ring_bytes = FIELD(head, ring_bytes);
    head->written = FIELD(head, written);
}

struct piece {
    void *to;
    const void *from;
    size_t count;
};

static void copy_piece(void *context)
{
    const struct piece *piece = context;

    memcpy(piece->to, piece->from, piece->count);
}

static bool copy_out(struct shared_ring *share, void *to, const void *from,
                     size_t count)
{
    struct piece piece = {to, from, count};

    if (!mapped_try(copy_piece, &piece))
        share->damaged = true;
    return !share->damaged;
}

/* The guest learns how much was read. */
static void store_read(void *context)
{
    struct shared_ring *share = context;

    __atomic_store_n((uint64_t *)(void *)(share->ram + share->ring +
                                          offsetof(struct prof_share, read)),
                     share->read, __ATOMIC_RELEASE);
}

struct ring {
    const uint8_t *bytes;
    uint64_t count, written;
};

/* Copies the packet at share->read out of the ring. Returns the bytes to
 * advance by: of the packet; up to the ring's end if there is none; or 8; 0 if
 * the file was cut. A
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
    if (left < PROF_PACKET_BYTES)
        return left;
    if (!copy_out(share, copy, from, PROF_PACKET_BYTES))
        return 0;
    if (in_step && le32(copy) == 0)
        return left;
    share->in_step = false;
    total = le32(copy + offsetof(struct prof_packet, packet_bits)) / 8;
    if (total > left || total > sizeof copy)
        return 8;
    if (!copy_out(share, copy, from, total))
        return 0;
    *copied += total;
    if (packet_check(copy, total, &packet) != PACKET_GOOD)
        return 8;
    share->in_step = true;
    sink->take(sink->owner, &packet);
    return (total + 7) / 8 * 8;
}

static bool find_ring(struct shared_ring *share, struct ring *ring)
{
    uint64_t bytes = share->ram_bytes;
    struct head head;

    if (share->ram == NULL)
        return false;
    head.at = share->ram + share->ring;
    if (!mapped_try(load_head, &head)) {
        share->damaged = true;
        return false;
    }
    if (head.magic != PROF_SHARE_MAGIC)
        return false;
    share->damaged = head.ring_bytes < PROF_PACKET_BYTES ||
                     head.ring_bytes > SHARED_RING_BYTES_MAX ||
                     (head.ring_bytes & (head.ring_bytes - 1)) != 0 ||
                     head.ring_address > bytes ||
                     head.ring_bytes > bytes - head.ring_address;
    ring->bytes = share->ram + (share->damaged ? 0 : head.ring_address);
    ring->count = head.ring_bytes;
    ring->written = head.written;
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
    uint64_t step = share->step > 0 ? share->step : SHARED_RING_STEP;

    if (!find_ring(share, &ring))
        return false;
    written = ring.written;
    catch_up(share, written, ring.count);
    if (share->read == written)
        return false;
    for (uint64_t count = 0;
         share->read < written && count + copied < step && !share->damaged;) {
        uint64_t more = take_next(share, &ring, sink, &copied);

        if (more > written - share->read)
            more = written - share->read;
        share->read += more;
        count += more;
    }
    if (!share->damaged && !mapped_try(store_read, share))
        share->damaged = true;
    return !share->damaged;
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

uint64_t shared_ring_room(struct shared_ring *share)
{
    struct ring ring;

    return find_ring(share, &ring) ? ring.count : 0;
}

void shared_ring_close(struct shared_ring *share)
{
    if (share->ram != NULL)
        munmap(share->ram, share->ram_bytes);
    share->ram = NULL;
}
