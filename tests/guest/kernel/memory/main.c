/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All RAM is the heap's, also what is above 4 GiB: as much as the option says,
 * in MiB, in pieces of which the first and the last page are touched, so that
 * the host need not have it all. If there is a disk, it reads to the highest
 * piece.
 */

#include "guest/tap.h"
#include "guest/word.h"

#include <arch/boot.h>
#include <arch/context.h>
#include <kernel/service.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <virtio_blk.h>

#define MIB ((size_t)1 << 20)
#define PIECE (16 * MIB)
/* Less than a piece at the end of each range, and what the kernel has. */
#define LOST_MIB 48

struct piece {
    struct piece *before;
    uintptr_t number;
};

static uintptr_t *last_word(struct piece *piece)
{
    return (uintptr_t *)((char *)piece + PIECE) - 1;
}

static struct piece *take_all(unsigned *count)
{
    struct piece *last = NULL, *piece;

    *count = 0;
    while ((piece = malloc(PIECE)) != NULL) {
        piece->before = last;
        piece->number = ++*count;
        *last_word(piece) = *count;
        last = piece;
    }
    return last;
}

static struct piece *highest(struct piece *last)
{
    struct piece *found = last;

    for (; last != NULL; last = last->before)
        if (last > found)
            found = last;
    return found;
}

/* False: somebody has written into one of them, by another address. */
static bool give_back(struct piece *last, unsigned count)
{
    bool sound = true;

    while (last != NULL) {
        struct piece *before = last->before;

        sound = sound && last->number == count && *last_word(last) == count;
        count--;
        free(last);
        last = before;
    }
    return sound && count == 0;
}

static void *pages(size_t bytes)
{
    return memalign(VIRTIO_PAGE_BYTES, bytes);
}

static volatile bool done;

static void on_done(struct virtio_blk_request *request)
{
    done = request->error == 0;
}

/* A disk of zeroes. */
static bool disk_reads(void *to)
{
    static struct virtio_blk_request request;
    const uint8_t *bytes = to;
    bool zero = true;

    memset(to, 0xff, VIRTIO_BLK_SECTOR);
    request = (struct virtio_blk_request){.kind = VIRTIO_BLK_READ,
                                          .memory = to,
                                          .bytes = VIRTIO_BLK_SECTOR,
                                          .done = on_done};
    if (virtio_blk_submit(&request) != 0)
        return false;
    while (virtio_blk_poll() != 0)
        ;
    for (unsigned i = 0; i < VIRTIO_BLK_SECTOR; i++)
        zero = zero && bytes[i] == 0;
    return done && zero;
}

/* Addresses for stacks are behind all RAM. */
static bool stacks_are_apart(void)
{
    const struct arch_region unused = arch_unused_addresses();

    if (unused.begin == unused.end)
        return true; /* where they would be, there is RAM */
    for (size_t i = 0; i < arch_boot.region_count; i++)
        if (arch_boot.region[i].begin < unused.end &&
            unused.begin < arch_boot.region[i].end)
            return false;
    return unused.begin < unused.end;
}

int service_main(void)
{
    const long mib = atol(guest_word);
    struct piece *last;
    unsigned first, second;
    uint64_t top;

    tap_plan(7);
    tap_ok(virtio_blk_start(pages) == 0, "there is a disk");
    last = take_all(&first);
    tap_is_between((long long)(first * (PIECE / MIB)), mib - LOST_MIB, mib,
                   "all RAM can be had, MiB");
    top = (uintptr_t)highest(last) + PIECE;
    tap_note("up to %lu MiB", (unsigned long)(top / MIB));
    tap_ok(arch_boot.region[arch_boot.region_count - 1].end - top <
               LOST_MIB * MIB,
           "up to its end");
    tap_ok(disk_reads((char *)highest(last) + MIB), "a device writes there");
    tap_ok(give_back(last, first), "each piece is memory of its own");
    last = take_all(&second);
    tap_ok(second == first && give_back(last, second),
           "given back, as much can be had again");
    tap_ok(stacks_are_apart(), "stacks of tasks are at other addresses");
    return tap_end();
}
