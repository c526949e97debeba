/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions with the names that C++, Rust and OCaml compilers give, each busy
 * for a while, so that the table must show them as their sources do; or, with
 * die=yes, a panic below them with the heap used up, so that the backtrace
 * must.
 */

#include "guest/word.h"

#include <kernel/clock.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAMED(symbol) __asm__(symbol) __attribute__((noinline, noclone))
#define BUSY_NS 300000000ull

static volatile int ended;    /* keeps the calls from becoming jumps */
static volatile uint32_t sum; /* what all of them are busy with */

void ocaml(void) NAMED("camlIrc__Server__broadcast_1042");
void rust(void) NAMED("_RNvMNtC3irc6serverNtB2_6Server9broadcast");
void legacy(void) NAMED("_ZN3irc6server6Server4join17h0123456789abcdefE");
void cxx(void) NAMED("_ZN9VirtioNet8transmitESt10shared_ptrIN3net6PacketEE");

static inline __attribute__((always_inline)) void spend(void)
{
    uint64_t end_ns = clock_ns() + BUSY_NS;

    while (clock_ns() < end_ns)
        for (uint32_t i = 0; i < 10000; i++)
            sum += i;
}

void ocaml(void)
{
    spend();
    if (guest_is("yes")) {
        while (malloc(1 << 20) != NULL)
            ;
        while (malloc(16) != NULL)
            ;
        panic("out of memory");
    }
}

void rust(void)
{
    spend();
    ocaml();
    ended++;
}

void legacy(void)
{
    spend();
    rust();
    ended++;
}

void cxx(void)
{
    spend();
    legacy();
    ended++;
}

int service_main(void)
{
    cxx();
    return 0;
}
