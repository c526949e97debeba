/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The loop's halt. Unlike the PIT, a process can wait until a time: so timers
 * are not late by a tick, and a sample does not end the wait.
 */

#include "idle.h"

#include "interrupts.h"

#include "../timers.h"

#include <arch/cpu.h>
#include <errno.h>
#include <kernel/clock.h>
#include <kernel/panic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* Samples of the wait have this address. The real one is in the C library or in
 * Linux. */
__asm__(".pushsection .text.arch_idle, \"ax\", @progbits\n"
        ".globl arch_idle_begin, arch_idle_end\n"
        ".type arch_idle_begin, @function\n"
        "arch_idle_begin: .skip 16, 0x90\n"
        ".size arch_idle_begin, 16\n"
        "arch_idle_end:\n"
        ".popsection\n");

int hosted_files(void)
{
    static int files = -1;

    if (files < 0)
        files = epoll_create1(EPOLL_CLOEXEC);
    if (files < 0)
        panic("epoll_create1() failed");
    return files;
}

/* Until the first timer; false: there is none. */
static bool time_left(struct timespec *left)
{
    const struct loop_timer *first = timers_first();
    uint64_t now_ns = clock_ns(), ns;

    if (first == NULL)
        return false;
    ns = first->due_ns > now_ns ? first->due_ns - now_ns : 0;
    left->tv_sec = (time_t)(ns / NS_PER_S);
    left->tv_nsec = (long)(ns % NS_PER_S);
    return true;
}

/*
 * A signal that ends the loop (interrupts.c) may come just before the wait; the
 * next tick then ends it, for each signal does, and the loop is asked whether
 * there is work. Ticks alone find none, and it waits on.
 */
void arch_idle(void)
{
    struct epoll_event event;
    struct timespec left;
    bool timed = time_left(&left);

    arch_interrupts_on();
    hosted_idle_begin();
    if (epoll_pwait2(hosted_files(), &event, 1, timed ? &left : NULL, NULL) <
            0 &&
        errno != EINTR)
        panic("epoll_pwait2() failed: it needs Linux 5.11");
    hosted_idle_end();
}

void arch_stop(void)
{
    for (;;)
        pause();
}
