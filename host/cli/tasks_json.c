/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of tasks, as JSON. */

#include "base/json_text.h"
#include "cli/tasks_print.h"

#include <prof/format.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *ns(uint64_t clocks)
{
    return json_count(clocks * (1000000000u / PROF_CLOCK_HZ));
}

static json_t *site_json(const struct tasks *tasks,
                         const struct tasks_site *site)
{
    const struct guest_names *names = &tasks->names;
    json_t *object = json_object();

    json_set(object, "site", json_text(guest_names_text(names, site->name)));
    json_set(object, "file", json_text(guest_names_file(names, site->name)));
    json_set(object, "line", json_count(guest_names_line(names, site->name)));
    json_set(object, "kind", json_text(tasks_kind_word(site->kind)));
    json_set(object, "count", json_count(site->objects));
    for (uint8_t i = TASKS_OPEN; i < TASKS_ENDS; ++i)
        json_set(object, tasks_end_word(i), json_count(site->ends[i]));
    json_set(object, "runs", json_count(site->runs));
    json_set(object, "pending_ns", ns(site->clocks[TASKS_PENDING]));
    json_set(object, "running_ns", ns(site->clocks[TASKS_RUNNING]));
    json_set(object, "paused_ns", ns(site->clocks[TASKS_PAUSED]));
    json_set(object, "waiting_ns", ns(site->clocks[TASKS_WAITING]));
    json_set(object, "ready_ns", ns(site->clocks[TASKS_READY]));
    json_set(object, "unknown_ns", ns(site->clocks[TASKS_UNKNOWN]));
    json_set(object, "longest_run_ns", ns(site->longest_run));
    return object;
}

static json_t *sites_json(const struct tasks *tasks)
{
    struct tasks_sites sites = {0};
    json_t *all = json_array();

    tasks_sites_add(&sites, tasks);
    for (uint32_t i = 0; i < tasks_sites_count(&sites); ++i)
        json_array_append_new(all, site_json(tasks, &sites.sites[i]));
    tasks_sites_free(&sites);
    return all;
}

/* Numbers of objects are the guest's. */
static json_t *open_json(const struct tasks *tasks)
{
    uint32_t count, at = 0;
    struct tasks_wait *waits = tasks_waits(tasks, &count);
    bool *waited_for = tasks_waited_for(tasks, waits, count);
    json_t *all = json_array();
    char title[TASKS_TEXT_MAX];

    for (uint32_t i = TASKS_SPECIAL; i < tasks_objects(tasks); ++i) {
        const struct tasks_object *about = &tasks->objects[i];
        json_t *object, *others;

        if (!tasks_is_open(tasks, i))
            continue;
        object = json_object();
        others = json_array();
        json_set(object, "object", json_count(about->id));
        json_set(object, "title", json_text(tasks_title(tasks, i, title)));
        json_set(object, "state", json_text(tasks_state_word(about->state)));
        json_set(object, "ns", ns(tasks->end - tasks_standing_since(tasks, i)));
        json_set(object, "age_ns",
                 ns(tasks->end > about->begin ? tasks->end - about->begin : 0));
        json_set(object, "rests",
                 json_boolean(tasks_rests(tasks, i, waited_for)));
        for (; at < count && waits[at].object <= i; ++at) {
            if (waits[at].object == i)
                json_array_append_new(
                    others, json_count(tasks->objects[waits[at].other].id));
        }
        json_set(object, "waits_for", others);
        json_array_append_new(all, object);
    }
    free(waits);
    free(waited_for);
    return all;
}

void tasks_print_json(const struct tasks *tasks)
{
    json_t *all = json_object();
    char missing[TASKS_TEXT_MAX];

    json_set(all, "events", json_count(tasks->events));
    json_set(all, "objects", json_count(tasks_objects(tasks) - TASKS_SPECIAL));
    json_set(all, "losses", json_count(tasks->loss_count));
    tasks_missing_text(tasks, missing);
    json_set(all, "missing", json_text(missing));
    json_set(all, "ns", ns(tasks->end - tasks->begin));
    json_set(all, "idle_ns",
             ns(tasks->objects[TASKS_LOOP].clocks[TASKS_WAITING]));
    json_set(all, "sites", sites_json(tasks));
    json_set(all, "open", open_json(tasks));
    json_print(all, stdout);
}
