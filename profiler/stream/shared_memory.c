/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Packets in a ring that the host reads, while the guest runs or after it has
 * died. The guest never waits for it: what was not read in time is written
 * over, and counted.
 *
 *   (S) the store to written releases the bytes of the packet before it; the
 *       host reads written, the bytes, and written again: what is more than a
 *       whole ring behind by then may have been overwritten under its eyes.
 */

#include "stream/stream.h"

#include "base/alloc.h"
#include "base/cpu.h"

#include <prof/format.h>
#include <prof/port.h>

/* Found by the host through its symbol, hence the name of a public thing. */
struct prof_share prof_share_ring;

static uint8_t *ring;

/* In one piece, on i386 too: the host may look at any moment. */
static void store(uint64_t *to, uint64_t value)
{
#ifdef __i386__
    uint64_t seen = *to;

    __asm__ volatile("1: cmpxchg8b %0; jne 1b"
                     : "+m"(*to), "+A"(seen)
                     : "b"((uint32_t)value), "c"((uint32_t)(value >> 32))
                     : "cc", "memory");
#else
    __atomic_store_n(to, value, __ATOMIC_RELEASE); /* (S) */
#endif
}

/* What the host has read so far; on i386 the halves may not fit together. */
static uint64_t load(const volatile uint64_t *from)
{
    uint64_t seen, again = *from;

    do {
        seen = again;
        again = *from;
    } while (seen != again);
    return seen;
}

bool prof_shared_memory_open(size_t bytes, uintptr_t image_offset)
{
    while ((bytes & (bytes - 1)) != 0)
        bytes &= bytes - 1; /* to the power of two below */
    ring = prof_alloc(bytes);
    if (ring == NULL)
        return false;
    for (size_t i = 0; i < bytes; i++)
        ring[i] = 0;
    prof_share_ring = (struct prof_share){
        .ring_address = (uintptr_t)ring - image_offset,
        .ring_bytes = bytes,
    };
    store(&prof_share_ring.magic, PROF_SHARE_MAGIC);
    return true;
}

/*
 * (bytes) more are about to be written at (written): counts those among what
 * they replace that the host has not read.
 */
static void count_overwritten(uint64_t written, uint64_t bytes)
{
    uint64_t from = written - prof_share_ring.ring_bytes;
    uint64_t to = from + bytes;
    uint64_t read = load(&prof_share_ring.read);

    if (written + bytes <= prof_share_ring.ring_bytes || read >= to)
        return;
    if ((int64_t)from < (int64_t)read)
        from = read;
    store(&prof_share_ring.overwritten,
          prof_share_ring.overwritten + (to - from));
}

static void copy(uint64_t at, const uint8_t *from, size_t bytes)
{
    uint8_t *to = ring + at;

    while (bytes-- > 0)
        *to++ = *from++;
}

static bool send(const void *packet, size_t bytes)
{
    uint64_t written = prof_share_ring.written;
    uint64_t at = written & (prof_share_ring.ring_bytes - 1);
    uint64_t left = prof_share_ring.ring_bytes - at;

    if (left < bytes) {
        static const uint8_t none[8];

        count_overwritten(written, left);
        copy(at, none, sizeof none);
        written += left;
        store(&prof_share_ring.written, written);
        at = 0;
    }
    count_overwritten(written, bytes);
    copy(at, packet, bytes);
    store(&prof_share_ring.written, written + bytes);
    return true;
}

const struct prof_transport prof_shared_memory_transport = {
    .name = "shm",
    .send = send,
};
