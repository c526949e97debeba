/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk with promises. The command line says what is to be found:
 *
 *     want=works     a disk of zeroes
 *     want=numbers   one whose sectors hold their numbers, for tests/tasks
 *     want=errors    one whose sectors from 2048 on cannot be read
 *     want=none      none
 */

#include "guest/tap.h"
#include "guest/word.h"

#include <kernel/clock.h>
#include <kernel/disk.h>
#include <kernel/service.h>
#include <kernel/task.h>
#include <string.h>

#define PAGE 4096u
#define PAGES 32u
#define MANY 1000u
#define BAD_SECTOR 2048u

static uint8_t memory[PAGES * PAGE] __attribute__((aligned(4096)));
static uint8_t small[MANY][DISK_SECTOR];

static bool all_zero(void)
{
    for (size_t i = 0; i < sizeof memory; i++)
        if (memory[i] != 0)
            return false;
    return true;
}

static bool failed_as(struct promise *promise, const char *reason)
{
    const struct promise_result result = task_await(promise);
    bool same =
        result.state == PROMISE_FAILED && strcmp(result.why->text, reason) == 0;

    if (!same)
        tap_note("state %d, %s", (int)result.state,
                 result.why == NULL ? "" : result.why->text);
    return same;
}

/* Reads all pages, in requests of (pages), (in_flight) of them at a time.
 * Returns how many requests that took. */
static unsigned read_by(unsigned pages, unsigned in_flight)
{
    const uint64_t before = disk_stats().requests;
    struct promise_result result;

    memset(memory, 0xa5, sizeof memory);
    if (!disk_limit(pages * PAGE, in_flight))
        return 0;
    result = task_await(disk_read(0, memory, sizeof memory));
    if (result.state != PROMISE_RESOLVED || result.value != sizeof memory)
        return 0;
    return (unsigned)(disk_stats().requests - before);
}

static void test_splitting(void)
{
    tap_is_equal(read_by(11, 1), 3, "32 pages are read by 11, 11 and 10");
    tap_ok(all_zero(), "and all of them");
    tap_is_equal(disk_stats().most, 1, "one after the other");
    tap_is_equal(read_by(11, DISK_IN_FLIGHT_MAX), 3, "or at the same time");
    tap_is_equal(disk_stats().most, 3, "all three");
    tap_is_equal(read_by(1, 4), 32, "or page by page");
    tap_ok(disk_stats().most == 4 && all_zero(), "no more than may be");
    tap_is_equal(read_by(PAGES, 1), 1, "or at once");
    tap_ok(!disk_limit(0, 1) && !disk_limit(100, 1) && !disk_limit(PAGE, 0) &&
               !disk_limit(2 * DISK_REQUEST_MAX, 1),
           "limits that are none are refused");
}

static void test_many(void)
{
    struct promise *many[MANY];
    uintptr_t values[MANY];
    bool good = true;

    memset(small, 0xa5, sizeof small);
    for (unsigned i = 0; i < MANY; i++)
        many[i] = disk_read(i, small[i], DISK_SECTOR);
    task_await(promise_join(many, MANY, values));
    for (unsigned i = 0; i < MANY; i++)
        good = good && values[i] == DISK_SECTOR && small[i][0] == 0;
    tap_ok(good, "a thousand reads at a time are done");
    tap_ok(disk_stats().full != 0, "more than the queue has room for");
}

static uintptr_t reads_to_its_stack(void *unused)
{
    uint8_t sector[DISK_SECTOR];

    (void)unused;
    return failed_as(disk_read(0, sector, sizeof sector),
                     "memory on the stack of a task");
}

static void test_rest(void)
{
    struct promise *read;

    disk_limit(PAGE, 2);
    read = disk_read(0, memory, sizeof memory);
    promise_cancel(read);
    tap_ok(promise_state(read) == PROMISE_CANCELLED &&
               disk_stats().in_flight == 0,
           "a read that is cancelled leaves nothing in flight");
    promise_free(read);
    read = promise_timeout(disk_read(0, memory, sizeof memory), NS_PER_MS / 2);
    tap_is_equal(task_await(read).state, PROMISE_FAILED, "so does a timeout");
    tap_ok(task_await(disk_write(5, memory, 3 * PAGE)).value == 3 * PAGE &&
               task_await(disk_flush()).state == PROMISE_RESOLVED,
           "it is written to, and flushed");
    tap_ok(failed_as(disk_read(disk_sectors() - 1, memory, PAGE),
                     "not whole sectors of the disk") &&
               failed_as(disk_read(0, memory, 100),
                         "not whole sectors of the disk"),
           "what is not on the disk is refused");
    tap_ok(task_await(task_start("on stack", reads_to_its_stack, NULL)).value ==
               1,
           "and so is memory on the stack of a task");
}

static int test_works(void)
{
    tap_plan(18);
    tap_ok(failed_as(disk_read(0, memory, PAGE), "the disk is not started"),
           "a disk has to be started");
    if (!disk_start())
        return 1;
    test_splitting();
    test_many();
    test_rest();
    tap_ok(promise_stats().live == 0 && disk_stats().in_flight == 0,
           "nothing is left");
    return tap_end();
}

/* Sectors hold their numbers, as 32-bit words. */
static int test_numbers(void)
{
    bool good = true;

    tap_plan(2);
    disk_start();
    for (unsigned pages = 1; pages <= PAGES; pages++) {
        good = good && read_by(pages, 3) == (PAGES + pages - 1) / pages;
        for (uint32_t i = 0; i < sizeof memory / 4; i++)
            good = good && ((uint32_t *)memory)[i] == i / (DISK_SECTOR / 4);
    }
    tap_ok(good, "each part is at its place, however it is split");
    for (unsigned i = 0; i < sizeof memory; i++)
        memory[i] = (uint8_t)~memory[i];
    disk_limit(5 * PAGE, 4);
    tap_ok(task_await(
               disk_write(PAGES * PAGE / DISK_SECTOR, memory, sizeof memory))
                       .value == sizeof memory &&
               task_await(disk_flush()).state == PROMISE_RESOLVED,
           "and what is written too");
    return tap_end();
}

static int test_errors(void)
{
    tap_plan(3);
    disk_start();
    disk_limit(PAGE, 2);
    tap_ok(failed_as(disk_read(BAD_SECTOR - 64, memory, sizeof memory),
                     "the disk reports an error"),
           "an error in one part fails the whole");
    tap_ok(disk_stats().in_flight == 0 && disk_stats().requests < PAGES,
           "and ends it");
    tap_ok(task_await(disk_read(0, memory, sizeof memory)).state ==
               PROMISE_RESOLVED,
           "others go on");
    return tap_end();
}

int service_main(void)
{
    if (guest_is("errors"))
        return test_errors();
    if (guest_is("numbers"))
        return test_numbers();
    if (guest_is("works"))
        return test_works();
    tap_plan(1);
    tap_ok(!disk_start() &&
               failed_as(disk_read(0, memory, PAGE), "the disk is not started"),
           "without a disk reads fail");
    return tap_end();
}
