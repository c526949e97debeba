/* SPDX-License-Identifier: Apache-2.0 */
/* parasite info --check: whether what a trace says can be true. */

#include "cli/check.h"

#include "base/json_text.h"
#include "base/log.h"
#include "base/number.h"
#include "base/printable.h"
#include "tasks/tasks.h"

#include <inttypes.h>
#include <stdio.h>

struct check {
    const struct trace *trace;
    struct tasks tasks;
    uint64_t problems; /* also those that tasks has not kept */
};

static double seconds(const struct check *check, uint64_t time)
{
    uint64_t begin = check->tasks.begin;

    return (double)(time > begin ? time - begin : 0) / PROF_CLOCK_HZ;
}

static void print_place(const struct check *check,
                        const struct tasks_place *place)
{
    printf("CPU %u, packet %u, event %u, at %.7f s: ", (unsigned)place->cpu,
           (unsigned)place->packet, (unsigned)place->event,
           seconds(check, place->time));
}

static void print_problems(const struct check *check)
{
    const struct tasks *tasks = &check->tasks;
    char text[TASKS_TEXT_MAX];

    for (uint32_t i = 0; i < tasks->problem_count; ++i) {
        print_place(check, &tasks->problems[i].place);
        printable_put(stdout,
                      tasks_problem_text(tasks, &tasks->problems[i], text));
        putchar('\n');
    }
    if (check->problems > tasks->problem_count)
        printf("and %" PRIu64 " more\n",
               check->problems - tasks->problem_count);
}

/* A reader that has joined late. */
static void print_beginnings(const struct check *check)
{
    char events[NUMBER_TEXT_MAX];

    for (size_t i = 0; i < check->tasks.cpu_count; ++i) {
        const struct tasks_cpu *cpu = &check->tasks.cpus[i];

        if (cpu->before > 0)
            printf("CPU %u: the trace begins after %s events\n",
                   (unsigned)cpu->cpu, number_count(cpu->before, events));
    }
}

static void print_losses(const struct check *check)
{
    char text[TASKS_TEXT_MAX];

    print_beginnings(check);
    for (uint32_t i = 0; i < check->tasks.loss_count; ++i) {
        const struct tasks_loss *loss = &check->tasks.losses[i];

        printf("lost: CPU %u, from %.7f to %.7f s: %s\n", (unsigned)loss->cpu,
               seconds(check, loss->from), seconds(check, loss->to),
               tasks_loss_text(loss, text));
    }
}

static void print_sum(const struct check *check)
{
    char events[NUMBER_TEXT_MAX], objects[NUMBER_TEXT_MAX],
        packets[NUMBER_TEXT_MAX];

    printf("checked %s events of %s objects in %s packets: %" PRIu64
           " problems, %u losses\n",
           number_count(check->tasks.events, events),
           number_count(tasks_objects(&check->tasks) - TASKS_SPECIAL, objects),
           number_count(check->trace->index.count, packets), check->problems,
           (unsigned)check->tasks.loss_count);
    if (check->tasks.unkept > 0)
        printf("%" PRIu64 " events are beyond a limit and were not checked\n",
               check->tasks.unkept);
}

static json_t *problems_json(const struct check *check)
{
    json_t *all = json_array();
    char text[TASKS_TEXT_MAX];

    for (uint32_t i = 0; i < check->tasks.problem_count; ++i) {
        const struct tasks_problem *problem = &check->tasks.problems[i];
        json_t *one = json_object();

        json_set(one, "cpu", json_count(problem->place.cpu));
        json_set(one, "packet", json_count(problem->place.packet));
        json_set(one, "event", json_count(problem->place.event));
        json_set(one, "seconds",
                 json_real(seconds(check, problem->place.time)));
        json_set(one, "problem",
                 json_text(tasks_problem_text(&check->tasks, problem, text)));
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *losses_json(const struct check *check)
{
    json_t *all = json_array();

    for (uint32_t i = 0; i < check->tasks.loss_count; ++i) {
        const struct tasks_loss *loss = &check->tasks.losses[i];
        json_t *one = json_object();

        json_set(one, "cpu", json_count(loss->cpu));
        json_set(one, "from", json_real(seconds(check, loss->from)));
        json_set(one, "to", json_real(seconds(check, loss->to)));
        json_set(one, "events", json_count(loss->events));
        json_set(one, "packets", json_count(loss->packets));
        json_array_append_new(all, one);
    }
    return all;
}

static void print_json(const struct check *check)
{
    json_t *all = json_object();

    json_set(all, "events", json_count(check->tasks.events));
    json_set(all, "objects",
             json_count(tasks_objects(&check->tasks) - TASKS_SPECIAL));
    json_set(all, "packets", json_count(check->trace->index.count));
    json_set(all, "unchecked", json_count(check->tasks.unkept));
    json_set(all, "problem_count", json_count(check->problems));
    json_set(all, "problems", problems_json(check));
    json_set(all, "losses", losses_json(check));
    json_print(all, stdout);
}

int check_trace(const struct trace *trace, bool json)
{
    static struct check check;

    check.trace = trace;
    tasks_read(&check.tasks, trace);
    for (int i = 0; i < TASKS_PROBLEM_KINDS; ++i)
        check.problems += check.tasks.problem_counts[i];
    if (json) {
        print_json(&check);
    } else {
        print_problems(&check);
        print_losses(&check);
        print_sum(&check);
    }
    tasks_free(&check.tasks);
    return check.problems > 0 ? STATUS_DATA : STATUS_OK;
}
