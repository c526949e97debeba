/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples, and dies in the way that its command line asks for, die=WAY: what
 * was drained, what was not, and a last event must leave the image all the
 * same, without the heap. tests/stream records it and compares with what it
 * says it has counted.
 */

#include "guest/guest.h"
#include "guest/wraps.h"

#include <kernel/console.h>
#include <kernel/panic.h>
#include <kernel/service.h>
#include <string.h>

static bool heap_is_gone;

void *__wrap_prof_port_alloc(size_t bytes)
{
    if (heap_is_gone)
        panic("memory was asked for");
    return __real_prof_port_alloc(bytes);
}

/* The compiler must not know that these end badly. */
static volatile uintptr_t null_address;
static volatile bool for_ever = true;

static void write_null(void)
{
    *(volatile int *)null_address = 1;
}

/* Ends where the stack does. */
static int overflow(int depth)
{
    volatile char room[512] = {(char)depth};

    return for_ever ? overflow(depth + 1) + room[0] : 0;
}

static void overflow_stack(void)
{
    overflow(0);
}

/* In the drain, which needs memory for its first samples. */
static void drain(void)
{
    prof_drain();
}

static const struct {
    const char *name;
    void (*die)(void);
} ways[] = {
    {"null", write_null},
    {"overflow", overflow_stack},
    {"drain", drain},
};

static void (*chosen)(void) = write_null;

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "die") != 0)
        return false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, value) == 0) {
            chosen = ways[i].die;
            return true;
        }
    return false;
}

/* Not drained any more: the last 50 ms. */
void last_samples(void);
__attribute__((noinline)) void last_samples(void)
{
    guest_spin(50 * GUEST_MS);
    __asm__ volatile("");
}

int service_main(void)
{
    struct prof_stats stats;

    if (chosen != drain)
        guest_poll(300 * GUEST_MS);
    last_samples();
    arch_interrupts_off();
    prof_stats(&stats);
    console_line("ends with %u ticks", (unsigned)stats.ticks);
    heap_is_gone = true;
    chosen();
    return 1;
}
