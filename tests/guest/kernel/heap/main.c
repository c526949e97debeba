/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap: newlib's malloc() over the kernel's sbrk(). It ends with NULL and
 * ENOMEM, what is given back can be had again to the last piece, and no two
 * pieces are one.
 */

#include "guest/tap.h"

#include <arch/boot.h>
#include <errno.h>
#include <kernel/service.h>
#include <prof/port.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (1u << 20)
#define SMALL_BYTES 1000u
#define MALLOC_ALIGN (2 * sizeof(void *))

/* The beginning of a piece; its end is the number again. */
struct piece {
    struct piece *before;
    uintptr_t number;
};

static uintptr_t *end_word(struct piece *piece, size_t bytes)
{
    return (uintptr_t *)((char *)piece + bytes) - 1;
}

/* Takes pieces of (bytes) bytes until there are none; the last one is *last. */
static unsigned take_all(size_t bytes, struct piece **last)
{
    unsigned count = 0;
    struct piece *piece;

    *last = NULL;
    while ((piece = malloc(bytes)) != NULL) {
        piece->before = *last;
        piece->number = count;
        *end_word(piece, bytes) = count;
        *last = piece;
        count++;
    }
    return count;
}

/* Gives them back; false where somebody has written into one. */
static bool give_back(size_t bytes, struct piece *last, unsigned count)
{
    bool sound = true;

    while (last != NULL) {
        struct piece *before = last->before;

        count--;
        sound =
            sound && last->number == count && *end_word(last, bytes) == count;
        free(last);
        last = before;
    }
    return sound && count == 0;
}

static void test_all(size_t bytes, unsigned least, unsigned most)
{
    struct piece *last;
    unsigned first, second;

    tap_note("in pieces of %u bytes:", (unsigned)bytes);
    errno = 0;
    first = take_all(bytes, &last);
    tap_ok(errno == ENOMEM, "the end of memory is NULL and ENOMEM");
    tap_is_between(first, least, most, "there is as much as the machine has");
    tap_ok(give_back(bytes, last, first), "no two pieces overlap");
    second = take_all(bytes, &last);
    tap_is_equal(second, first, "given back, as much can be had again");
    tap_ok(give_back(bytes, last, second), "and is as sound");
}

static void test_refusals(void)
{
    static volatile const size_t absurd[] = {
        SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2 + 1, SIZE_MAX / 2, 1u << 31};
    volatile size_t half = SIZE_MAX / 2;
    bool refused = true;

    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        errno = 0;
        refused = refused && malloc(absurd[i]) == NULL && errno == ENOMEM;
    }
    tap_ok(refused, "absurd sizes are refused with ENOMEM");
    tap_ok(calloc(half, 3) == NULL, "a product that overflows is refused");

    char *kept = malloc(16);

    strcpy(kept, "still here");
    tap_ok(realloc(kept, half) == NULL && strcmp(kept, "still here") == 0,
           "a piece that cannot grow stays as it was");
    free(kept);
}

static void test_pieces(void)
{
    bool aligned = true, zero = true;
    char *large = malloc(64 * MIB), *zeroed;

    tap_ok(large != NULL, "what was in small pieces can be had in one");
    memset(large, 0xff, 64 * MIB);
    free(large);
    zeroed = calloc(1, MIB);
    for (size_t i = 0; i < MIB; i++)
        zero = zero && zeroed[i] == 0;
    tap_ok(zero, "calloc()'s memory is zero, also when it was used before");
    free(zeroed);
    for (size_t bytes = 1; bytes < 200; bytes++)
        aligned = aligned && (uintptr_t)malloc(bytes) % MALLOC_ALIGN == 0;
    tap_ok(aligned, "pieces are aligned for any scalar");
}

static bool refused(ptrdiff_t increment)
{
    const char *before = sbrk(0);

    errno = 0;
    return sbrk(increment) == (void *)-1 && errno == ENOMEM &&
           sbrk(0) == before;
}

/* What is in use follows malloc() and free(), and is a sum of whole pieces. */
static void test_in_use(void)
{
    size_t before = service_heap_in_use(), with, without;
    char *piece = malloc(100000), *other = malloc(3000);

    with = service_heap_in_use();
    free(piece);
    without = service_heap_in_use();
    free(other);
    tap_is_between((int64_t)(with - before), 103000, 103000 + 64,
                   "what is given out is in use");
    tap_is_between((int64_t)(without - before), 3000, 3000 + 32,
                   "what was given back is not");
    tap_is_equal((int64_t)service_heap_in_use(), (int64_t)before,
                 "all given back: in use is what was before");
}

/* The profiler may have half of the heap, the service all of it. */
static void test_share(void)
{
    const struct arch_region heap = arch_heap_region();
    size_t half = (heap.end - heap.begin) / 2;
    void *most = prof_port_alloc(half - MIB);

    tap_ok(most != NULL, "the profiler can have nearly half");
    tap_ok(prof_port_alloc(MIB + 1) == NULL &&
               prof_port_alloc(SIZE_MAX) == NULL,
           "it can not have more");
    prof_port_free(most);
    most = malloc(half + MIB);
    tap_ok(most != NULL, "the service can");
    free(most);
}

static void test_sbrk(void)
{
    struct arch_region heap = arch_heap_region();
    char *before = sbrk(0);

    tap_ok((uintptr_t)before >= heap.begin && (uintptr_t)before <= heap.end,
           "the break lies in the heap's region");
    tap_ok(sbrk(4096) == before && sbrk(0) == before + 4096 &&
               sbrk(-4096) == before + 4096 && sbrk(0) == before,
           "it moves up and down and returns where it was");
    tap_ok(refused((ptrdiff_t)(heap.end - (uintptr_t)before) + 1) &&
               refused(PTRDIFF_MAX),
           "it does not pass the end");
    tap_ok(refused((ptrdiff_t)(heap.begin - (uintptr_t)before) - 1) &&
               refused(PTRDIFF_MIN),
           "nor the beginning");
}

int service_main(void)
{
    tap_plan(26);
    test_all(MIB, 115, 127);
    test_all(SMALL_BYTES, 115 * 1000, 134 * 1000);
    test_refusals();
    test_pieces();
    test_in_use();
    test_share();
    test_sbrk();
    return tap_end();
}
