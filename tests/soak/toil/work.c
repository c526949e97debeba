/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of work. All of them end on request, and give everything back. */

#include "work.h"

#include <arch/cpu.h>
#include <arch/cpu_number.h>
#include <kernel/clock.h>
#include <kernel/cpu.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS 1000000ull
#define SLICE_NS (2 * MS_NS)
#define HOLD_NS (500 * MS_NS)
#define DARK_NS (400 * 1000ull)

#define SLOTS 512u
#define PIECE_MAX 4096u
#define OPERATIONS 200u /* of a slice */

#define DEPTH_MAX 160u

/* The same in every run, on each CPU; its upper bits are the better ones. */
uint32_t dither(uint32_t most)
{
    static uint32_t states[ARCH_CPUS_MAX];
    uint32_t *state = &states[cpu_number()];

    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*state * most >> 32);
}

static volatile uint32_t sink;

static void add_up(uint32_t turns)
{
    for (uint32_t i = 0; i < turns; i++)
        sink += i;
}

static void until(uint64_t ns)
{
    uint64_t begin = clock_ns();

    while (clock_ns() - begin < ns)
        add_up(1000);
}

static void spin(void)
{
    until(SLICE_NS);
}

static void hold(void)
{
    until(HOLD_NS);
}

static void masked(void)
{
    for (unsigned i = 0; i < 4; i++) {
        bool on = arch_interrupts_save();

        until(DARK_NS);
        arch_interrupts_restore(on);
        add_up(10000);
    }
}

static void *slots[SLOTS];

static void alloc(void)
{
    for (unsigned i = 0; i < OPERATIONS; i++) {
        void **slot = &slots[dither(SLOTS)];
        size_t bytes = 1 + dither(PIECE_MAX);
        void *piece = dither(4) == 0 ? realloc(*slot, bytes) : NULL;

        if (piece == NULL) {
            free(*slot);
            piece = dither(4) == 0 ? NULL : malloc(bytes);
        }
        *slot = piece;
        if (piece != NULL)
            memset(piece, 0xa5, bytes < 64 ? bytes : 64);
    }
}

static void leave_alloc(void)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        free(slots[i]);
        slots[i] = NULL;
    }
}

/* Two that take turns, so that a chain shows at once whether it is one. */
static void even(uint32_t left);

static __attribute__((noinline)) void odd(uint32_t left)
{
    if (left != 0)
        even(left - 1);
    add_up(40);
}

static __attribute__((noinline)) void even(uint32_t left)
{
    if (left != 0)
        odd(left - 1);
    add_up(20);
}

static void deep(void)
{
    uint64_t begin = clock_ns();

    while (clock_ns() - begin < SLICE_NS)
        odd(dither(DEPTH_MAX));
}

/* All of the heap, as a list; a piece's first word leads to the one before. */
static void **hoard;

static void hog(void)
{
    static const size_t sizes[] = {1 << 20, 1 << 16, 1 << 12, 256, 16};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void **piece;

        while ((piece = malloc(sizes[i])) != NULL) {
            *piece = hoard;
            hoard = piece;
        }
    }
    until(SLICE_NS);
}

static void leave_hog(void)
{
    while (hoard != NULL) {
        void **before = *hoard;

        free(hoard);
        hoard = before;
    }
}

struct work works[] = {
    {"spin", spin, NULL, true, false},
    {"alloc", alloc, leave_alloc, false, false},
    {"deep", deep, NULL, true, false},
    {"masked", masked, NULL, true, false},
    {"hold", hold, NULL, false, false},
    {"hog", hog, leave_hog, false, false},
};
const size_t work_count = sizeof works / sizeof *works;
