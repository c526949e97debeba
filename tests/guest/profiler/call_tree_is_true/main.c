/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A call tree whose every way has a known share of the time must be seen as it
 * is, at 10 kHz: each chain with its share, and no chain that never was. And
 * whatever frame pointers a sample comes with, it ends well.
 */

#include "guest/guest.h"
#include "guest/tap.h"
#include "../../../../services/split/leaf.h"

#include <arch/boot.h>
#include <kernel/service.h>
#include <prof/symbols.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 3u
#define POINTS 100 /* one percentage point, in the unit of parts_of() */
#define RECURSION 5
#define OTHERS_SHOWN 10

#define NOINLINE __attribute__((noinline))

static volatile unsigned after; /* keeps calls from being the last thing done */

static NOINLINE void one(uint32_t units)
{
    leaf_a(SPLIT_TURNS(units * 4));
    after = 1;
}

static NOINLINE void three(uint32_t units)
{
    leaf_c(SPLIT_TURNS(units * 2));
    after = 3;
}

static NOINLINE void two(uint32_t units)
{
    leaf_b(SPLIT_TURNS(units * 3));
    three(units);
    after = 2;
}

static NOINLINE void down(uint32_t units, int more)
{
    if (more > 1)
        down(units, more - 1);
    else
        leaf_d(SPLIT_TURNS(units));
    after = 4;
}

/* One round of varying length, so that it is not in step with the ticks. */
static NOINLINE void work(void)
{
    static uint32_t rounds;
    uint32_t units = 1024 + (guest_random() >> 8 & 1023);

    one(units);
    two(units);
    down(units, RECURSION);
    if (++rounds % 64 == 0)
        prof_drain();
}

/* The ways from test_tree() down, and their tenths of the time. */
static const struct way {
    const char *path;
    uint32_t tenths;
} ways[] = {
    {"work;one;leaf_a", 4},
    {"work;two;leaf_b", 3},
    {"work;two;three;leaf_c", 2},
    {"work;down;down;down;down;down;leaf_d", 1},
};

#define WAYS (sizeof ways / sizeof *ways)

static struct {
    uint64_t cycles[WAYS]; /* of each way */
    uint64_t all;          /* of all of them: but for callers and the drain */
    unsigned others; /* stacks that are no part of a way, nor the drain's */
} seen;

/* The functions of (row) from the outermost on, parted by semicolons. */
static void path_of(const struct prof_stack_row *row, char *path, size_t size)
{
    path[0] = '\0';
    for (uint32_t i = row->count; i > 0; i--) {
        struct prof_symbol symbol;
        char name[64] = "?";

        if (prof_symbol_find(row->addresses[i - 1] - (i > 1), &symbol))
            prof_symbol_name(&symbol, name, sizeof name);
        if (strlen(path) + strlen(name) + 2 > size)
            return;
        if (path[0] != '\0')
            strcat(path, ";");
        strcat(path, name);
    }
}

static bool begins(const char *text, const char *with)
{
    size_t bytes = strlen(with);

    return strncmp(text, with, bytes) == 0 &&
           (text[bytes] == '\0' || text[bytes] == ';');
}

/* The part of (path) below test_tree(), NULL where that is not its head. */
static const char *below_test(const char *path)
{
    static const char head[] = "arch_start;kernel_main;service_main;test_tree;";

    return strncmp(path, head, sizeof head - 1) == 0 ? path + sizeof head - 1
                                                     : NULL;
}

static void look(const struct prof_stack_row *row, void *unused)
{
    static char path[1024];
    const char *below;

    (void)unused;
    path_of(row, path, sizeof path);
    below = below_test(path);
    for (size_t i = 0; below != NULL && i < WAYS; i++) {
        if (strcmp(below, ways[i].path) == 0) {
            seen.cycles[i] += row->cycles;
            seen.all += row->cycles;
        }
        /* a part of a way: the sample hit one of its callers */
        if (begins(ways[i].path, below))
            return;
    }
    if (below != NULL &&
        (begins(below, "work;prof_drain") || begins(below, "prof_start") ||
         begins(below, "prof_stop")))
        return;
    if (strcmp(path, "arch_start;kernel_main;service_main;test_tree") == 0)
        return;
    if (seen.others++ >= OTHERS_SHOWN)
        return;
    tap_note("%u samples of %s", (unsigned)row->samples, path);
}

static void test_tree(void)
{
    struct prof_stats stats;
    uint64_t begin;

    prof_set_rate(10000);
    begin = arch_tsc();
    prof_start();
    while (arch_tsc() - begin < (uint64_t)SECONDS * GUEST_TSC_HZ)
        work();
    prof_stop();
    prof_drain();
    stats = guest_stats();
    prof_visit_stacks(look, NULL);
    tap_ok(stats.overflowed == 0 && stats.dropped == 0 && stats.queued == 0 &&
               stats.stopped[2] == 0,
           "nothing is lost, no walk is cut");
    tap_is_equal(seen.others, 0, "no chain that never was");
    for (size_t i = 0; i < WAYS; i++) {
        int64_t share = (int64_t)(seen.cycles[i] * 100 * POINTS / seen.all);

        tap_note("%d.%02d %% in %s", (int)share / POINTS, (int)share % POINTS,
                 ways[i].path);
        tap_ok(llabs(share - (int64_t)ways[i].tenths * 10 * POINTS) <=
                   3 * POINTS / 2,
               ways[i].path);
    }
}

/* Values that no walk may follow, and some that it may for a while. */
static void test_wild(void)
{
    static uintptr_t data[16];
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t wild[] = {
        0,
        1,
        7,
        8,
        4096,
        (uintptr_t)data,
        UINTPTR_MAX,
        UINTPTR_MAX - 7,
        (uintptr_t)text_begin,
        (uintptr_t)boot_stack_top,
        (uintptr_t)boot_stack_top - sizeof(uintptr_t),
        (uintptr_t)boot_stack_bottom,
        (uintptr_t)boot_stack_bottom - 4096,
        here,
        here + 1,
        here - 4096,
        (uintptr_t)0xdeadbeef,
    };
    const size_t count = sizeof wild / sizeof *wild;
    struct prof_stats stats;

    prof_reset();
    prof_start();
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            prof_sample((uintptr_t)work, wild[i], wild[k]);
    prof_stop();
    prof_drain();
    stats = guest_stats();
    tap_ok(stats.ticks >= count * count, "wild pointers: every sample counts");
    tap_ok(stats.stopped[4] >= count * count / 2,
           "wild pointers: counted as outside the stack");
}

int service_main(void)
{
    tap_plan(8);
    test_tree();
    test_wild();
    return tap_end();
}
