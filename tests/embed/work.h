/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMBED_WORK_H
#define EMBED_WORK_H

/* What kernels of this folder compute: six parts of the time go to parse(),
 * three to render(), one to send(). */

static void spend(unsigned steps)
{
    while (steps-- > 0)
        __asm__ volatile("" : : : "memory");
}

static __attribute__((noinline)) void parse(void)
{
    spend(6000);
}

static __attribute__((noinline)) void render(void)
{
    spend(3000);
}

static __attribute__((noinline)) void send(void)
{
    spend(1000);
}

static __attribute__((noinline)) void answer(void)
{
    parse();
    render();
    send();
}

#endif
