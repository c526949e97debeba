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

    json_object_set_new(object, "site",
                        json_text(guest_names_text(names, site->name)));
    json_object_set_new(object, "file",
                        json_text(guest_names_file(names, site->name)));
    json_object_set_new(object, "line",
                        json_count(guest_names_line(names, site->name)));
    json_object_set_new(object, "kind", json_text(tasks_kind_word(site->kind)));
    json_object_set_new(object, "count", json_count(site->objects));
    for (uint8_t i = TASKS_OPEN; i <= TASKS_LOST; ++i)
        json_object_set_new(object, tasks_end_word(i),
                            json_count(site->ends[i]));
    json_object_set_new(object, "runs", json_count(site->runs));
    json_object_set_new(object, "pending_ns", ns(site->clocks[TASKS_PENDING]));
    json_object_set_new(object, "running_ns", ns(site->clocks[TASKS_RUNNING]));
    json_object_set_new(object, "paused_ns", ns(site->clocks[TASKS_PAUSED]));
    json_object_set_new(object, "waiting_ns", ns(site->clocks[TASKS_WAITING]));
    json_object_set_new(object, "ready_ns", ns(site->clocks[TASKS_READY]));
    json_object_set_new(object, "unknown_ns", ns(site->clocks[TASKS_UNKNOWN]));
    json_object_set_new(object, "longest_run_ns", ns(site->longest_run));
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
    json_t *all = json_array();
    char title[TASKS_TEXT_MAX];

    for (uint32_t i = TASKS_SPECIAL; i < tasks_objects(tasks); ++i) {
        const struct tasks_object *about = &tasks->objects[i];
        json_t *object, *others;

        if (!tasks_is_open(tasks, i))
            continue;
        object = json_object();
        others = json_array();
        json_object_set_new(object, "object", json_count(about->id));
        json_object_set_new(object, "title",
                            json_text(tasks_title(tasks, i, title)));
        json_object_set_new(object, "state",
                            json_text(tasks_state_word(about->state)));
        json_object_set_new(object, "ns", ns(tasks->end - about->begin));
        for (; at < count && waits[at].object <= i; ++at) {
            if (waits[at].object == i)
                json_array_append_new(
                    others, json_count(tasks->objects[waits[at].other].id));
        }
        json_object_set_new(object, "waits_for", others);
        json_array_append_new(all, object);
    }
    free(waits);
    return all;
}

void tasks_print_json(const struct tasks *tasks)
{
    json_t *all = json_object();
    char missing[TASKS_TEXT_MAX];

    json_object_set_new(all, "events", json_count(tasks->events));
    json_object_set_new(all, "objects",
                        json_count(tasks_objects(tasks) - TASKS_SPECIAL));
    json_object_set_new(all, "losses", json_count(tasks->loss_count));
    tasks_missing_text(tasks, missing);
    json_object_set_new(all, "missing", json_text(missing));
    json_object_set_new(all, "ns", ns(tasks->end - tasks->begin));
    json_object_set_new(all, "idle_ns",
                        ns(tasks->objects[TASKS_LOOP].clocks[TASKS_WAITING]));
    json_object_set_new(all, "sites", sites_json(tasks));
    json_object_set_new(all, "open", open_json(tasks));
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    putchar('\n');
    json_decref(all);
}
