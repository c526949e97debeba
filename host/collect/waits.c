/* SPDX-License-Identifier: Apache-2.0 */
/* Objects are kept by the low bits of their numbers, so that a guest cannot
 * make us keep many: one that takes the place of another ends its wait, which
 * is counted as refused. */

#include "collect/waits.h"

#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>

static struct wait_object *slot_of(struct waits *waits, uint32_t number)
{
    if (waits->objects == NULL) {
        waits->objects =
            xreallocarray(NULL, WAITS_OBJECTS, sizeof *waits->objects);
        for (unsigned i = 0; i < WAITS_OBJECTS; ++i)
            waits->objects[i] = (struct wait_object){0};
    }
    return &waits->objects[number % WAITS_OBJECTS];
}

/* The object with (number), which may be new; NULL: it is none. */
static struct wait_object *object_of(struct waits *waits, uint32_t number)
{
    struct wait_object *object;

    if (number == 0 || number == EVENT_UNKNOWN_OBJECT)
        return NULL;
    object = slot_of(waits, number);
    if (object->number != number) {
        waits->refused += object->since != 0;
        *object = (struct wait_object){.number = number};
    }
    return object;
}

static void create(struct waits *waits, uint32_t number, uint16_t site)
{
    struct wait_object *object = object_of(waits, number);

    if (object != NULL)
        object->site = site;
}

static void end_wait(struct waits *waits, uint32_t number, uint64_t time)
{
    struct wait_object *object = object_of(waits, number);
    struct wait_sum **sums =
        waits->is_later ? &waits->later_sums : &waits->sums;
    struct index *keys = waits->is_later ? &waits->later_keys : &waits->keys;
    struct wait_sum fresh = {0}, *sum;
    uint32_t key;

    if (object == NULL || object->since == 0)
        return;
    fresh.site = object->site;
    fresh.why = object->why;
    key = index_find(keys, index_pair(fresh.site, fresh.why));
    if (key == INDEX_NONE && keys->count < WAITS_SUMS_MAX)
        key = index_add_row(keys, index_pair(fresh.site, fresh.why), sums,
                            &fresh, sizeof fresh);
    if (key != INDEX_NONE) {
        sum = &(*sums)[key];
        ++sum->count;
        sum->clocks =
            checked_add(sum->clocks, checked_sub(time, object->since));
    } else {
        ++waits->refused;
    }
    object->since = 0;
}

static void end_object(struct waits *waits, uint32_t number, uint64_t time)
{
    struct wait_object *object;

    end_wait(waits, number, time);
    object = object_of(waits, number);
    if (object != NULL)
        *object = (struct wait_object){0};
}

/* Names that come again are the same. */
static void define(struct waits *waits, uint16_t number, uint32_t line,
                   const char *text)
{
    struct wait_name name = {.line = line};

    if (index_find(&waits->name_numbers, number) != INDEX_NONE)
        return;
    if (waits->name_numbers.count >= WAITS_NAMES_MAX) {
        ++waits->refused;
        return;
    }
    name.text = strings_put(&waits->strings, text);
    index_add_row(&waits->name_numbers, number, &waits->names, &name,
                  sizeof name);
}

static void suspend(struct waits *waits, uint32_t current, uint16_t why,
                    uint64_t time)
{
    struct wait_object *object = object_of(waits, current);

    if (object == NULL)
        return;
    object->why = why;
    object->since = time + (time == 0);
}

void rollup_waits_take(struct waits *waits, uint32_t *current,
                       const struct event *event)
{
    switch (event->kind) {
    case PROF_EVENT_CREATE:
        create(waits, event->as_create.object, event->as_create.site);
        break;
    case PROF_EVENT_ALIVE:
        if (event->as_alive.ended == 0)
            create(waits, event->as_alive.object, event->as_alive.site);
        break;
    case PROF_EVENT_SWITCH:
        *current = event->as_switch.task;
        end_wait(waits, *current, event->time);
        break;
    case PROF_EVENT_SUSPEND:
        suspend(waits, *current, event->as_suspend.why, event->time);
        break;
    case PROF_EVENT_SUSPEND_STACK:
        suspend(waits, *current, event->as_suspend_stack.why, event->time);
        break;
    case PROF_EVENT_WAKE:
        end_wait(waits, event->as_wake.object, event->time);
        break;
    case PROF_EVENT_RESOLVE:
        end_object(waits, event->as_resolve.object, event->time);
        break;
    case PROF_EVENT_FAIL:
        end_object(waits, event->as_fail.object, event->time);
        break;
    case PROF_EVENT_CANCEL:
        end_object(waits, event->as_cancel.object, event->time);
        break;
    case PROF_EVENT_GONE:
        end_object(waits, event->as_gone.object, event->time);
        break;
    case PROF_EVENT_NAME:
        define(waits, event->as_name.number, 0, event->as_name.text);
        break;
    case PROF_EVENT_SITE:
        define(waits, event->as_site.number, event->as_site.line,
               event->as_site.text);
        break;
    case PROF_EVENT_LOST:
        rollup_waits_lose(waits);
        break;
    default:
        break;
    }
}

void rollup_waits_lose(struct waits *waits)
{
    if (waits->objects == NULL)
        return;
    for (unsigned i = 0; i < WAITS_OBJECTS; ++i)
        waits->objects[i].since = 0;
}

const struct wait_name *rollup_waits_name(const struct waits *waits,
                                          uint16_t number)
{
    uint32_t found = index_find(&waits->name_numbers, number);

    return found != INDEX_NONE ? &waits->names[found] : NULL;
}

void rollup_waits_clear(struct waits *waits)
{
    index_free(&waits->keys);
    free(waits->sums);
    waits->keys = waits->later_keys;
    waits->sums = waits->later_sums;
    waits->later_keys = (struct index){0};
    waits->later_sums = NULL;
}

size_t rollup_waits_bytes(const struct waits *waits)
{
    return (waits->objects != NULL ? WAITS_OBJECTS * sizeof *waits->objects
                                   : 0) +
           (waits->keys.room + waits->later_keys.room +
            waits->name_numbers.room) *
               sizeof(struct index_slot) +
           (waits->keys.count + waits->later_keys.count) * sizeof *waits->sums +
           waits->name_numbers.count * sizeof *waits->names;
}

void rollup_waits_free(struct waits *waits)
{
    rollup_waits_clear(waits);
    rollup_waits_clear(waits); /* the later ones */
    free(waits->objects);
    free(waits->names);
    index_free(&waits->name_numbers);
    strings_free(&waits->strings);
    *waits = (struct waits){0};
}
