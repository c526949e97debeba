/* SPDX-License-Identifier: Apache-2.0 */
/* Minutes of guests to another system: a profile for each guest and minute. */

#define _DEFAULT_SOURCE /* strsep() */

#include "fleet/fleet.h"

#include "base/log.h"
#include "base/memory.h"
#include "push/push.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000u

enum { SERVICE, GUEST, AT, BUILD, FOLDED, SAMPLES, NS };

/* The stacks of a profile, whose names are cut out of the answer's texts. */
struct stacks {
    struct push_stack *list;
    const char **names; /* of all of them */
    size_t count, name_count;
};

static void add_stack(struct stacks *stacks, const struct store_answer *answer,
                      size_t row)
{
    char *next = answer->values[row * answer->columns + FOLDED];
    struct push_stack stack = {
        .samples = store_u64(answer, row, SAMPLES),
        .ns = store_u64(answer, row, NS),
    };

    while (next != NULL) {
        const char *name = strsep(&next, "\n");

        VECTOR_ADD(stacks->names, stacks->name_count, name);
        ++stack.count;
    }
    VECTOR_ADD(stacks->list, stacks->count, stack);
}

/* The vector of names moves while it grows. */
static void place_names(struct stacks *stacks)
{
    const char **names = stacks->names;

    for (size_t i = 0; i < stacks->count; ++i) {
        stacks->list[i].names = names;
        names += stacks->list[i].count;
    }
}

static bool is_same(const struct store_answer *answer, size_t row, size_t other)
{
    for (unsigned column = SERVICE; column <= BUILD; ++column)
        if (strcmp(store_value(answer, row, column),
                   store_value(answer, other, column)) != 0)
            return false;
    return true;
}

static const struct fleet_guest *guest_of(const struct fleet_guests *guests,
                                          uint64_t number)
{
    for (size_t i = 0; i < guests->count; ++i)
        if (guests->list[i].number == number)
            return &guests->list[i];
    return NULL;
}

/* The profile of the rows from (row) up to (end). */
static void post(struct push *push, const struct store_answer *answer,
                 size_t row, size_t end, const struct fleet_guests *guests)
{
    uint64_t number = store_u64(answer, row, GUEST);
    const struct fleet_guest *guest = guest_of(guests, number);
    char digits[FLEET_NUMBER_MAX];
    struct stacks stacks = {0};
    struct push_profile profile = {
        .service = store_value(answer, row, SERVICE),
        .build = store_value(answer, row, BUILD),
        .guest = fleet_number_text(number, digits),
        .host = guest != NULL ? guest->host : "",
        .begin_ns = store_u64(answer, row, AT) * NS_PER_S,
        .duration_ns = (uint64_t)STORE_BUCKET_SECONDS * NS_PER_S,
        .period_ns =
            guest != NULL && guest->mhz > 0 ? 1000000000000u / guest->mhz : 0,
    };
    char why[PUSH_WHY];

    for (; row < end; ++row)
        add_stack(&stacks, answer, row);
    place_names(&stacks);
    profile.stacks = stacks.list;
    profile.stack_count = stacks.count;
    if (!push_send(push, &profile, why))
        die("%s", why);
    free(stacks.list);
    free(stacks.names);
}

uint64_t fleet_push(const struct fleet *fleet, const char *target)
{
    struct store_answer answer;
    struct fleet_guests guests;
    struct push *push;
    uint64_t profiles = 0;
    char why[PUSH_WHY];
    size_t row = 0;

    push = push_open(target, why);
    if (push == NULL)
        die_usage("%s", why);
    fleet_guests(fleet, &guests);
    fleet_ask(fleet, "guest_stacks", &answer);
    while (row < answer.rows) {
        size_t end = row + 1;

        while (end < answer.rows && is_same(&answer, row, end))
            ++end;
        post(push, &answer, row, end, &guests);
        ++profiles;
        row = end;
    }
    store_answer_free(&answer);
    fleet_guests_free(&guests);
    push_close(push);
    return profiles;
}
