/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The beginning and the end of tasks. Those of a site that are pending are a
 * list in the order of their creation: its head is the oldest.
 */

#include "loop/loop.h"

static void link(struct prof_loop_site *site, struct prof_loop_task *task)
{
    task->newer = NULL;
    task->older = site->newest;
    if (site->newest != NULL)
        site->newest->newer = task;
    else
        site->oldest = task;
    site->newest = task;
    site->pending++;
}

static void unlink(struct prof_loop_site *site, struct prof_loop_task *task)
{
    if (task->older != NULL)
        task->older->newer = task->newer;
    else
        site->oldest = task->newer;
    if (task->newer != NULL)
        task->newer->older = task->older;
    else
        site->newest = task->older;
    site->pending--;
}

void prof_loop_put_create(struct prof_loop_task *task,
                          struct prof_trace_name *name, uint32_t object)
{
    struct prof_loop_site *site = prof_loop_site_of(name, PROF_LOOP_TASKS);
    struct prof_loop_node *creator = prof_loop_state.top->node;

    if (creator->site->kind != PROF_LOOP_TASKS &&
        creator->site->kind != PROF_LOOP_CALLBACKS &&
        creator->site->kind != PROF_LOOP_OTHERS)
        creator = NULL;
    task->frame.site = site;
    task->frame.node = prof_loop_node_of(creator, site);
    task->frame.node->calls++;
    site->calls++;
    task->frame.object = object;
    prof_loop_set_not_ready(task);
    task->created = prof_loop_tsc();
    link(site, task);
}

void prof_loop_put_adopt(struct prof_loop_task *task,
                         const struct prof_loop_task *parent)
{
    task->frame.node = prof_loop_node_of(
        parent != NULL ? parent->frame.node : NULL, task->frame.node->site);
}

void prof_loop_put_end(struct prof_loop_task *task, enum prof_loop_end how)
{
    struct prof_loop_site *site = task->frame.node->site;
    uint64_t wall = prof_loop_tsc() - task->created;

    site->ends[how]++;
    site->wall_cycles += wall;
    prof_histograms_add(&site->histograms, PROF_LOOP_WALL, wall);
    unlink(site, task);
}
