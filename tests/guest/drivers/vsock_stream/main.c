/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream by prof.out=vsock, whose reader is tests/vsock. Nothing is sampled
 * before it is connected. The command line says what follows:
 *
 *     do=end       some work, and the end
 *     do=slow      work while the reader does not read; what is over when it
 *                  reads again, and the end
 *     do=spin      work that never ends, and never yields
 *     do=panic     work, and a panic
 */

#include "guest/guest.h"
#include "guest/word.h"

#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <prof/prof.h>
#include <virtio_vsock.h>

#define WORK (300 * GUEST_MS)
/* The reader's room takes the samples of about one work. */
#define MORE_THAN_ROOM 3

static struct loop_timer timer;

static void nothing(void *unused)
{
    (void)unused;
}

static void wait_for(bool (*what)(void))
{
    loop_every(&timer, 1000000, nothing, NULL);
    while (!what())
        loop_wait();
    loop_cancel(&timer);
}

static bool is_connected(void)
{
    return virtio_vsock() != NULL && virtio_vsock()->counts.accepted != 0;
}

/* The reader has something of what was sent. */
static bool is_read(void)
{
    return virtio_vsock()->sockets[0].peer_forwarded != 0;
}

__attribute__((noinline)) static void work(void)
{
    guest_spin(WORK);
}

int service_main(void)
{
    wait_for(is_connected);
    if (prof_start() != 0)
        return 1;
    do
        work();
    while (guest_is("spin"));
    if (guest_is("panic"))
        *(volatile int *)0 = 1;
    if (guest_is("slow")) {
        for (int i = 0; i < MORE_THAN_ROOM; i++)
            work();
        console_line("held");
        wait_for(is_read);
        work();
    }
    return 0;
}
