/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parasite script: each sample with its stack, and each other event.
 *
 * The packets are read twice: a node may be defined after the first sample that
 * names it. Both readings number nodes alike.
 */

#include "base/log.h"
#include "base/number.h"
#include "base/pager.h"
#include "base/printable.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/script_objects.h"
#include "profile/view.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stdio.h>

struct script {
    struct view view;
    const struct tasks *tasks;
    struct script_actor actor;
    uint64_t printed;
    uint32_t losses; /* that come before the next line */
    bool begun;
};

static const char help_text[] =
    "Print every sample with its call stack, and other events."
    "\vFor example:\n  parasite script --time 1,1.5 x.trace";

static const struct argp_option options[] = {{0}};

static error_t parse(int key, char *word, struct argp_state *state)
{
    (void)word;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

/* A line that begins with (who), at (time). */
static void print_at(const struct script *script, const char *who,
                     uint64_t time, uint16_t cpu, const char *name,
                     const char *detail)
{
    time -= script->view.model.begin;
    printable_put(stdout, who);
    printf(" %" PRIu64 ".%07u [%03u] %s:%s", time / PROF_CLOCK_HZ,
           (unsigned)(time % PROF_CLOCK_HZ), (unsigned)cpu, name,
           *detail != '\0' ? " " : "");
    printable_put(stdout, detail);
    putchar('\n');
}

static void print_as(const struct script *script, const char *who,
                     const struct event *event, const struct model_cpu *cpu,
                     const char *detail)
{
    bool is_idle = event->kind == PROF_EVENT_IDLE; /* a sample as any other */

    print_at(script, who, event->time, cpu->cpu,
             event_name(is_idle ? PROF_EVENT_SAMPLE : event->kind), detail);
}

/* What came before the trace. */
static void print_beginning(const struct script *script, uint64_t time)
{
    const struct tasks *tasks = script->tasks;
    char text[TASKS_TEXT_MAX], events[NUMBER_TEXT_MAX];

    for (size_t i = 0; i < tasks->cpu_count; ++i) {
        if (tasks->cpus[i].before == 0)
            continue;
        snprintf(text, sizeof text, "%s events before the trace",
                 number_count(tasks->cpus[i].before, events));
        print_at(script, "[unknown]", time, tasks->cpus[i].cpu, "lost", text);
    }
}

/* Packets that are missing before (time). What the guest itself has lost is an
 * event. */
static void print_missing(struct script *script, uint64_t time)
{
    const struct tasks *tasks = script->tasks;
    char text[TASKS_TEXT_MAX];

    if (!script->begun)
        print_beginning(script, time);
    script->begun = true;
    for (; script->losses < tasks->loss_count; ++script->losses) {
        const struct tasks_loss *loss = &tasks->losses[script->losses];

        if (loss->to > time)
            return;
        if (loss->packets > 0 && loss->to >= script->view.model.from)
            print_at(script, "[unknown]", loss->to, loss->cpu, "lost",
                     tasks_loss_text(loss, text));
    }
}

/* The line before a sample's stack; other events are one line. */
static void print_line(struct script *script, const struct event *event,
                       const struct model_cpu *cpu, const char *detail)
{
    struct view *view = &script->view;

    print_as(script, names_text(&view->names, view_task(view, cpu->task)),
             event, cpu, detail);
}

/* An event of objects, if it is one, after the object that does it. */
static void print_object(struct script *script, const struct event *event,
                         const struct model_cpu *cpu)
{
    char who[TASKS_TEXT_MAX], detail[SCRIPT_DETAIL_MAX];

    if (!script_detail(script->tasks, event, detail) ||
        (script->view.has_cpu && script->view.cpu != cpu->cpu))
        return;
    script_actor(&script->actor, script->tasks, event, cpu, who);
    print_as(script, who, event, cpu, detail);
    ++script->printed;
}

static void print_amount(struct script *script, const struct event *event,
                         const struct model_cpu *cpu, uint64_t amount,
                         const char *unit)
{
    char detail[64];

    snprintf(detail, sizeof detail, "%" PRIu64 " %s", amount, unit);
    print_line(script, event, cpu, detail);
}

static void print_frames(struct view *view, const struct frame *frames,
                         size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const char *line = names_text(&view->names, frames[i].line);

        putchar('\t');
        printable_put(stdout, names_text(&view->names, frames[i].function));
        fputs(*line != '\0' ? " (" : "", stdout);
        printable_put(stdout, line);
        puts(*line != '\0' ? ")" : "");
    }
    putchar('\n');
}

static void print_sample(struct script *script, const struct event *event,
                         uint32_t node, uint64_t clocks,
                         const struct model_cpu *cpu)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    size_t count = view_frames(&script->view, node, frames);

    if (!view_wants(&script->view, cpu->task, cpu->cpu, frames, count))
        return;
    print_amount(script, event, cpu, clocks * (1000000000u / PROF_CLOCK_HZ),
                 "ns");
    print_frames(&script->view, frames, count);
    ++script->printed;
}

static void print_start(struct script *script, const struct event *event,
                        const struct model_cpu *cpu)
{
    char rate[NUMBER_TEXT_MAX];

    print_line(script, event, cpu, number_hz(event->as_start.rate_mhz, rate));
}

static void print_bye(struct script *script, const struct event *event,
                      const struct model_cpu *cpu)
{
    char detail[32];

    snprintf(detail, sizeof detail, "exit code %u",
             (unsigned)event->as_bye.code);
    print_line(script, event, cpu, detail);
}

/* ---- the event loop */

/* That (task) has held the loop for (cycles) of the TSC. */
static void print_hold(struct script *script, const struct event *event,
                       uint32_t task, uint64_t cycles,
                       const struct model_cpu *cpu)
{
    uint64_t hz = script->view.model.hello.tsc_hz;
    char who[TASKS_TEXT_MAX], detail[64];

    tasks_title(script->tasks, tasks_object(script->tasks, task), who);
    snprintf(detail, sizeof detail, "%.3f ms",
             hz > 0 ? (double)cycles * 1000.0 / (double)hz : 0);
    print_as(script, task != 0 ? who : "[no task]", event, cpu, detail);
    ++script->printed;
}

/* The functions that were running when the guard reported it. */
static void print_freeze(struct script *script, const struct event *event,
                         const struct model_cpu *cpu)
{
    const struct event_loop_freeze *freeze = &event->as_loop_freeze;
    const uint64_t stack[] = {freeze->address_0, freeze->address_1,
                              freeze->address_2, freeze->address_3,
                              freeze->address_4, freeze->address_5,
                              freeze->address_6, freeze->address_7};
    struct names *names = &script->view.names;

    print_hold(script, event, freeze->task, freeze->held, cpu);
    for (size_t i = 0; i < sizeof stack / sizeof *stack && stack[i] != 0; ++i) {
        size_t count;
        const struct frame *frame = names_at(names, stack[i], i > 0, &count);

        putchar('\t');
        printable_put(stdout, names_text(names, frame[count - 1].function));
        putchar('\n');
    }
    putchar('\n');
}

static void print_event(void *owner, const struct event *event, uint32_t node,
                        uint64_t clocks, const struct model_cpu *cpu)
{
    struct script *script = owner;

    print_missing(script, event->time);
    switch (event->kind) {
    case PROF_EVENT_START:
        print_start(script, event, cpu);
        break;
    case PROF_EVENT_STOP:
        print_line(script, event, cpu, "");
        break;
    case PROF_EVENT_MISS:
        print_amount(script, event, cpu, event->as_miss.ticks, "ticks");
        break;
    case PROF_EVENT_STOLEN:
        print_amount(script, event, cpu,
                     event->as_stolen.clocks / (PROF_CLOCK_HZ / 1000000), "us");
        break;
    case PROF_EVENT_STOPPED_WALK:
        print_amount(script, event, cpu, event->as_stopped_walk.samples,
                     "samples");
        break;
    case PROF_EVENT_BYE:
        print_bye(script, event, cpu);
        break;
    case PROF_EVENT_SAMPLE:
    case PROF_EVENT_IDLE:
    case PROF_EVENT_OVERFLOW:
    case PROF_EVENT_DROP:
        print_sample(script, event, node, clocks, cpu);
        break;
    case PROF_EVENT_LOOP_FREEZE:
        print_freeze(script, event, cpu);
        break;
    case PROF_EVENT_LOOP_HELD:
        print_hold(script, event, event->as_loop_held.task,
                   event->as_loop_held.own, cpu);
        break;
    default:
        print_object(script, event, cpu);
        break;
    }
}

int command_script(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&view_argp, 0, NULL, 0},
        {0},
    };
    static const struct argp argp = {options,  parse, "[TRACE]", help_text,
                                     children, 0,     0};
    static struct script script = {.view = {.input = "x.trace", .lines = true}};
    struct view *view = &script.view;
    struct model again = {.watch = {print_event, &script}};

    arguments_parse(&argp, argc, argv, view);
    view_read(view, true);
    view_open_names(view);
    script.tasks = view->tasks;
    again.from = view->model.from;
    again.to = view->model.to;
    pager_start();
    trace_feed(&view->trace, &again);
    model_free(&again);
    if (script.printed == 0)
        die("%s: %s", view->input, view_why_empty(view));
    view_close(view);
    return STATUS_OK;
}
