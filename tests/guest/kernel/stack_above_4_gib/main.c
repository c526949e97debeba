/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code whose stack is as high in the RAM as malloc() can have it, to be sampled
 * from outside (tests/machines): it never ends.
 */

#include <kernel/console.h>
#include <kernel/service.h>
#include <stdint.h>
#include <stdlib.h>

#define PIECE ((size_t)64 << 20)
#define NAMED __attribute__((noinline))

static volatile uint32_t turns;

NAMED static void innermost(void)
{
    for (uint32_t i = 0; i < 1000000; i++)
        turns++;
}

NAMED static void middle(void)
{
    for (;;)
        innermost();
}

NAMED __attribute__((used)) static void outermost(void)
{
    console_line("stack: running");
    middle();
}

/* The chain of frame pointers ends here. */
__attribute__((noreturn)) static void run_at(uintptr_t top)
{
#ifdef __x86_64__
    __asm__ volatile("mov %0, %%rsp\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "call outermost"
                     :
                     : "r"(top)
                     : "memory");
#else
    __asm__ volatile("mov %0, %%esp\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "call outermost"
                     :
                     : "r"(top)
                     : "memory");
#endif
    __builtin_unreachable();
}

int service_main(void)
{
    uintptr_t top = 0, piece;

    while ((piece = (uintptr_t)malloc(PIECE)) != 0)
        if (piece + PIECE > top)
            top = piece + PIECE;
    top &= ~(uintptr_t)0xffff;
    console_line("stack: at %lu MiB", (unsigned long)(top >> 20));
    run_at(top);
}
