/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk driver. The command line says what is to be seen:
 *
 *     want=works       a disk that does all it is asked for
 *     want=copy        the same, and a file: its first half is written to its
 *                      second, turned over, for the host to look at
 *     want=read-only   a disk that takes no writes
 *     want=errors      a disk whose sectors from 2048 on cannot be read
 *     want=start-N     one that cannot be started: enum virtio_blk_error N
 */

#include "guest/tap.h"
#include "guest/word.h"

#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/service.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <virtio_blk.h>

#define SECTOR VIRTIO_BLK_SECTOR
#define PIECE 4096u
#define PIECES 64u
#define BAD_SECTOR 2048u
#define WAIT_NS 1000000000000ull
#define TRIES 10000u /* for an interrupt */

static struct virtio_blk_request requests[PIECES];
static uint8_t memory[PIECES][PIECE] __attribute__((aligned(4096)));
static unsigned done_count, failed_count;
static unsigned watched;
static bool watched_well = true;

static void *pages(size_t bytes)
{
    return memalign(VIRTIO_PAGE_BYTES, bytes);
}

static void on_done(struct virtio_blk_request *request)
{
    done_count++;
    failed_count += request->error != 0;
}

static void on_request(const struct virtio_request *request)
{
    watched++;
    if (request->kind != VIRTIO_BLOCK || request->queue != 0 ||
        request->bytes != PIECE + 17 || request->taken_tsc <= request->put_tsc)
        watched_well = false;
}

static int submit(unsigned i, enum virtio_blk_kind kind, uint64_t sector)
{
    requests[i] = (struct virtio_blk_request){
        .kind = kind,
        .sector = sector,
        .memory = memory[i],
        .bytes = kind == VIRTIO_BLK_FLUSH ? 0 : PIECE,
        .done = on_done,
    };
    return virtio_blk_submit(&requests[i]);
}

/* Halts until all that is on its way is done; by interrupts, not by ticks. */
static bool wait(void)
{
    uint64_t begin_ns = clock_ns();

    while (clock_ns() - begin_ns < WAIT_NS) {
        if (virtio_blk_poll() == 0)
            return true;
        arch_interrupts_off();
        if (virtio_interrupts(virtio_blk_queue(), true))
            arch_interrupts_on();
        else
            arch_idle();
    }
    return false;
}

static int one(enum virtio_blk_kind kind, uint64_t sector)
{
    int error = submit(0, kind, sector);

    if (error != 0)
        return error;
    return wait() ? requests[0].error : -1;
}

static void test_many(void)
{
    unsigned taken = 0;
    bool timed = true;

    virtio_observe(on_request);
    done_count = 0;
    memset(memory, 0xa5, sizeof memory);
    for (unsigned i = 0; i < PIECES; i++)
        taken += submit(i, VIRTIO_BLK_READ, i * (PIECE / SECTOR)) == 0;
    tap_is_equal(taken, PIECES, "many requests are on their way at a time");
    tap_ok(wait(), "all of them end");
    virtio_observe(NULL);
    tap_is_equal(done_count, PIECES, "each is completed once");
    for (unsigned i = 0; i < PIECES; i++)
        timed = timed && requests[i].error == 0 &&
                requests[i].done_tsc > requests[i].submit_tsc;
    tap_ok(timed, "none fails, and each knows when it was put and done");
    tap_is_equal(watched, PIECES, "who watches sees each of them");
    tap_ok(watched_well, "with its size and its times");
    /* the device may be done before the halt */
    for (unsigned i = 0; i < TRIES && virtio_blk_interrupts() == 0; i++)
        one(VIRTIO_BLK_READ, 0);
    tap_ok(virtio_blk_interrupts() != 0, "an interrupt has ended the halt");
}

static void test_counts(void)
{
    const struct virtio_counts *counts = &virtio_blk_queue()->counts;
    uint64_t requests_before = counts->requests;
    uint64_t bytes_before = counts->bytes;

    tap_is_equal(one(VIRTIO_BLK_READ, 0), 0, "one more");
    tap_ok(counts->requests == requests_before + 1 &&
               counts->bytes == bytes_before + PIECE + 17 &&
               counts->kicks != 0 && counts->cycles_max != 0 &&
               counts->cycles >= counts->cycles_max,
           "is counted, with its bytes and cycles");
}

static void test_bounds(void)
{
    uint64_t sectors = virtio_blk_sectors();

    tap_is_equal(one(VIRTIO_BLK_READ, sectors - PIECE / SECTOR), 0,
                 "the last sectors can be read");
    tap_is_equal(one(VIRTIO_BLK_READ, sectors - 1), VIRTIO_BLK_RANGE,
                 "beyond the end is refused");
    tap_is_equal(one(VIRTIO_BLK_READ, UINT64_MAX), VIRTIO_BLK_RANGE,
                 "and far beyond it");
    requests[0].bytes = SECTOR - 1;
    requests[0].sector = 0;
    tap_is_equal(virtio_blk_submit(&requests[0]), VIRTIO_BLK_RANGE,
                 "and half a sector");
    requests[0].bytes = VIRTIO_BLK_BYTES_MAX + SECTOR;
    tap_is_equal(virtio_blk_submit(&requests[0]), VIRTIO_BLK_RANGE,
                 "and more than a request may carry");
    tap_is_equal(one(VIRTIO_BLK_FLUSH, 0), 0, "a flush is done");
}

/* Without polling, the queue's descriptors come to an end. */
static void test_full(void)
{
    static struct virtio_blk_request many[VIRTIO_QUEUE_MAX];
    unsigned put = 0;
    int error = 0;

    done_count = 0;
    failed_count = 0;
    for (; put < VIRTIO_QUEUE_MAX && error == 0; put += error == 0) {
        many[put] = (struct virtio_blk_request){
            .kind = VIRTIO_BLK_READ,
            .sector = put,
            .memory = memory[0],
            .bytes = SECTOR,
            .done = on_done,
        };
        error = virtio_blk_submit(&many[put]);
    }
    tap_is_equal(error, VIRTIO_BLK_BUSY, "a full queue says so");
    tap_is_equal(put, virtio_blk_queue()->size / 3,
                 "having taken as many as it has room for");
    tap_ok(wait() && done_count == put && failed_count == 0,
           "and all of these are done");
    tap_is_equal(virtio_blk_queue()->free_count, virtio_blk_queue()->size,
                 "nothing of the queue is left behind");
}

static bool zeros(const uint8_t *bytes, size_t count)
{
    while (count != 0 && bytes[count - 1] == 0)
        count--;
    return count == 0;
}

static void test_works(void)
{
    tap_plan(24);
    tap_is_equal(virtio_blk_start(pages), 0, "the disk starts");
    tap_is_equal(virtio_blk_start(pages), 0, "and again is harmless");
    test_many();
    tap_ok(zeros(memory[PIECES - 1], PIECE), "what was read has arrived");
    test_counts();
    test_bounds();
    tap_is_equal(one(VIRTIO_BLK_WRITE, 8), 0, "a write is done");
    test_full();
    tap_ok(!virtio_blk_read_only(), "writes are taken");
}

static void turn_over(uint8_t *bytes)
{
    for (unsigned i = 0; i < PIECE; i++)
        bytes[i] = (uint8_t)~bytes[i];
}

/* As many at a time as there is memory for. */
static bool copy(uint64_t sectors)
{
    const unsigned each = PIECE / SECTOR;

    for (uint64_t at = 0; at < sectors; at += PIECES * each) {
        for (unsigned i = 0; i < PIECES; i++)
            if (submit(i, VIRTIO_BLK_READ, at + i * each) != 0)
                return false;
        if (!wait())
            return false;
        for (unsigned i = 0; i < PIECES; i++) {
            turn_over(memory[i]);
            if (submit(i, VIRTIO_BLK_WRITE, sectors + at + i * each) != 0)
                return false;
        }
        if (!wait())
            return false;
    }
    return failed_count == 0;
}

static void test_copy(void)
{
    tap_plan(3);
    tap_is_equal(virtio_blk_start(pages), 0, "the disk starts");
    tap_ok(copy(virtio_blk_sectors() / 2), "its first half is copied");
    tap_is_equal(one(VIRTIO_BLK_FLUSH, 0), 0, "a flush is done");
}

static void test_read_only(void)
{
    tap_plan(4);
    tap_is_equal(virtio_blk_start(pages), 0, "the disk starts");
    tap_ok(virtio_blk_read_only(), "it is known to take no writes");
    tap_is_equal(one(VIRTIO_BLK_WRITE, 0), VIRTIO_BLK_READ_ONLY,
                 "a write is refused");
    tap_is_equal(one(VIRTIO_BLK_READ, 0), 0, "a read is done");
}

static void test_errors(void)
{
    tap_plan(4);
    tap_is_equal(virtio_blk_start(pages), 0, "the disk starts");
    tap_is_equal(one(VIRTIO_BLK_READ, 0), 0, "a good sector is read");
    tap_is_equal(one(VIRTIO_BLK_READ, BAD_SECTOR), VIRTIO_BLK_FAILED,
                 "a bad one is reported");
    tap_is_equal(one(VIRTIO_BLK_READ, 0), 0, "and a good one read after it");
}

static void test_start(int error)
{
    tap_plan(2);
    tap_is_equal(virtio_blk_start(pages), error, "the disk does not start");
    tap_is_equal(virtio_blk_poll(), 0, "and nothing is on its way");
}

int service_main(void)
{
    if (guest_is("works"))
        test_works();
    else if (guest_is("copy"))
        test_copy();
    else if (guest_is("read-only"))
        test_read_only();
    else if (guest_is("errors"))
        test_errors();
    else if (strncmp(guest_word, "start-", 6) == 0)
        test_start(atoi(guest_word + 6));
    return tap_end();
}
