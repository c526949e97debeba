/* SPDX-License-Identifier: Apache-2.0 */

/*
 * No stack is configured. Samples on the kernel's stack, and on others that
 * begin as those of foreign kernels do, must have all of their callers, and no
 * walk may count as ended early.
 */

#include "guest/entry.h"
#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <string.h>

#define STACK_BYTES 8192u
#define MARKED __attribute__((noinline, noclone))

static _Alignas(4096) unsigned char stack[STACK_BYTES];

/* What was in the frame pointer when the stack began, as in boot code, which
 * has no frame. */
static const uintptr_t left[] = {0, 1, 0x2badb002, 0x9500, ~(uintptr_t)0 << 4};

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *config)
{
    struct prof_config own = *config;

    own.stack = (struct prof_range){0, 0};
    return __real_prof_init(memory, bytes, &own);
}

MARKED void spin(void);
MARKED void inner(void);
MARKED void outer(void);

void spin(void)
{
    guest_spin(100 * GUEST_MS);
}

void inner(void)
{
    spin();
    __asm__ volatile("");
}

void outer(void)
{
    inner();
    __asm__ volatile("");
}

/* Samples in spin(), and of these with inner() and outer() above them. */
struct found {
    uint64_t spinning, complete;
};

static bool lies_in(uintptr_t address, void (*function)(void))
{
    return address - (uintptr_t)function < 64;
}

static void look(const struct prof_stack_row *row, void *context)
{
    struct found *found = context;

    for (uint32_t i = 0; i + 1 < row->count; i++)
        if (lies_in(row->addresses[i], inner)) {
            found->spinning += row->samples;
            if (lies_in(row->addresses[i + 1], outer))
                found->complete += row->samples;
            return;
        }
}

static void test(const char *what)
{
    struct prof_stats stats = guest_stats();
    struct found found = {0};
    uint64_t early = 0;

    prof_visit_stacks(look, &found);
    for (size_t i = 0; i < sizeof stats.stopped / sizeof *stats.stopped; i++)
        early += stats.stopped[i];
    tap_ok(stats.ticks > 50 && found.spinning > 50, what);
    tap_is_equal((int64_t)found.complete, (int64_t)found.spinning,
                 "  all have their callers");
    tap_is_equal((int64_t)early, 0, "  and no walk ended early");
    prof_reset();
}

int service_main(void)
{
    tap_plan(4 + 3 * sizeof left / sizeof *left);
    tap_is_equal(prof_start(), 0, "started");
    outer();
    prof_drain();
    test("on the kernel's stack");
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        memset(stack, 0, sizeof stack);
        guest_call_on(stack + sizeof stack, left[i], outer);
        prof_drain();
        test("on a stack of its own");
    }
    prof_stop();
    return tap_end();
}
