/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The loop's halt, until what arch_timer_arm() was given.
 */

#include "idle.h"

#include "interrupts.h"

#include <arch/cpu.h>
#include <arch/timer.h>
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

static uint64_t armed_ns = UINT64_MAX; /* by clock_real_ns() */
static void (*on_fired)(void);

bool arch_timer_start(uint64_t tsc_hz, void (*fired)(void))
{
    (void)tsc_hz;
    on_fired = fired;
    return true;
}

const char *arch_timer_name(void)
{
    return "epoll_pwait2()";
}

void arch_timer_arm(uint64_t ns)
{
    armed_ns =
        clock_real_ns() + (ns < ARCH_TIMER_NS_MAX ? ns : ARCH_TIMER_NS_MAX);
}

void arch_timer_stop(void)
{
    armed_ns = UINT64_MAX;
}

/* The process has no interrupt for it: it fires where the loop waits. */
static uint64_t left_ns(void)
{
    uint64_t now_ns = clock_real_ns();

    return armed_ns > now_ns ? armed_ns - now_ns : 0;
}

/*
 * A signal that ends the loop (interrupts.c) may come just before the wait; the
 * next tick then ends it, for each signal does, and the loop is asked whether
 * there is work. Ticks alone find none, and it waits on.
 */
void arch_idle(void)
{
    struct epoll_event event;
    uint64_t ns = left_ns();
    struct timespec left;

    if (ns > ARCH_TIMER_NS_MAX)
        ns = ARCH_TIMER_NS_MAX;
    left.tv_sec = (time_t)(ns / NS_PER_S);
    left.tv_nsec = (long)(ns % NS_PER_S);

    arch_interrupts_on();
    hosted_idle_begin();
    if (epoll_pwait2(hosted_files(), &event, 1, &left, NULL) < 0 &&
        errno != EINTR)
        panic("epoll_pwait2() failed: it needs Linux 5.11");
    hosted_idle_end();
    if (left_ns() == 0) {
        armed_ns = UINT64_MAX;
        on_fired();
    }
}

void arch_stop(void)
{
    for (;;)
        pause();
}
