/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A static picture of a stretch of time: SVG for documents, light or dark as
 * the reader prefers, without a script. What is too narrow to be seen is left
 * out.
 */

#include "base/checked.h"
#include "base/memory.h"
#include "base/text.h"
#include "tasks/sites.h"
#include "timeline/rows.h"
#include "timeline/svg_counters.h"
#include "timeline/timeline.h"

#include <prof/format.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200.0
#define HEAD 40.0 /* above the rows: the title */
#define FOOT 26.0 /* below them: times */
#define PITCH 22.0
#define BETWEEN 30.0      /* two traces: the name of the lower one */
#define BETWEEN_PARTS 2   /* rows between CPUs, as on the page */
#define LINE_AT 0.75      /* of a row's height; the name is above it */
#define HEIGHT_MAX 4000.0 /* then rows are closer */
#define CHAR 6.2          /* width of a letter, about */
#define NARROW 0.3        /* left out */
#define NAMED 30.0        /* has its name */
#define STEPS_MAX 64      /* of halves of the time */
#define GRID 12           /* lines at most */
#define TIME_ROOM 60.0    /* of a time below them */
#define GAP 2.0           /* width of a loss, at least */
#define MARK 10.0         /* height of an interrupt */

/* Where a part is: its interrupts, its event loop and its objects. */
struct svg_part {
    uint32_t row; /* the first, of its trace's */
    uint32_t rows;
};

/* One trace of the picture. */
struct svg {
    const struct tasks *tasks;
    const char *name;
    const struct timeline_parts *parts;
    struct svg_part *places;     /* of each part */
    struct tasks_served *served; /* of each interrupt */
    struct family family;
    bool *rests; /* by object: in the end, as idle mutexes do */
    FILE *out;
    uint64_t begin; /* of the trace, by its own clock */
    double moved;   /* its beginning, since that of all traces */
    double from;    /* what is shown, since the same */
    double to;
    double pitch;
    double top; /* of its rows */
    double high;
    double lane; /* below them, of counters */
};

static const char style[] =
    "<style>\n"
    ".f{fill:#fff}text{font:11px system-ui,sans-serif;fill:#1b2130}"
    ".t{font-weight:600;font-size:14px}.s{fill:#566072}\n"
    ".b{fill:#eceff4}.i{fill:#d3d9e3}.x{fill:url(#x)}"
    ".h{stroke:#b3261e;stroke-width:1.5}"
    ".p{fill:#e3c7c7}.g{stroke:#dbe0e9}\n"
    ".o{stroke:#3c4454;stroke-width:2}.r{fill:#fff}.y{fill:#d98200}"
    ".q{fill:#a04481}"
    ".e{stroke:#b3261e;stroke-width:2}.u{fill:#3c4454}\n"
    ".a0,.a8{stroke:#8a93a3}.a1{stroke:#0b57c4}.a2{stroke:#a8941a}"
    ".a3{stroke:#00795a}.a4,.a5,.a10{stroke:#b3261e}"
    ".a6{stroke:#c05600}.a7{stroke:#d98200}.a9{stroke:#a04481}"
    ".k{stroke:#005a8c}\n"
    "@media(prefers-color-scheme:dark){.f{fill:#171b23}text{fill:#e7eaf0}.s{"
    "fill:#9aa5b6}"
    ".b{fill:#1a1f28}.i{fill:#0e1117}.p{fill:#4a2f35}.g{stroke:#262d39}"
    ".o{stroke:#8a95a8}.y{fill:#ffb84d}.q{fill:#f09ad0}"
    ".e{stroke:#ff8a80}.u{fill:#8a95a8}"
    ".a1{stroke:#6fb1ff}.a2{stroke:#d9c64a}.a3{stroke:#35c79a}"
    ".a4,.a5,.a10{stroke:#ff8a80}.a6{stroke:#ff9a4d}.a7{stroke:#ffb84d}"
    ".a9{stroke:#f09ad0}.k{stroke:#8fd6ff}.h{stroke:#ff8a80}}\n"
    "</style>\n"
    /* what is unknown is hatched */
    "<defs><pattern id=\"x\" width=\"6\" height=\"6\" "
    "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
    "<path class=\"h\" d=\"M1 0V6\"/></pattern></defs>\n";

/* Clocks since the first event of all traces. A damaged trace may have any
 * times: differences of 64 bits are taken where they cannot wrap. */
static double clocks_since(const struct svg *svg, uint64_t time)
{
    return svg->moved + (time >= svg->begin ? (double)(time - svg->begin)
                                            : -(double)(svg->begin - time));
}

static double x_of(const struct svg *svg, uint64_t time)
{
    double x =
        (clocks_since(svg, time) - svg->from) / (svg->to - svg->from) * WIDTH;

    return x < -4 ? -4 : x > WIDTH + 4 ? WIDTH + 4 : x;
}

/* Rows of interrupts, and that of the event loop below them. */
static uint32_t system_rows(const struct svg *svg, uint32_t part)
{
    const struct timeline_part *one = &svg->parts->all[part];

    return one->vectors.count + (one->loop != TASKS_NONE);
}

static double y_of_row(const struct svg *svg, uint32_t row)
{
    return svg->top + (row + LINE_AT) * svg->pitch;
}

static double y_of(const struct svg *svg, uint32_t item)
{
    uint32_t part = svg->family.parts[item];

    return y_of_row(svg, svg->places[part].row + system_rows(svg, part) +
                             svg->family.rows[item]);
}

static double y_of_loop(const struct svg *svg, uint32_t part)
{
    return y_of_row(svg, svg->places[part].row +
                             svg->parts->all[part].vectors.count);
}

static double y_of_irq(const struct svg *svg, const struct tasks_irq *irq)
{
    uint32_t part = parts_of_cpu(svg->parts, irq->cpu);

    return y_of_row(svg, svg->places[part].row +
                             svg->parts->all[part].vectors.place[irq->vector]);
}

static uint32_t part_of_loop(const struct svg *svg, uint32_t loop)
{
    return parts_of_object(svg->parts, svg->tasks, loop);
}

/* Whether the event loop (object) has a row. */
static bool is_shown_loop(const struct svg *svg, uint32_t object)
{
    return tasks_is_loop(svg->tasks, object) &&
           svg->parts->all[part_of_loop(svg, object)].loop == object;
}

static uint32_t item_of(const struct svg *svg, uint32_t object)
{
    return object < tasks_objects(svg->tasks) ? svg->family.item_of[object]
                                              : LAYOUT_NONE;
}

/* Where (actor) is drawn: an object, the event loop or an interrupt. False:
 * nowhere. */
static bool find_y(const struct svg *svg, uint32_t actor, double *y)
{
    const struct tasks *tasks = svg->tasks;
    uint32_t item = item_of(svg, actor);

    if (tasks_is_irq(tasks, actor))
        *y = y_of_irq(svg, &tasks->irqs[actor ^ TASKS_INTERRUPT]);
    else if (actor < tasks_objects(tasks) && is_shown_loop(svg, actor))
        *y = y_of_loop(svg, part_of_loop(svg, actor));
    else if (item != LAYOUT_NONE)
        *y = y_of(svg, item);
    else
        return false;
    return true;
}

/* Whether [from, to], or the clock after it, is in sight. */
static bool in_sight(const struct svg *svg, uint64_t from, uint64_t to)
{
    return clocks_since(svg, from) < svg->to &&
           clocks_since(svg, to) + 1 > svg->from;
}

static void put_rect(const struct svg *svg, const char *class, uint64_t from,
                     uint64_t to, double y, double height)
{
    double x = x_of(svg, from), width = x_of(svg, to) - x;

    if (in_sight(svg, from, to) && width >= NARROW)
        fprintf(svg->out,
                "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                "height=\"%.1f\"/>\n",
                class, x, y, width, height);
}

static double top_of(const struct svg *svg, uint32_t part)
{
    return svg->top + svg->places[part].row * svg->pitch;
}

static double high_of(const struct svg *svg, uint32_t part)
{
    return svg->places[part].rows * svg->pitch;
}

/* Over all rows of (part). */
static void put_band(const struct svg *svg, const char *class, uint32_t part,
                     uint64_t from, uint64_t to)
{
    put_rect(svg, class, from, to, top_of(svg, part), high_of(svg, part));
}

/* The ground: idle, paused. */
static void put_ground(const struct svg *svg)
{
    const struct tasks *tasks = svg->tasks;

    for (uint32_t part = 0; part < svg->parts->count; ++part)
        fprintf(svg->out,
                "<rect class=\"b\" x=\"0.0\" y=\"%.1f\" width=\"%.1f\" "
                "height=\"%.1f\"/>\n",
                top_of(svg, part), WIDTH, high_of(svg, part));
    for (uint32_t i = 0; i < tasks->stretch_count; ++i) {
        const struct tasks_stretch *one = &tasks->stretches[i];

        if (tasks_is_loop(tasks, one->object) && one->state == TASKS_WAITING)
            put_band(svg, "i", part_of_loop(svg, one->object), one->from,
                     one->to);
    }
    for (uint32_t i = 0; i < tasks->pause_count; ++i)
        put_band(svg, "p", parts_of_cpu(svg->parts, tasks->pauses[i].cpu),
                 tasks->pauses[i].from, tasks->pauses[i].to);
}

/* Over all else: what goes on across a gap is not known. */
static void put_losses(const struct svg *svg)
{
    for (uint32_t i = 0; i < svg->tasks->loss_count; ++i) {
        const struct tasks_loss *one = &svg->tasks->losses[i];
        uint32_t part = parts_of_cpu(svg->parts, one->cpu);
        double x = x_of(svg, one->from), width = x_of(svg, one->to) - x;

        if (!in_sight(svg, one->from, one->to))
            continue;
        for (int layer = 0; layer < 2; ++layer)
            fprintf(svg->out,
                    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" "
                    "width=\"%.1f\" height=\"%.1f\"/>\n",
                    layer == 0 ? "b" : "x", x, top_of(svg, part),
                    width > GAP ? width : GAP, high_of(svg, part));
    }
}

/* The least of 1, 2 and 5 times a power of ten with at most GRID lines, so that
 * their times do not touch. */
static uint64_t grid_step(uint64_t span)
{
    uint64_t step = 1;

    while (span / step > GRID * 10)
        step *= 10;
    return span / step > GRID * 5   ? step * 10
           : span / step > GRID * 2 ? step * 5
           : span / step > GRID     ? step * 2
                                    : step;
}

/* Times since the first event of all traces. */
static void put_grid(const struct svg *svg, const struct svg_range *range,
                     double bottom)
{
    uint64_t span = range->to - range->from, step = grid_step(span);
    uint64_t part = range->from % step;

    /* counted from what is shown, which cannot wrap */
    for (uint64_t at = part == 0 ? 0 : step - part; at < span; at += step) {
        double x = (double)at / (double)span * WIDTH;
        double time = ((double)range->from + (double)at) / PROF_CLOCK_HZ;

        fprintf(svg->out, "<path class=\"g\" d=\"M%.1f %.0fV%.0f\"/>\n", x,
                HEAD, bottom);
        if (x < WIDTH - TIME_ROOM)
            fprintf(svg->out,
                    "<text class=\"s\" x=\"%.1f\" y=\"%.0f\">%.6g ms</text>\n",
                    x + 3, bottom + 16, time * 1000);
        if (span - at <= step)
            break;
    }
}

/* What an object that has not ended does, and for how long: ", waiting 6.0 s".
 */
static void add_standing(const struct tasks *tasks, uint32_t object, char *text)
{
    uint64_t since = tasks_standing_since(tasks, object);
    double seconds = (double)checked_sub(tasks->end, since) / PROF_CLOCK_HZ;
    size_t used = strlen(text);

    snprintf(text + used, TASKS_TEXT_MAX - used, ", %s %.*f %s",
             tasks_state_word(tasks->objects[object].state),
             seconds < 1e-3 ? 0 : 1,
             seconds < 1e-3 ? seconds * 1e6
             : seconds < 1  ? seconds * 1e3
                            : seconds,
             seconds < 1e-3 ? "\u00b5s"
             : seconds < 1  ? "ms"
                            : "s");
}

static void put_name(const struct svg *svg, uint32_t item, double x,
                     double width)
{
    uint32_t object = svg->family.objects[item];
    char text[TASKS_TEXT_MAX];

    if (width < NAMED || svg->pitch < 14)
        return;
    fprintf(svg->out, "<text x=\"%.1f\" y=\"%.1f\">", x < 2 ? 2 : x,
            y_of(svg, item) - 4);
    tasks_title(svg->tasks, object, text);
    if (svg->tasks->objects[object].ending == TASKS_OPEN && !svg->rests[object])
        add_standing(svg->tasks, object, text);
    xml_put(svg->out, text, (size_t)(width / CHAR));
    fputs("</text>\n", svg->out);
}

/* What an object's line ends with: a bar if it failed, a triangle if it did
 * not end. */
static void put_end(const struct svg *svg, uint32_t item)
{
    uint8_t ending = svg->tasks->objects[svg->family.objects[item]].ending;
    double x = x_of(svg, svg->family.items[item].end), y = y_of(svg, item);

    if (ending == TASKS_FAILED || ending == TASKS_CANCELLED)
        fprintf(svg->out, "<path class=\"e\" d=\"M%.1f %.1fv%d\"/>\n", x,
                y - (ending == TASKS_FAILED ? 8 : 5),
                ending == TASKS_FAILED ? 16 : 10);
    else if (ending == TASKS_OPEN)
        fprintf(svg->out, "<path class=\"u\" d=\"M%.1f %.1fl7 4l-7 4z\"/>\n", x,
                y - 4);
}

static void put_objects(const struct svg *svg)
{
    for (uint32_t i = 0; i < svg->family.count; ++i) {
        const struct layout_item *item = &svg->family.items[i];
        double x = x_of(svg, item->begin), end = x_of(svg, item->end);

        if (!in_sight(svg, item->begin, item->end))
            continue;
        fprintf(svg->out, "<path class=\"o\" d=\"M%.1f %.1fH%.1f\"/>\n", x,
                y_of(svg, i), end > x + 1 ? end : x + 1);
        put_end(svg, i);
        put_name(svg, i, x, end - x);
    }
}

/* The line of an object is not drawn where it is not known what it did. */
static void put_unknown(const struct svg *svg, const struct tasks_stretch *one,
                        double y)
{
    put_rect(svg, "b", one->from, one->to, y - 3, 6);
    put_rect(svg, "x", one->from, one->to, y - 3, 6);
}

static void put_spans(const struct svg *svg)
{
    const struct tasks *tasks = svg->tasks;

    for (uint32_t i = 0; i < tasks->stretch_count; ++i) {
        const struct tasks_stretch *one = &tasks->stretches[i];
        uint32_t item = svg->family.item_of[one->object];

        if (item == LAYOUT_NONE)
            continue;
        if (one->state == TASKS_RUNNING)
            put_rect(svg, "r", one->from, one->to, y_of(svg, item) - 2, 4);
        else if (one->state == TASKS_READY)
            put_rect(svg, "y", one->from, one->to, y_of(svg, item) - 1.5, 3);
        else if (one->state == TASKS_UNKNOWN)
            put_unknown(svg, one, y_of(svg, item));
    }
}

/* ---- interrupts and the event loop */

/* From (from) to (to), at least a pixel wide; not, where (until) is, up to
 * which its row is drawn. */
static void put_mark(const struct svg *svg, const char *class, uint64_t from,
                     uint64_t to, double y, double height, double *until)
{
    double x = x_of(svg, from), end = x_of(svg, to);

    if (!in_sight(svg, from, to) || end < *until + NARROW)
        return;
    *until = end > x + 1 ? end : x + 1;
    fprintf(svg->out,
            "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
            "height=\"%.1f\"/>\n",
            class, x, y - height / 2, *until - x, height);
}

/* The name of a part is in those of its rows, where there are several. */
static void put_system_row(const struct svg *svg, uint32_t part, double y,
                           const char *name)
{
    const struct timeline_part *one = &svg->parts->all[part];
    uint32_t loop = one->loop == TASKS_NONE ? TASKS_LOOP : one->loop;
    double x = x_of(svg, svg->tasks->objects[loop].begin);
    double end = x_of(svg, svg->tasks->end);
    char cpu[20] = "";

    if (svg->parts->count > 1)
        snprintf(cpu, sizeof cpu, " of CPU %u", (unsigned)one->cpu);
    fprintf(svg->out, "<path class=\"o\" d=\"M%.1f %.1fH%.1f\"/>\n", x, y,
            end > x + 1 ? end : x + 1);
    if (svg->pitch >= 14)
        fprintf(svg->out, "<text x=\"%.1f\" y=\"%.1f\">%s%s</text>\n",
                x < 2 ? 2 : x, y - 4, name, cpu);
}

static void put_loops(const struct svg *svg)
{
    const struct tasks *tasks = svg->tasks;
    double *until = xreallocarray(NULL, svg->parts->count, sizeof *until);

    for (uint32_t part = 0; part < svg->parts->count; ++part) {
        until[part] = -1;
        if (svg->parts->all[part].loop != TASKS_NONE)
            put_system_row(svg, part, y_of_loop(svg, part), "event loop");
    }
    for (uint32_t i = 0; i < tasks->stretch_count; ++i) {
        const struct tasks_stretch *one = &tasks->stretches[i];

        uint32_t part;
        double y;

        if (!is_shown_loop(svg, one->object))
            continue;
        part = part_of_loop(svg, one->object);
        y = y_of_loop(svg, part);
        if (one->state == TASKS_RUNNING)
            put_mark(svg, "r", one->from, one->to, y, 4, &until[part]);
        else if (one->state == TASKS_UNKNOWN)
            put_unknown(svg, one, y);
    }
    free(until);
}

static void put_irq_rows(const struct svg *svg)
{
    for (uint32_t part = 0; part < svg->parts->count; ++part) {
        const struct tasks_vectors *vectors = &svg->parts->all[part].vectors;

        for (uint32_t i = 0; i < vectors->count; ++i) {
            char name[20];

            snprintf(name, sizeof name, "irq %u", (unsigned)vectors->all[i]);
            put_system_row(svg, part, y_of_row(svg, svg->places[part].row + i),
                           name);
        }
    }
}

/* Up to where the row of a vector is drawn. */
struct drawn {
    double marks;
    double ready;
};

/* A mark while it is handled; then it is orange until the work runs that it
 * left to an object. */
static void put_irqs(const struct svg *svg)
{
    const struct tasks *tasks = svg->tasks;
    size_t rows = (size_t)svg->parts->count * TASKS_VECTORS;
    struct drawn *drawn = xreallocarray(NULL, rows, sizeof *drawn);

    for (size_t i = 0; i < rows; ++i)
        drawn[i] = (struct drawn){-1, -1};
    put_irq_rows(svg);
    for (uint32_t i = 0; i < tasks->irq_count; ++i) {
        const struct tasks_irq *irq = &tasks->irqs[i];
        const struct tasks_served *served = &svg->served[i];
        struct drawn *row =
            &drawn[parts_of_cpu(svg->parts, irq->cpu) * TASKS_VECTORS +
                   irq->vector];
        double y = y_of_irq(svg, irq);
        uint64_t end = irq->to == TASKS_NEVER ? irq->from : irq->to;

        if (served->ran != TASKS_NEVER && served->ran > end &&
            x_of(svg, served->ran) >= row->ready + NARROW) {
            put_rect(svg, "y", end, served->ran, y - 1.5, 3);
            row->ready = x_of(svg, served->ran);
        }
        put_mark(svg, "q", irq->from, end, y, MARK, &row->marks);
    }
    free(drawn);
}

static void put_line(FILE *out, const char *class, double x0, double y0,
                     double x1, double y1, bool has_head)
{
    int way = y1 > y0 ? 7 : -7;

    fprintf(out, "<path class=\"%s\" fill=\"none\" d=\"M%.1f %.1fL%.1f %.1f",
            class, x0, y0, x1, y1);
    if (has_head)
        fprintf(out, "m-3 %dl3 %dl3 %d", -way, way, -way);
    fputs("\"/>\n", out);
}

/* An arrow from an object to another; (kind) of the page's, see model.js. */
static void put_arrow(const struct svg *svg, unsigned kind, uint32_t from,
                      uint32_t to, uint64_t begin, uint64_t end)
{
    double tail, head;
    char class[8];

    if (!find_y(svg, from, &tail) || !find_y(svg, to, &head) || tail == head ||
        !in_sight(svg, begin, end))
        return;
    snprintf(class, sizeof class, "a%u", kind & 0xffff);
    put_line(svg->out, class, x_of(svg, begin), tail, x_of(svg, end), head,
             kind != TASKS_CREATE);
}

/* From the interrupts that ended the loop's idleness to the loop. */
static void put_wakes(const struct svg *svg)
{
    for (uint32_t i = 0; i < svg->tasks->irq_count; ++i) {
        const struct tasks_irq *irq = &svg->tasks->irqs[i];
        uint32_t part = parts_of_cpu(svg->parts, irq->cpu);

        if (irq->woke != 0)
            put_arrow(svg, TASKS_WAKE, TASKS_INTERRUPT | i,
                      svg->parts->all[part].loop, irq->from, irq->woke);
    }
}

/* When the work runs that (edge) leaves, or when it is left. */
static uint64_t end_of_defer(const struct svg *svg,
                             const struct tasks_edge *edge)
{
    const struct tasks_served *served;

    if (edge->kind != TASKS_DEFER || !tasks_is_irq(svg->tasks, edge->from))
        return edge->time;
    served = &svg->served[edge->from ^ TASKS_INTERRUPT];
    return served->object == edge->to && served->left == edge->time &&
                   served->ran != TASKS_NEVER
               ? served->ran
               : edge->time;
}

#define FAILED_READ TASKS_EDGES

static void put_edge(const struct svg *svg, const struct tasks_edge *edge)
{
    uint32_t item = item_of(svg, edge->to);

    if (edge->kind == TASKS_CREATE && item != LAYOUT_NONE &&
        svg->family.items[item].begin != edge->time)
        return; /* it is drawn from later on */
    if (edge->kind == TASKS_READ) {
        const struct tasks_object *source;
        uint64_t begin;

        if (edge->to >= tasks_objects(svg->tasks))
            return;
        source = &svg->tasks->objects[edge->to];
        begin = source->end < edge->time ? source->end : edge->time;
        put_arrow(svg,
                  source->ending == TASKS_FAILED ? FAILED_READ : TASKS_READ,
                  edge->to, edge->from, begin, edge->time);
        return;
    }
    put_arrow(svg, edge->kind,
              edge->by != TASKS_NONE && edge->by != TASKS_NOBODY ? edge->by
                                                                 : edge->from,
              edge->to, edge->time, end_of_defer(svg, edge));
}

static void put_title(FILE *out, const char *title)
{
    fputs("<text class=\"t\" x=\"8\" y=\"24\">", out);
    xml_put(out, title, 100);
    fputs("</text>\n", out);
}

static void put_trace(const struct svg *svg)
{
    put_irqs(svg);
    put_loops(svg);
    put_objects(svg);
    put_spans(svg);
    put_wakes(svg);
    for (uint32_t i = 0; i < svg->tasks->edge_count; ++i)
        put_edge(svg, &svg->tasks->edges[i]);
    put_losses(svg);
}

/* A packet is an arrow from the object that sent it. */
static void put_packet(const struct svg *all,
                       const struct timeline_packet *packet)
{
    const struct svg *from = &all[packet->from], *to = &all[packet->to];
    const struct tasks_message *sent = &from->tasks->messages[packet->sent];
    const struct tasks_message *got = &to->tasks->messages[packet->received];
    double tail, head;

    if (!find_y(from, sent->object, &tail) || !find_y(to, got->object, &head) ||
        !in_sight(from, sent->time, sent->time) ||
        !in_sight(to, got->time, got->time))
        return;
    put_line(all->out, "k", x_of(from, sent->time), tail, x_of(to, got->time),
             head, true);
}

/* The names of parts, the first one's beside the title: the trace's, if there
 * are several, and the CPU's, if the trace has several. */
static void put_part_names(const struct svg *svg, bool has_traces)
{
    bool has_cpus = svg->parts->count > 1;

    for (uint32_t part = 0; part < svg->parts->count; ++part) {
        if (!has_traces && !has_cpus)
            return;
        fprintf(svg->out,
                "<text class=\"s\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">",
                WIDTH - 8, top_of(svg, part) - 8);
        if (has_traces)
            xml_put(svg->out, path_name(svg->name), 100);
        if (has_cpus)
            fprintf(svg->out, "%sCPU %u", has_traces ? ", " : "",
                    (unsigned)svg->parts->all[part].cpu);
        fputs("</text>\n", svg->out);
    }
}

static double x_in(const void *owner, uint64_t time)
{
    return x_of(owner, time);
}

static double y_in(const void *owner, uint32_t object)
{
    const struct svg *svg = owner;
    double y;

    return svg->pitch < 14 || !find_y(svg, object, &y) ? -1 : y;
}

static void put_counters(const struct timeline *timeline,
                         const struct svg_counters *counters,
                         const struct svg *all, size_t trace)
{
    struct svg_place place = {.out = all[trace].out,
                              .owner = &all[trace],
                              .trace = trace,
                              .width = WIDTH,
                              .lane = all[trace].top + all[trace].high,
                              .x_of = x_in,
                              .y_of = y_in};

    svg_counters_put(counters, timeline, &place);
}

static void put_all(const struct timeline *timeline, const struct svg *all,
                    const struct svg_counters *counters,
                    const struct svg_range *range, FILE *out)
{
    const struct svg *last = &all[timeline->count - 1];
    double bottom = last->top + last->high + last->lane;

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
            "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n%s"
            "<rect class=\"f\" width=\"100%%\" height=\"100%%\"/>\n",
            WIDTH, bottom + FOOT, WIDTH, bottom + FOOT, style);
    svg_counters_put_style(counters, out);
    put_title(out, timeline->title);
    for (size_t i = 0; i < timeline->count; ++i) {
        put_part_names(&all[i], timeline->count > 1);
        put_ground(&all[i]);
    }
    put_grid(all, range, bottom);
    for (size_t i = 0; i < timeline->count; ++i)
        put_trace(&all[i]);
    for (size_t i = 0; i < timeline->count; ++i)
        put_counters(timeline, counters, all, i);
    for (size_t i = 0; i < timeline->packet_count; ++i)
        put_packet(all, &timeline->packets[i]);
    fputs("</svg>\n", out);
}

/* Where the traces are, below each other, and what is shown of them. */
struct timeline_drawing {
    const struct timeline *timeline;
    uint64_t clocks; /* of all */
    struct svg_counters counters;
    struct svg all[TIMELINE_TRACES_MAX];
};

/* Rows of a part up to the last one with something in sight. */
static uint32_t rows_in_sight(const struct svg *svg, uint32_t part)
{
    uint32_t rows = 1;

    for (uint32_t i = 0; i < svg->family.count; ++i)
        if (svg->family.parts[i] == part && svg->family.rows[i] >= rows &&
            in_sight(svg, svg->family.items[i].begin, svg->family.items[i].end))
            rows = svg->family.rows[i] + 1;
    return system_rows(svg, part) + rows;
}

/* Places the parts of a trace below each other, and returns their rows. */
static uint32_t place_parts(struct svg *svg, bool only_in_sight)
{
    uint32_t row = 0;

    for (uint32_t part = 0; part < svg->parts->count; ++part) {
        row += part > 0 ? BETWEEN_PARTS : 0;
        svg->places[part].row = row;
        svg->places[part].rows =
            only_in_sight ? rows_in_sight(svg, part)
                          : system_rows(svg, part) + svg->family.heights[part];
        row += svg->places[part].rows;
    }
    return row;
}

/* Rows of all traces, or as far as there is something in sight in them. */
static void place_traces(struct timeline_drawing *drawing,
                         const struct svg_range *range, bool only_in_sight)
{
    size_t count = drawing->timeline->count;
    double rows = 0, top = HEAD, pitch = PITCH;

    for (size_t i = 0; i < count; ++i) {
        struct svg *svg = &drawing->all[i];

        svg->from = (double)range->from;
        svg->to = (double)range->to;
        svg->high = place_parts(svg, only_in_sight);
        rows += svg->high;
    }
    if (rows * PITCH > HEIGHT_MAX)
        pitch = HEIGHT_MAX / rows;
    for (size_t i = 0; i < count; ++i) {
        drawing->all[i].pitch = pitch;
        drawing->all[i].top = top;
        drawing->all[i].high *= pitch;
        drawing->all[i].lane =
            svg_counters_in(&drawing->counters, i) ? SVG_LANE : 0;
        top += drawing->all[i].high + drawing->all[i].lane + BETWEEN;
    }
}

struct timeline_drawing *timeline_drawing_open(const struct timeline *timeline)
{
    struct timeline_drawing *drawing = xreallocarray(NULL, 1, sizeof *drawing);

    *drawing = (struct timeline_drawing){.timeline = timeline};
    svg_counters_open(&drawing->counters, timeline);
    drawing->clocks = timeline->end - timeline->begin;
    for (size_t i = 0; i < timeline->count; ++i) {
        const struct timeline_trace *trace = &timeline->traces[i];
        struct svg *svg = &drawing->all[i];

        *svg = (struct svg){.tasks = &trace->tasks,
                            .name = trace->name,
                            .parts = &trace->parts,
                            .places = xreallocarray(NULL, trace->parts.count,
                                                    sizeof *svg->places),
                            .served = tasks_served(&trace->tasks),
                            .begin = trace->tasks.begin};
        svg->moved =
            (double)(int64_t)(trace->tasks.begin + (uint64_t)trace->shift -
                              timeline->begin);
        family_make(&svg->family, svg->tasks, svg->parts, true);
        svg->rests = tasks_resting(svg->tasks);
    }
    return drawing;
}

void timeline_drawing_close(struct timeline_drawing *drawing)
{
    for (size_t i = 0; i < drawing->timeline->count; ++i) {
        family_free(&drawing->all[i].family);
        free(drawing->all[i].places);
        free(drawing->all[i].rests);
        free(drawing->all[i].served);
    }
    svg_counters_close(&drawing->counters);
    free(drawing);
}

static void draw(struct timeline_drawing *drawing,
                 const struct svg_range *wanted, bool only_in_sight, FILE *out)
{
    uint64_t clocks = drawing->clocks;
    struct svg_range range = *wanted;

    if (range.to > clocks)
        range.to = clocks;
    if (range.from > clocks)
        range.from = clocks;
    if (range.to <= range.from) {
        range.from -= range.from == UINT64_MAX;
        range.to = range.from + 1;
    }
    for (size_t i = 0; i < drawing->timeline->count; ++i)
        drawing->all[i].out = out;
    place_traces(drawing, &range, only_in_sight);
    put_all(drawing->timeline, drawing->all, &drawing->counters, &range, out);
}

bool timeline_write_svg(const struct timeline *timeline,
                        const struct svg_range *range, FILE *out)
{
    struct timeline_drawing *drawing = timeline_drawing_open(timeline);

    draw(drawing, range, false, out);
    timeline_drawing_close(drawing);
    return ferror(out) == 0;
}

bool timeline_draw_less(void *owner, unsigned step, FILE *out, char *about,
                        size_t room)
{
    struct timeline_drawing *drawing = owner;
    double ms = 1e3 / PROF_CLOCK_HZ;
    struct svg_range range = {0,
                              step < STEPS_MAX ? drawing->clocks >> step : 0};

    if (step > 0 && range.to == 0) {
        snprintf(about, room,
                 "A static picture would be too large for this page; parasite "
                 "timeline --svg --from --to makes one.");
        return false;
    }
    if (step == 0)
        snprintf(about, room,
                 "This is a static picture of it, as by parasite timeline "
                 "--svg.");
    else
        snprintf(about, room,
                 "This is a static picture of the first %.4g ms of %.4g ms; "
                 "parasite timeline --svg --from --to draws any stretch.",
                 (double)range.to * ms, (double)drawing->clocks * ms);
    draw(drawing, &range, true, out);
    return true;
}
