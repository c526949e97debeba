/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parasite script: each sample with its stack.
 *
 * The packets are read twice: a node may be defined after the first sample that
 * names it. Both readings number nodes alike.
 */

#include "base/log.h"
#include "cli/commands.h"
#include "profile/view.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stdio.h>

static const char help_text[] =
    "Print each sample, and what else happened."
    "\vFor example:\n  parasite script -i x.trace --time 1,1.5";

static const struct argp_option options[] = {{0}};

static error_t parse(int key, char *word, struct argp_state *state)
{
    (void)word;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

/* The line before a sample's stack; other events are one line. */
static void print_line(struct view *view, const struct event *event,
                       const struct model_cpu *cpu, const char *unit,
                       uint64_t amount)
{
    uint64_t time = event->time - view->model.begin;
    bool is_idle = event->kind == PROF_EVENT_IDLE; /* a sample as any other */
    const char *name = event_name(is_idle ? PROF_EVENT_SAMPLE : event->kind);

    printf("%s %" PRIu64 ".%07u [%03u] %s: %" PRIu64 " %s\n",
           names_text(&view->names, view_task(view, cpu->task)),
           time / PROF_CLOCK_HZ, (unsigned)(time % PROF_CLOCK_HZ),
           (unsigned)cpu->cpu, name, amount, unit);
}

static void print_frames(struct view *view, const struct frame *frames,
                         size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const char *line = names_text(&view->names, frames[i].line);

        printf("\t%s%s%s%s\n", names_text(&view->names, frames[i].function),
               *line != '\0' ? " (" : "", line, *line != '\0' ? ")" : "");
    }
    putchar('\n');
}

static void print_sample(struct view *view, const struct event *event,
                         uint32_t node, uint64_t clocks,
                         const struct model_cpu *cpu)
{
    static struct frame frames[VIEW_FRAMES_MAX];
    size_t count = view_frames(view, node, frames);

    if (!view_wants(view, cpu->task, cpu->cpu, frames, count))
        return;
    print_line(view, event, cpu, "ns", clocks * (1000000000u / PROF_CLOCK_HZ));
    print_frames(view, frames, count);
}

static void print_event(void *owner, const struct event *event, uint32_t node,
                        uint64_t clocks, const struct model_cpu *cpu)
{
    struct view *view = owner;

    switch (event->kind) {
    case PROF_EVENT_START:
        print_line(view, event, cpu, "mHz", event->as_start.rate_mhz);
        break;
    case PROF_EVENT_STOP:
        print_line(view, event, cpu, "", 0);
        break;
    case PROF_EVENT_MISS:
        print_line(view, event, cpu, "ticks", event->as_miss.ticks);
        break;
    case PROF_EVENT_STOLEN:
        print_line(view, event, cpu, "us",
                   event->as_stolen.clocks / (PROF_CLOCK_HZ / 1000000));
        break;
    case PROF_EVENT_STOPPED_WALK:
        print_line(view, event, cpu, "samples", event->as_stopped_walk.samples);
        break;
    case PROF_EVENT_BYE:
        print_line(view, event, cpu, "is the exit code", event->as_bye.code);
        break;
    case PROF_EVENT_SAMPLE:
    case PROF_EVENT_IDLE:
    case PROF_EVENT_OVERFLOW:
    case PROF_EVENT_DROP:
        print_sample(view, event, node, clocks, cpu);
        break;
    default:
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
    static struct view view = {.input = "x.trace", .lines = true};
    struct model again = {.watch = {print_event, &view}};

    argp_parse(&argp, argc, argv, 0, NULL, &view);
    view_open(&view);
    again.from = view.model.from;
    again.to = view.model.to;
    trace_feed(&view.trace, &again);
    model_free(&again);
    view_close(&view);
    return STATUS_OK;
}
