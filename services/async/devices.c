/* SPDX-License-Identifier: Apache-2.0 */
/* Demos that wait for a disk or a network. */

#include "demo.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/disk.h>
#include <kernel/task.h>
#include <prof/trace.h>

/*
 * The disk: READS reads of PAGES pages each, one after the other. In the first
 * form a request has at most 11 pages, and one is with the device at a time, so
 * that each read is 11 + 11 + 10 pages in series; in the second it is one.
 */

#define PAGE 4096u
#define PAGES 32u
#define READS 8u

static uint8_t memory[PAGES * PAGE] __attribute__((aligned(4096)));

static uintptr_t read_pages(void *context)
{
    static PROF_TRACE_COUNTER(counter, "pages read");

    (void)context;
    for (unsigned i = 0; i < READS; i++) {
        uint64_t sector = (uint64_t)i * sizeof memory / DISK_SECTOR;
        struct promise_result read =
            task_await(disk_read(sector, memory, sizeof memory));

        if (read.state != PROMISE_RESOLVED)
            return task_fail_for(read.why);
        prof_trace_counter_add(&counter, PAGES);
    }
    return READS * PAGES;
}

static bool has_disk(void)
{
    if (!disk_start())
        return false;
    if (disk_sectors() >= READS * sizeof memory / DISK_SECTOR)
        return true;
    console_line("async: the disk has less than %u KiB",
                 (unsigned)(READS * sizeof memory / 1024));
    return false;
}

static struct promise *read_split(void)
{
    if (!has_disk() || !disk_limit(11 * PAGE, 1))
        return NULL;
    return task_start("read pages", read_pages, NULL);
}

static struct promise *read_whole(void)
{
    return has_disk() ? task_start("read pages", read_pages, NULL) : NULL;
}

/* clang-format off */
const struct demo demo_devices[] = {
    {"disk", "reads of 32 pages as 11 + 11 + 10, in series", read_split},
    {"disk-fixed", "the same reads, each as one request", read_whole},
    {NULL, NULL, NULL},
};
/* clang-format on */
