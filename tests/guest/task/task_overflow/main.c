/* SPDX-License-Identifier: Apache-2.0 */
/* A task that uses up its stack while others wait, and one that panics. The
 * command line says how: die=overflow, die=panic or die=null. */

#include "guest/word.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <kernel/task.h>

/* volatile: so that each call has a frame of its own */
static unsigned dig_deeper(volatile unsigned depth)
{
    return depth == 0xffffffff ? 0 : dig_deeper(depth + 1) + depth;
}

static uintptr_t wait(void *unused)
{
    (void)unused;
    task_await(promise_sleep(NS_PER_S));
    return 0;
}

static uintptr_t dig(void *unused)
{
    (void)unused;
    task_await(promise_sleep(NS_PER_MS));
    if (guest_is("panic"))
        panic("a task has had enough");
    if (guest_is("null"))
        *(volatile int *)0 = 1;
    return dig_deeper(0);
}

int service_main(void)
{
    promise_free(task_start("neighbour", wait, NULL));
    promise_free(task_start("digger", dig, NULL));
    promise_free(task_start("other neighbour", wait, NULL));
    return SERVICE_LOOP;
}
