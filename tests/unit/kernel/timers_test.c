/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of timers, held against one that is searched from end to end. */

#include "../unit.h"

#include "../../../kernel/timers.h"

#define TIMERS 200u
#define STEPS 20000u
#define MANY 200000u

static struct loop_timer timers[TIMERS];
static uint64_t inserted[TIMERS]; /* step at which it was; 0: it is not there */

/* The number of the one that must be first; TIMERS: none. */
static unsigned first_of_all(void)
{
    unsigned first = TIMERS;

    for (unsigned i = 0; i < TIMERS; i++)
        if (inserted[i] != 0 &&
            (first == TIMERS || timers[i].due_ns < timers[first].due_ns ||
             (timers[i].due_ns == timers[first].due_ns &&
              inserted[i] < inserted[first])))
            first = i;
    return first;
}

static void toggle(unsigned i, uint64_t step)
{
    if (inserted[i] != 0) {
        timers_remove(&timers[i]);
        inserted[i] = 0;
        return;
    }
    timers[i].due_ns = unit_below(50);
    timers_insert(&timers[i]);
    inserted[i] = step;
}

TEST(the_first_one_is_the_first)
{
    for (uint64_t step = 1; step <= STEPS; step++) {
        unsigned first = first_of_all();

        if (first == TIMERS)
            assert_null(timers_first());
        else
            assert_ptr_equal(timers_first(), &timers[first]);
        toggle(unit_below(3) == 0 && first != TIMERS ? first
                                                     : unit_below(TIMERS),
               step);
    }
    while (timers_first() != NULL)
        timers_remove(timers_first());
    memset(inserted, 0, sizeof inserted);
}

/* A list would take 2 * 10^10 steps. */
TEST(very_many_are_sorted)
{
    struct loop_timer *many = calloc(MANY, sizeof *many);

    for (unsigned i = 0; i < MANY; i++) {
        many[i].due_ns = i % 2 == 0 ? i : unit_below(MANY);
        timers_insert(&many[i]);
    }
    for (unsigned i = 0; i < MANY; i += 3)
        timers_remove(&many[i]);
    for (uint64_t last = 0; timers_first() != NULL;) {
        assert_true(timers_first()->due_ns >= last);
        last = timers_first()->due_ns;
        timers_remove(timers_first());
    }
    free(many);
}
