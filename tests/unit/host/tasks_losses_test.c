/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first loss since an object was known: that of the definition, and without
 * a look at those in between. A trace made for the purpose has as many objects
 * as losses.
 */

#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "../unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tasks/parts.h"

#define LOSSES 300u
#define DUMPS 3u

static struct tasks tasks;

static void begin(void)
{
    tasks.objects = calloc(TASKS_SPECIAL, sizeof *tasks.objects);
    assert_non_null(tasks.objects);
}

static void end(void)
{
    tasks_free(&tasks);
    tasks = (struct tasks){0};
}

/* A loss in the dump that is read: 0 = in none. */
static void lose(uint32_t dump)
{
    struct tasks_cpu cpu = {.current = TASKS_NOBODY, .dump = dump};

    tasks_lose(&tasks, &cpu, 1, 0);
}

static const struct tasks_loss *expected(const struct tasks_object *object)
{
    for (uint32_t i = object->known; i < tasks.loss_count; ++i) {
        if (object->dump == 0 || tasks.losses[i].dump != object->dump)
            return &tasks.losses[i];
    }
    return NULL;
}

FIXTURE(begin, end);

TEST(it_is_the_first_that_counts)
{
    for (uint32_t i = 0; i < LOSSES; ++i) {
        lose(unit_below(8) == 0 ? unit_below(DUMPS)
             : i == 0           ? 0
                                : tasks.losses[i - 1].dump);
        for (uint32_t known = 0; known <= tasks.loss_count; ++known) {
            for (uint32_t dump = 0; dump <= DUMPS; ++dump) {
                struct tasks_object object = {.known = known, .dump = dump};

                assert_ptr_equal(tasks_lost_since(&tasks, &object),
                                 expected(&object));
            }
        }
    }
}

/* Those between the first and the last one cannot be read. */
TEST(it_looks_at_none_in_between)
{
    struct tasks_object object = {.known = 1, .dump = 1};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes;
    uint8_t *copy;
    void *own;

    for (size_t i = 0; i < 8 * page / sizeof *tasks.losses; ++i)
        lose(1);
    lose(2);
    bytes = (tasks.loss_count * sizeof *tasks.losses / page + 1) * page;
    copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(copy, MAP_FAILED);
    memcpy(copy, tasks.losses, tasks.loss_count * sizeof *tasks.losses);
    assert_int_equal(mprotect(copy + page, bytes - 4 * page, PROT_NONE), 0);
    own = tasks.losses;
    tasks.losses = (struct tasks_loss *)copy;
    assert_ptr_equal(tasks_lost_since(&tasks, &object),
                     &tasks.losses[tasks.loss_count - 1]);
    tasks.losses = own;
    munmap(copy, bytes);
}
