/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers of the disk on a device that is made up here: its queue has few
 * places, it completes what it is asked to in any order, and its sectors from
 * BAD on fail.
 */

#include "../unit.h"

#include "promise_blocks.h"

#include "../../../kernel/task/stacks.h"

#include <kernel/disk.h>
#include <kernel/loop.h>
#include <prof/causal.h>
#include <prof/port.h>
#include <virtio_blk.h>

#define SECTORS 1000u
#define BAD 900u
#define QUEUE 5u
#define PART (4 * DISK_SECTOR)

static struct virtio_blk_request *queue[QUEUE];
static unsigned queued, most, done;
static unsigned times_read[SECTORS];
static uint8_t memory[SECTORS * DISK_SECTOR];
static struct virtio_queue virtio_queue;

/* ---- the device */

int virtio_blk_start(void *(*allocate)(size_t bytes))
{
    (void)allocate;
    return 0;
}

uint64_t virtio_blk_sectors(void)
{
    return SECTORS;
}

bool virtio_blk_read_only(void)
{
    return false;
}

struct virtio_queue *virtio_blk_queue(void)
{
    return &virtio_queue;
}

bool virtio_interrupts(struct virtio_queue *of, bool wanted)
{
    (void)of;
    (void)wanted;
    return queued != 0;
}

int virtio_blk_submit(struct virtio_blk_request *request)
{
    if (request->sector + request->bytes / DISK_SECTOR > SECTORS)
        return VIRTIO_BLK_RANGE;
    if (queued == QUEUE)
        return VIRTIO_BLK_BUSY;
    queue[queued++] = request;
    if (queued > most)
        most = queued;
    return 0;
}

/* Completes one, the last one first. */
unsigned virtio_blk_poll(void)
{
    struct virtio_blk_request *request;

    if (queued == 0)
        return 0;
    request = queue[--queued];
    done++;
    for (uint64_t i = 0; i < request->bytes / DISK_SECTOR; i++) {
        assert_ptr_equal((uint8_t *)request->memory + i * DISK_SECTOR,
                         memory + (request->sector + i) * DISK_SECTOR);
        times_read[request->sector + i]++;
    }
    request->error = request->sector + request->bytes / DISK_SECTOR > BAD
                         ? VIRTIO_BLK_FAILED
                         : 0;
    request->done(request);
    return queued;
}

/* ---- the loop, in causal experiments */

void loop_deliver(struct loop_answer *answer, uint64_t due)
{
    if (!prof_causal_hold(due, answer))
        answer->callback(answer->context);
}

/* All that is held. */
static unsigned deliver(void)
{
    struct loop_answer *answer;
    unsigned count = 0;

    for (; (answer = prof_causal_take()) != NULL; count++)
        answer->callback(answer->context);
    return count;
}

bool stack_find(uintptr_t address, struct stack *stack)
{
    (void)stack;
    return address < 4096;
}

/* ---- the tests */

static struct promise *read_of(unsigned sector, unsigned sectors)
{
    return disk_read(sector, memory + sector * DISK_SECTOR,
                     sectors * DISK_SECTOR);
}

/* A device that is not asked for anything has nothing to do: so turns end. */
static void begin(size_t part, unsigned in_flight)
{
    fresh();
    most = done = 0;
    memset(times_read, 0, sizeof times_read);
    assert_true(disk_start());
    assert_true(disk_limit(part, in_flight));
}

static bool read_once(unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (times_read[i] != 1)
            return false;
    return true;
}

static void nothing_in_flight(void)
{
    turn_all();
    assert_int_equal(disk_stats().in_flight, 0);
    assert_int_equal(queued, 0);
    nothing_left();
}

TEST(transfers_are_split)
{
    struct promise *promise;

    begin(PART, 2);
    promise = read_of(10, 43);
    turn_all();
    ends_as(promise, PROMISE_RESOLVED, 43 * DISK_SECTOR);
    assert_true(read_once(10, 53));
    assert_int_equal(done, 11);
    assert_int_equal(most, 2);
    nothing_in_flight();
}

TEST(a_full_queue_is_waited_for)
{
    struct promise *many[40];

    begin(PART, DISK_IN_FLIGHT_MAX);
    for (unsigned i = 0; i < 40; i++)
        many[i] = read_of(20 * i, 20);
    assert_int_equal(queued, QUEUE);
    turn_all();
    for (unsigned i = 0; i < 40; i++)
        ends_as(many[i], PROMISE_RESOLVED, 20 * DISK_SECTOR);
    assert_true(read_once(0, 800));
    nothing_in_flight();
}

TEST(errors_end_a_transfer)
{
    struct promise *promise;

    begin(PART, 2);
    promise = read_of(BAD - 20, 100);
    turn_all();
    fails_with(promise, "the disk reports an error");
    assert_true(done < 25);
    fails_with(read_of(SECTORS - 1, 2), "not whole sectors of the disk");
    fails_with(disk_read(0, memory, 100), "not whole sectors of the disk");
    fails_with(disk_read(0, (void *)64, DISK_SECTOR),
               "memory on the stack of a task");
    promise = disk_flush();
    turn_all();
    ends_as(promise, PROMISE_RESOLVED, 0);
    nothing_in_flight();
}

/* In each state: in flight, waiting for a place, done. */
TEST(cancelled_at_any_time)
{
    for (unsigned polls = 0; polls < 40; polls++) {
        struct promise *promises[3];

        begin(PART, 4);
        for (unsigned i = 0; i < 3; i++)
            promises[i] = read_of(100 * i, 40);
        for (unsigned i = 0; i < polls; i++)
            virtio_blk_poll();
        for (unsigned i = 3; i-- > 0;) {
            promise_cancel(promises[i]);
            if (i == 1)
                assert_true(queued <= 4); /* only the first one's are left */
        }
        for (unsigned i = 0; i < 3; i++)
            promise_free(promises[i]);
        nothing_in_flight();
    }
}

static PROF_TARGET(target, "target");
static PROF_PROGRESS(point, "point");

static void begin_experiments(unsigned servers)
{
    const struct prof_causal_settings settings = {.tsc_hz = 1000000000};

    prof_causal_add_target(&target);
    prof_causal_add_progress(&point);
    assert_true(disk_servers(servers));
    assert_int_equal(prof_causal_start(&settings), 0);
    assert_false(disk_servers(0));
}

TEST(answers_are_held_in_experiments)
{
    struct prof_causal_stats stats;
    struct promise *promise;

    assert_false(disk_servers(PROF_AGENT_SERVERS_MAX + 1));
    for (unsigned servers = 0; servers < 3; servers++) {
        begin(PART, 2);
        begin_experiments(servers);
        promise = read_of(10, 16);
        turn_all();
        is(promise, PROMISE_PENDING);
        assert_int_equal(queued, 0);
        while (deliver() != 0)
            turn_all();
        ends_as(promise, PROMISE_RESOLVED, 16 * DISK_SECTOR);
        prof_causal_stats(&stats);
        assert_int_equal(stats.answers, 4);
        assert_int_equal(stats.held, 4);
        assert_int_equal(stats.held_most, 2);
        prof_causal_stop();
        nothing_in_flight();
    }
}

/* What is held is taken back; an experiment may end meanwhile. */
TEST(cancelled_while_held)
{
    for (unsigned polls = 0; polls < 20; polls++) {
        struct promise *promises[3];

        begin(PART, 4);
        begin_experiments(polls % 3);
        for (unsigned i = 0; i < 3; i++)
            promises[i] = read_of(100 * i, 40);
        for (unsigned i = 0; i < polls; i++)
            virtio_blk_poll();
        if (polls % 2 == 1)
            prof_causal_stop();
        for (unsigned i = 3; i-- > 0;)
            promise_cancel(promises[i]);
        assert_int_equal(deliver(), 0);
        prof_causal_stop();
        for (unsigned i = 0; i < 3; i++)
            promise_free(promises[i]);
        nothing_in_flight();
    }
}

TEST(memory_is_refused)
{
    bool refused = true;

    for (long n = 0; refused; n++) {
        struct promise *promises[3];

        begin(PART, 4);
        refuse_at = n;
        for (unsigned i = 0; i < 3; i++)
            promises[i] = promise_timeout(read_of(100 * i, 40), 1000);
        turn_all();
        refused = refuse_at < 0;
        for (unsigned i = 0; i < 3; i++) {
            assert_int_not_equal(promise_state(promises[i]), PROMISE_PENDING);
            promise_result(promises[i]);
            promise_free(promises[i]);
        }
        nothing_in_flight();
        assert_true(refused || n > 10);
    }
}
