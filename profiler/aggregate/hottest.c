/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A short table is an insertion sort into an array. For a long one the
 * functions are linked into a list, which is merge-sorted bottom-up.
 */

#include "aggregate/hottest.h"

#include "aggregate/functions.h"
#include "aggregate/sums.h"

#include <prof/config.h>

#define LISTS_MAX 32u /* list n has 1 << n functions, or is empty */

static bool hotter(const struct prof_function *a, const struct prof_function *b)
{
    uint64_t of_a = prof_sums_weight(&a->self);
    uint64_t of_b = prof_sums_weight(&b->self);

    if (of_a != of_b)
        return of_a > of_b;
    if (a->self.samples != b->self.samples)
        return a->self.samples > b->self.samples;
    return a->record.key < b->record.key;
}

static void insert(struct prof_hottest *hottest,
                   const struct prof_function *function, uint32_t most)
{
    uint32_t at = hottest->count;

    if (at == most && !hotter(function, hottest->few[--at]))
        return;
    for (; at > 0 && hotter(function, hottest->few[at - 1]); at--)
        hottest->few[at] = hottest->few[at - 1];
    hottest->few[at] = function;
    hottest->count += hottest->count < most;
}

static void find_few(struct prof_hottest *hottest)
{
    const struct prof_function *function = prof_function_at(0);

    for (uint32_t i = 1; hottest->wanted > 0 && i < prof_functions.used; i++) {
        function = PROF_TABLE_NEXT(&prof_functions, function, i);
        if (function->self.samples != 0)
            insert(hottest, function, hottest->wanted);
    }
}

/* Merges two sorted lists, given by the numbers of their first functions. */
static uint32_t merge_lists(uint32_t a, uint32_t b)
{
    uint32_t first = 0, *end = &first;

    while (a != 0 && b != 0) {
        uint32_t *from =
            hotter(prof_function_at(a), prof_function_at(b)) ? &a : &b;

        *end = *from;
        end = &prof_function_at(*from)->record.link;
        *from = *end;
    }
    *end = a != 0 ? a : b;
    return first;
}

/* More rows than the default are an option. */
#define MAY_BE_LONG PROF_WITH_OPTIONS

static uint32_t sort_functions(void)
{
    uint32_t lists[LISTS_MAX] = {0}, all = 0;

    for (uint32_t i = 1; i < prof_functions.used; i++) {
        uint32_t list = i, n = 0;

        if (prof_function_at(i)->self.samples == 0)
            continue;
        prof_function_at(i)->record.link = 0;
        for (; lists[n] != 0; n++) {
            list = merge_lists(lists[n], list);
            lists[n] = 0;
        }
        lists[n] = list;
    }
    for (uint32_t n = 0; n < LISTS_MAX; n++)
        all = merge_lists(lists[n], all);
    return all;
}

void prof_hottest_begin(struct prof_hottest *hottest, uint32_t wanted)
{
    (void)prof_sums();
    hottest->count = hottest->at = 0;
    hottest->wanted = wanted;
    if (MAY_BE_LONG && wanted > PROF_HOTTEST_FEW)
        hottest->at = sort_functions();
    else
        find_few(hottest);
}

const struct prof_function *prof_hottest_next(struct prof_hottest *hottest)
{
    const struct prof_function *function;

    if (hottest->wanted == 0)
        return NULL;
    if (hottest->count != 0) /* a short table that is not empty */
        return hottest->at < hottest->count ? hottest->few[hottest->at++]
                                            : NULL;
    if (!MAY_BE_LONG || hottest->at == 0)
        return NULL;
    function = prof_function_at(hottest->at);
    hottest->at = function->record.link;
    hottest->wanted--;
    return function;
}
