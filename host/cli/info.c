/* SPDX-License-Identifier: Apache-2.0 */
/* parasite info: the contents of a trace, what was lost, and with --check
 * whether what it says can be true. */

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "image/find.h"
#include "report/report.h"
#include "tasks/tasks.h"
#include "trace/metadata.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
           number_count(tasks_real_objects(&check->tasks), objects),
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

static void print_check_json(const struct check *check)
{
    json_t *all = json_object();

    json_set(all, "events", json_count(check->tasks.events));
    json_set(all, "objects", json_count(tasks_real_objects(&check->tasks)));
    json_set(all, "packets", json_count(check->trace->index.count));
    json_set(all, "unchecked", json_count(check->tasks.unkept));
    json_set(all, "problem_count", json_count(check->problems));
    json_set(all, "problems", problems_json(check));
    json_set(all, "losses", losses_json(check));
    json_print(all, stdout);
}

static int check_trace(const struct trace *trace, bool json)
{
    static struct check check;

    check.trace = trace;
    tasks_read(&check.tasks, trace);
    for (int i = 0; i < TASKS_PROBLEM_KINDS; ++i)
        check.problems += check.tasks.problem_counts[i];
    if (json) {
        print_check_json(&check);
    } else {
        print_problems(&check);
        print_losses(&check);
        print_sum(&check);
    }
    tasks_free(&check.tasks);
    return check.problems > 0 ? STATUS_DATA : STATUS_OK;
}

/* ---- the contents */

static struct {
    const char *input;
    bool json;
    bool check;
} request = {.input = "x.trace"};

static const char help_text[] = "Show what a trace contains and what was lost."
                                "\vFor example:\n  parasite info x.trace\n"
                                "  parasite info --json x.trace | jq .samples\n"
                                "  parasite info --check x.trace";

static const struct argument options[] = {
    {"json", 'j', NULL, "print JSON", .flag = &request.json},
    {"check", 0, NULL,
     "instead: whether what it says can be true, and where events are missing; "
     "the exit status is 1 if not",
     .flag = &request.check},
    {0},
};

static const struct command_line line = {options, "[TRACE]", help_text,
                                         .trace = &request.input};

/* One line, or one member, in the order of the output. */
struct fact {
    const char *name;
    const char *text; /* NULL = a number */
    uint64_t number;
};

static uint64_t clocks_ns(uint64_t clocks)
{
    return clocks * (1000000000u / PROF_CLOCK_HZ);
}

static void print_json(const struct fact *facts, size_t count,
                       const struct model *model)
{
    json_t *all = json_object();

    for (size_t i = 0; i < count; ++i)
        json_set(all, facts[i].name,
                 facts[i].text != NULL
                     ? json_text(facts[i].text)
                     : json_integer((json_int_t)facts[i].number));
    json_set(all, "hz", json_real(model->rate_mhz / 1000.0));
    json_set(all, "cpus", report_cpus_json(model));
    json_print(all, stdout);
}

static void print_text(const struct fact *facts, size_t count,
                       const struct model *model)
{
    char number[NUMBER_TEXT_MAX];

    for (size_t i = 0; i < count; ++i) {
        printf("%-16s ", facts[i].name);
        printable_put(stdout, facts[i].text != NULL
                                  ? facts[i].text
                                  : number_count(facts[i].number, number));
        putchar('\n');
    }
    printf("%-16s %g\n", "hz", model->rate_mhz / 1000.0);
    report_print_cpus(model, "");
}

static const char *time_text(uint64_t seconds, char *text, size_t room)
{
    time_t when = (time_t)seconds;
    struct tm parts;

    if (seconds == 0 || gmtime_r(&when, &parts) == NULL)
        return "unknown";
    strftime(text, room, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

static uint64_t stopped(const struct model *model)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < 8; ++i)
        sum += model->stopped_walks[i];
    return sum;
}

static void print_info(const struct trace *trace, const struct model *model,
                       bool json)
{
    char build_id[65], booted[32];
    struct image image;
    enum image_from from =
        image_find(&image, trace, &model->hello, NULL, false);
    const struct fact facts[] = {
        {"path", trace->path, 0},
        {"image", trace->image != NULL ? trace->image : "", 0},
        {"symbols", image_from_text(from), 0},
        {"symbols_path",
         from == IMAGE_FROM_TRACE     ? trace->path
         : from != IMAGE_FROM_NOWHERE ? image.path
                                      : "",
         0},
        {"build_id", build_id, 0},
        {"arch", metadata_arch(&model->hello), 0},
        {"boot", time_text(model->hello.unix_seconds, booted, sizeof booted),
         0},
        {"samples", NULL, model_samples(model)},
        {"lost", NULL, model_lost(model)},
        {"stacks", NULL, model->stacks.samples},
        {"idle", NULL, model->idle.samples},
        {"overflowed", NULL, model->overflowed.samples},
        {"dropped", NULL, model->dropped.samples},
        {"discarded", NULL, model->discarded},
        {"missed_ticks", NULL, model->missed_ticks},
        {"stolen_ns", NULL, clocks_ns(model->stolen_clocks)},
        {"stopped_walks", NULL, stopped(model)},
        {"duration_ns", NULL, clocks_ns(model->end - model->begin)},
        {"sampled_ns", NULL,
         clocks_ns(model->stacks.clocks + model->idle.clocks +
                   model->overflowed.clocks)},
        {"nodes", NULL, model_nodes(model) - MODEL_PSEUDOS},
        {"depth", NULL, model->depth},
        {"events", NULL, model->events},
        {"packets", NULL, model->packets},
        {"lost_events", NULL, model->lost_events},
        {"missing_packets", NULL, model->missing_packets},
        {"unread_packets", NULL, model->unread_packets},
        {"unkept_samples", NULL, model->unkept_samples},
        {"garbage_bytes", NULL, trace->garbage},
        {"bytes", NULL, trace->index.bytes},
        {"tsc_hz", NULL, model->hello.tsc_hz},
        {"ended", NULL, model->ended},
        {"exit_code", NULL, model->code},
    };

    metadata_build_id(&model->hello, build_id);
    (json ? print_json : print_text)(facts, sizeof facts / sizeof facts[0],
                                     model);
    image_close(&image);
}

int command_info(int argc, char **argv)
{
    struct trace trace;
    struct model model = {0};
    int status = STATUS_OK;

    arguments_parse(&line, argc, argv);
    trace_open(&trace, request.input);
    if (request.check) {
        status = check_trace(&trace, request.json);
    } else {
        trace_feed(&trace, &model);
        print_info(&trace, &model, request.json);
    }
    model_free(&model);
    trace_close(&trace);
    return status;
}
