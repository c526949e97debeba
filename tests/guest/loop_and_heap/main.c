/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a service may rely on: the event loop's order and grid, memory that
 * comes back, clocks that go on, and the C library over them.
 */

#include "../tap.h"

#include <errno.h>
#include <kernel/clock.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS 1000000ull

static char order[16];
static struct loop_timer timer[4];
static struct loop_timer grid_timer;
static uint64_t grid_begin_ns;
static unsigned grid_calls;
static bool grid_kept = true;
static bool constructed;

__attribute__((constructor)) static void construct(void)
{
    constructed = malloc(1) != NULL;
}

static void note(void *letter)
{
    strncat(order, letter, 1);
}

static void note_and_poll(void *letter)
{
    note(letter);
    loop_poll();
}

static void stop(void *unused)
{
    (void)unused;
    loop_stop();
}

static void test_order(void)
{
    loop_once(&timer[0], 30 * MS_NS, note, "c");
    loop_once(&timer[1], 10 * MS_NS, note_and_poll, "a");
    loop_once(&timer[2], 10 * MS_NS, note, "b");
    loop_once(&timer[3], 60 * MS_NS, stop, NULL);
    loop_run();
    tap_ok(strcmp(order, "abc") == 0, "timers run in order, never nested");

    order[0] = '\0';
    loop_once(&timer[0], 10 * MS_NS, note, "x");
    loop_once(&timer[0], 20 * MS_NS, note, "y");
    loop_once(&timer[1], 10 * MS_NS, note, "z");
    loop_cancel(&timer[1]);
    loop_cancel(&timer[1]);
    loop_once(&timer[3], 60 * MS_NS, stop, NULL);
    loop_run();
    tap_ok(strcmp(order, "y") == 0, "arming again moves, cancelling removes");
}

/* Sees that each call is the first after a point of the grid, and sleeps over
 * two of them once. */
static void on_grid(void *unused)
{
    uint64_t now_ns = clock_ns();

    (void)unused;
    grid_calls++;
    if ((grid_timer.due_ns - grid_begin_ns) % (50 * MS_NS) != 0 ||
        grid_timer.due_ns <= now_ns)
        grid_kept = false;
    if (grid_calls == 2) {
        while (clock_ns() - now_ns < 110 * MS_NS)
            ;
    }
    if (grid_calls == 4) {
        loop_cancel(&grid_timer);
        loop_stop();
    }
}

static void test_grid(void)
{
    loop_every(&grid_timer, 50 * MS_NS, on_grid, NULL);
    grid_begin_ns = grid_timer.due_ns;
    loop_run();
    tap_is_between((long long)((clock_ns() - grid_begin_ns) / MS_NS), 195, 260,
                   "missed calls are made up by one");
    tap_ok(grid_kept, "a periodic timer keeps its grid");
    tap_ok(!grid_timer.armed, "a callback can cancel its own timer");
}

/* Takes all memory in (bytes) pieces and gives it back; how many there were. */
static unsigned exhaust(size_t bytes)
{
    void **last = NULL;
    unsigned count = 0;

    for (;;) {
        void **piece = malloc(bytes);

        if (piece == NULL)
            break;
        *piece = last;
        last = piece;
        count++;
    }
    while (last != NULL) {
        void **before = *last;

        free(last);
        last = before;
    }
    return count;
}

static void test_heap(void)
{
    unsigned first = exhaust(1 << 20);
    volatile size_t absurd = SIZE_MAX / 2; /* not for the compiler to see */

    tap_ok(constructed, "constructors run and may use the heap");
    tap_is_between(first, 100, 128, "nearly all of 128 MiB can be had");
    tap_ok(errno == ENOMEM, "the end of memory is an error, not a panic");
    tap_is_equal(exhaust(1 << 20), first, "memory comes back as it was");
    tap_ok(malloc(absurd) == NULL && malloc(absurd * 2 - 64) == NULL,
           "absurd amounts are refused");
}

static void test_clock(void)
{
    uint64_t last_ns = clock_ns();
    uint64_t ticks = clock_ticks();
    bool rising = true;

    for (unsigned i = 0; i < 100000; i++) {
        uint64_t now_ns = clock_ns();

        if (now_ns < last_ns)
            rising = false;
        last_ns = now_ns;
    }
    tap_ok(rising, "the clock never goes back");
    loop_once(&timer[0], 100 * MS_NS, stop, NULL);
    loop_run();
    tap_is_between((long long)(clock_ticks() - ticks), 9, 1000,
                   "the tick counts on");
    tap_ok(clock_unix_seconds() > 1600000000u, "it is later than 2020");
}

static void test_libc(void)
{
    static jmp_buf back;
    char text[64];
    volatile int jumps = 0;

    snprintf(text, sizeof text, "%llu %lld %zu %.3f %s",
             18446744073709551615ull, -9000000000ll, sizeof text, 2.5, "end");
    tap_ok(strcmp(text, "18446744073709551615 -9000000000 64 2.500 end") == 0,
           "long long and floating point are written");
    if (setjmp(back) == 0)
        longjmp(back, ++jumps);
    tap_is_equal(jumps, 1, "longjmp comes back once");
    tap_ok(fopen("file", "r") == NULL && errno == ENOENT, "there are no files");
}

int service_main(void)
{
    tap_plan(16);
    test_order();
    test_grid();
    test_heap();
    test_clock();
    test_libc();
    return tap_end();
}
