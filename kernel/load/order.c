/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first numbers are a binary heap of what has something to do, the others
 * are of what has not.
 */

#include "order.h"

#include "load.h"

#define NEVER UINT64_MAX

static uint64_t times[LOAD_CLIENTS_MAX];
static uint16_t numbers[LOAD_CLIENTS_MAX];
static uint16_t places[LOAD_CLIENTS_MAX]; /* of a number */
static uint32_t all, busy;

void load_order_begin(uint32_t count)
{
    all = count;
    busy = 0;
    for (uint32_t i = 0; i < count; i++) {
        times[i] = NEVER;
        numbers[i] = places[i] = (uint16_t)i;
    }
}

static bool is_before(uint32_t place, uint32_t other)
{
    uint16_t a = numbers[place], b = numbers[other];

    return times[a] != times[b] ? times[a] < times[b] : a < b;
}

static void swap(uint32_t place, uint32_t other)
{
    uint16_t number = numbers[place];

    numbers[place] = numbers[other];
    numbers[other] = number;
    places[numbers[place]] = (uint16_t)place;
    places[numbers[other]] = (uint16_t)other;
}

static void move_up(uint32_t place)
{
    while (place != 0 && is_before(place, (place - 1) / 2)) {
        swap(place, (place - 1) / 2);
        place = (place - 1) / 2;
    }
}

static void move_down(uint32_t place)
{
    uint32_t child;

    while ((child = 2 * place + 1) < busy) {
        if (child + 1 < busy && is_before(child + 1, child))
            child++;
        if (!is_before(child, place))
            return;
        swap(place, child);
        place = child;
    }
}

void load_order_set(uint32_t number, uint64_t at)
{
    uint32_t place = places[number];

    if (times[number] == at)
        return;
    if (times[number] == NEVER) {
        swap(place, busy);
        place = busy++;
    }
    times[number] = at;
    if (at == NEVER) {
        swap(place, --busy);
        if (place == busy)
            return;
    }
    move_up(place);
    move_down(place);
}

uint64_t load_order_first(uint32_t *number)
{
    if (busy == 0)
        return NEVER;
    *number = numbers[0];
    return times[numbers[0]];
}

bool load_order_idle(uint32_t *number)
{
    if (busy == all)
        return false;
    *number = numbers[busy];
    return true;
}
