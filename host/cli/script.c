/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parasite script: each sample with its stack, and each other event.
 *
 * The packets are read twice: a node may be defined after the first sample that
 * names it. Both readings number nodes alike.
 */

#include "base/log.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "profile/view.h"
#include "tasks/tasks.h"

#include <inttypes.h>
#include <prof/format.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SCRIPT_DETAIL_MAX (3 * TASKS_TEXT_MAX)

/* ---- what events of objects say */

/* An object by the guest's number. */
static const char *title_of(const struct tasks *tasks, uint32_t id, char *text)
{
    return tasks_title(tasks, tasks_object(tasks, id), text);
}

static const char *name_of(const struct tasks *tasks, uint32_t number)
{
    const char *text = guest_names_text(&tasks->names, number);

    return *text != '\0' ? text : "[unknown]";
}

static void put_titles(const struct tasks *tasks, uint32_t one,
                       const char *between, uint32_t other, char *text)
{
    char first[TASKS_TEXT_MAX], second[TASKS_TEXT_MAX];

    title_of(tasks, one, first);
    if (other == 0)
        snprintf(text, SCRIPT_DETAIL_MAX, "%s", first);
    else
        snprintf(text, SCRIPT_DETAIL_MAX, "%s%s%s", first, between,
                 title_of(tasks, other, second));
}

static void put_creation(const struct tasks *tasks, uint32_t id, uint8_t kind,
                         uint32_t site, char *text)
{
    const char *file = guest_names_file(&tasks->names, site);
    char object[TASKS_TEXT_MAX];

    title_of(tasks, id, object);
    if (*file != '\0')
        snprintf(text, SCRIPT_DETAIL_MAX, "%s %s (%.250s:%u)",
                 tasks_kind_word(kind), object, file,
                 (unsigned)guest_names_line(&tasks->names, site));
    else
        snprintf(text, SCRIPT_DETAIL_MAX, "%s %s", tasks_kind_word(kind),
                 object);
}

/* Events about one or two objects: where their numbers are. */
#define AT(field) offsetof(struct event, field)
static const struct {
    size_t object;
    const char *between; /* it and the other, if there is one */
    size_t other;
} about_objects[PROF_KINDS] = {
    [PROF_EVENT_SWITCH] = {AT(as_switch.task), NULL, 0},
    [PROF_EVENT_READ] = {AT(as_read.source), NULL, 0},
    [PROF_EVENT_TRY_READ] = {AT(as_try_read.source), NULL, 0},
    [PROF_EVENT_RESOLVE] = {AT(as_resolve.object), NULL, 0},
    [PROF_EVENT_CANCEL] = {AT(as_cancel.object), NULL, 0},
    [PROF_EVENT_GONE] = {AT(as_gone.object), NULL, 0},
    [PROF_EVENT_DEFER] = {AT(as_defer.object), NULL, 0},
    [PROF_EVENT_BECOME] = {AT(as_become.object), " is ", AT(as_become.other)},
    [PROF_EVENT_SIGNAL] = {AT(as_signal.object), " by ", AT(as_signal.source)},
    [PROF_EVENT_AWAIT] = {AT(as_await.object), " for ", AT(as_await.source)},
    [PROF_EVENT_WAKE] = {AT(as_wake.object), " by ", AT(as_wake.by)},
};

static bool put_objects(const struct tasks *tasks, const struct event *event,
                        char *text)
{
    const char *between = about_objects[event->kind].between;
    uint32_t object, other = 0;

    if (about_objects[event->kind].object == 0)
        return false;
    memcpy(&object, (const char *)event + about_objects[event->kind].object,
           sizeof object);
    if (between != NULL)
        memcpy(&other, (const char *)event + about_objects[event->kind].other,
               sizeof other);
    put_titles(tasks, object, between, other, text);
    return true;
}

static bool put_named(const struct tasks *tasks, const struct event *event,
                      char *text)
{
    char object[TASKS_TEXT_MAX];
    size_t room = SCRIPT_DETAIL_MAX;

    switch (event->kind) {
    case PROF_EVENT_FAIL:
        snprintf(text, room, "%s: %s",
                 title_of(tasks, event->as_fail.object, object),
                 name_of(tasks, event->as_fail.why));
        return true;
    case PROF_EVENT_SUSPEND:
        snprintf(text, room, "%s", name_of(tasks, event->as_suspend.why));
        return true;
    case PROF_EVENT_SUSPEND_STACK:
        snprintf(text, room, "%s, stack %u",
                 name_of(tasks, event->as_suspend_stack.why),
                 (unsigned)event->as_suspend_stack.stack);
        return true;
    case PROF_EVENT_SEND:
    case PROF_EVENT_RECEIVE:
        snprintf(text, room, "message %08x", (unsigned)event->as_send.message);
        return true;
    case PROF_EVENT_COUNTER:
        snprintf(text, room, "%s = %" PRId64,
                 name_of(tasks, event->as_counter.counter),
                 (int64_t)event->as_counter.value);
        return true;
    case PROF_EVENT_LABEL:
        snprintf(text, room, "%s: %s",
                 title_of(tasks, event->as_label.object, object),
                 name_of(tasks, event->as_label.label));
        return true;
    case PROF_EVENT_CREATE:
        put_creation(tasks, event->as_create.object,
                     (uint8_t)event->as_create.object_kind,
                     event->as_create.site, text);
        return true;
    case PROF_EVENT_ALIVE:
        put_creation(tasks, event->as_alive.object,
                     (uint8_t)event->as_alive.object_kind, event->as_alive.site,
                     text);
        return true;
    case PROF_EVENT_PAUSE:
        snprintf(text, room, "%s, %" PRIu64 " ns",
                 name_of(tasks, event->as_pause.why),
                 (uint64_t)event->as_pause.clocks *
                     (1000000000u / PROF_CLOCK_HZ));
        return true;
    default:
        return put_objects(tasks, event, text);
    }
}

static void put_cpu(const struct event_cpu *event, char *text)
{
    int used =
        snprintf(text, SCRIPT_DETAIL_MAX, "CPU %u, TSC %+" PRId64 " cycles, ",
                 (unsigned)event->number, event->offset);

    if (event->error == UINT32_MAX)
        snprintf(text + used, SCRIPT_DETAIL_MAX - (size_t)used,
                 "unknown error");
    else
        snprintf(text + used, SCRIPT_DETAIL_MAX - (size_t)used, "+-%u",
                 (unsigned)event->error);
}

/* Writes what (event), one of objects, interrupts and counters, says to (text),
 * which has room for SCRIPT_DETAIL_MAX. False: it is no such event. */
static bool script_detail(const struct tasks *tasks, const struct event *event,
                          char *text)
{
    switch (event->kind) {
    case PROF_EVENT_IRQ_ENTER:
        snprintf(text, SCRIPT_DETAIL_MAX, "%u",
                 (unsigned)event->as_irq_enter.vector);
        return true;
    case PROF_EVENT_IRQ_EXIT:
        snprintf(text, SCRIPT_DETAIL_MAX, "%u",
                 (unsigned)event->as_irq_exit.vector);
        return true;
    case PROF_EVENT_LOST:
        if (event->as_lost.events > 0)
            snprintf(text, SCRIPT_DETAIL_MAX, "%u events",
                     (unsigned)event->as_lost.events);
        else
            strcpy(text, "events");
        return true;
    case PROF_EVENT_RECORDED:
        snprintf(text, SCRIPT_DETAIL_MAX, "%u events",
                 (unsigned)event->as_recorded.events);
        return true;
    case PROF_EVENT_HISTORY:
    case PROF_EVENT_IRQS_OFF:
    case PROF_EVENT_MASKED:
    case PROF_EVENT_STEAL_CLOCK:
        *text = '\0';
        return true;
    case PROF_EVENT_CPU:
        put_cpu(&event->as_cpu, text);
        return true;
    case PROF_EVENT_NMI:
        snprintf(text, SCRIPT_DETAIL_MAX,
                 "%u duplicates, %" PRIu64 " merged so far",
                 (unsigned)event->as_nmi.duplicates, event->as_nmi.merged);
        return true;
    default:
        return put_named(tasks, event, text);
    }
}

/* Who reports events on a CPU: an object, or the interrupts that have begun. */
struct script_actor {
    uint32_t cpu;
    uint32_t depth;
    uint8_t vectors[TASKS_NESTED_MAX];
};

/* The number by which object (id) is known: the loop of each CPU is another
 * one. */
static uint32_t known_as(uint32_t id, uint32_t cpu)
{
    uint32_t number = tasks_cpu_number((uint16_t)cpu);

    return id == 0 && number != 0 ? TASKS_LOOPS + number : id;
}

/* Its name before (event), in (text) of TASKS_TEXT_MAX; then takes (event). */
static void script_actor(struct script_actor *actor, const struct tasks *tasks,
                         const struct event *event, const struct model_cpu *cpu,
                         char *text)
{
    if (actor->cpu != cpu->cpu)
        *actor = (struct script_actor){.cpu = cpu->cpu};
    if (event->kind == PROF_EVENT_IRQ_ENTER && actor->depth < TASKS_NESTED_MAX)
        actor->vectors[actor->depth++] = (uint8_t)event->as_irq_enter.vector;
    if (cpu->irq_depth == 0 && event->kind != PROF_EVENT_IRQ_EXIT)
        actor->depth = 0;
    if (actor->depth > 0)
        snprintf(text, TASKS_TEXT_MAX, "[irq %u]",
                 (unsigned)actor->vectors[actor->depth - 1]);
    else
        title_of(tasks, known_as(cpu->object, cpu->cpu), text);
    if (event->kind == PROF_EVENT_IRQ_EXIT && actor->depth > 0)
        --actor->depth;
}

/* ---- parasite script: each sample with its stack, and each other event
 *
 * The packets are read twice: a node may be defined after the first sample that
 * names it. Both readings number nodes alike. */

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

/* Packets that are missing before (time); what the guest lost is an event. */
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
    struct event shown = *event;

    if (event->kind == PROF_EVENT_SWITCH)
        shown.as_switch.task = known_as(event->as_switch.task, cpu->cpu);
    if (!script_detail(script->tasks, &shown, detail) ||
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
    static const struct argument options[] = {{0}};
    static struct script script = {.view = {.input = "x.trace", .lines = true}};
    struct view *view = &script.view;
    struct model again = {.watch = {print_event, &script}};

    arguments_parse(&(struct command_line){options, "[TRACE]", help_text,
                                           .child = &view_options,
                                           .child_owner = view},
                    argc, argv);
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
