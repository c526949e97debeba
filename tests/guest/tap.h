/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GUEST_TAP_H
#define TESTS_GUEST_TAP_H

/*
 * The Test Anything Protocol on the serial console, for images that are tests:
 *
 *     int service_main(void)
 *     {
 *         tap_plan(2);
 *         tap_ok(two() > one(), "two is more than one");
 *         tap_is_equal(one(), 1, "one is one");
 *         return tap_end();
 *     }
 *
 * The runner counts the lines and holds the test to its plan. To be included
 * by one file of an image only, for the counts below are that file's own.
 * Contexts: thread. Nothing here allocates more than console_line() does.
 */

#include <kernel/console.h>
#include <stdbool.h>

static struct {
    unsigned planned; /* as tap_plan() was given */
    unsigned done;    /* tap_ok() called so often */
    unsigned failed;
} tap;

/* How many tests there will be. To be called first. */
static inline void tap_plan(unsigned count)
{
    tap.planned = count;
    console_line("1..%u", count);
}

/* One test, named (what) after what must hold. Returns (good). */
static inline bool tap_ok(bool good, const char *what)
{
    tap.done++;
    if (!good)
        tap.failed++;
    console_line("%s %u - %s", good ? "ok" : "not ok", tap.done, what);
    return good;
}

/* A comment: tap_note("%u ticks late", late). */
#define tap_note(...)                                                          \
    do {                                                                       \
        console_write("# ", 2);                                                \
        console_line(__VA_ARGS__);                                             \
    } while (0)

/* The test that (got) is (wanted); shows both where it is not. */
static inline bool tap_is_equal(long long got, long long wanted,
                                const char *what)
{
    bool good = tap_ok(got == wanted, what);

    if (!good)
        tap_note("got %lld (0x%llx), wanted %lld (0x%llx)", got, got, wanted,
                 wanted);
    return good;
}

/* The same for (low) <= (got) <= (high). */
static inline bool tap_is_between(long long got, long long low, long long high,
                                  const char *what)
{
    bool good = tap_ok(got >= low && got <= high, what);

    if (!good)
        tap_note("got %lld, wanted %lld to %lld", got, low, high);
    return good;
}

/* The image's exit code: 0 where the plan was kept and nothing failed. */
static inline int tap_end(void)
{
    if (tap.done != tap.planned)
        tap_note("%u tests instead of %u", tap.done, tap.planned);
    return tap.failed == 0 && tap.done == tap.planned ? 0 : 1;
}

#endif
