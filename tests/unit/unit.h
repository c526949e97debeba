/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

/*
 * What every unit test begins with:
 *
 *     FIXTURE(open_file, close_file);
 *
 *     TEST(a_file_has_its_bytes)
 *     {
 *         assert_int_equal(read_all(), 5);
 *     }
 *
 * Each TEST() registers itself; main() in unit.c runs them in the order in
 * which they stand in the file. The functions of a FIXTURE() run before
 * and after each of the tests that follow it; NULL is none.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Numbers that are the same in each run: of 64 bits, below (limit), and from 0
 * to 1. A test may set the seed, and read it. */
extern uint64_t unit_seed;
uint64_t unit_random(void);

static inline uint32_t unit_below(uint32_t limit)
{
    return (uint32_t)(unit_random() % limit);
}

static inline double unit_part(void)
{
    return (double)(unit_random() >> 11) * 0x1p-53;
}

/* Of any length up to 64 bits: small ones are as likely. */
static inline uint64_t unit_number(void)
{
    return unit_random() >> unit_random() % 64;
}

/* Whether FULL=1 asks for the long form, see tests/README.md. */
static inline bool unit_is_full(void)
{
    const char *full = getenv("FULL");

    return full != NULL && strcmp(full, "1") == 0;
}

/* Adds the test (name), or with NULL a fixture, at (place) in the file. */
void unit_add(int place, const char *name, void (*run)(void),
              void (*begin)(void), void (*end)(void));

#define TEST(name)                                                             \
    static void name(void);                                                    \
    __attribute__((constructor)) static void unit_add_##name(void)             \
    {                                                                          \
        unit_add(__COUNTER__, #name, name, NULL, NULL);                        \
    }                                                                          \
    static void name(void)

#define FIXTURE(begin, end) UNIT_FIXTURE_AT(__LINE__, begin, end)
#define UNIT_FIXTURE_AT(line, begin, end) UNIT_FIXTURE(line, begin, end)
#define UNIT_FIXTURE(line, begin, end)                                         \
    __attribute__((constructor)) static void unit_fixture_##line(void)         \
    {                                                                          \
        unit_add(__COUNTER__, NULL, NULL, begin, end);                         \
    }                                                                          \
    static void unit_fixture_##line(void)

#endif
