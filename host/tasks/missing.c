/* SPDX-License-Identifier: Apache-2.0 */
/* What of a trace is missing, in words. */

#include "base/number.h"
#include "tasks/tasks.h"
#include "trace/model.h"

#include <inttypes.h>
#include <stdio.h>

/* What is missing of all CPUs. */
struct missing {
    uint64_t before; /* events before the trace begins */
    uint64_t events;
    uint64_t packets;
    uint32_t overwritten; /* at once in the guest, at most */
    bool late;            /* the first packet is missing */
    bool unsure;          /* some of (events) are not known */
};

static const char *amount(uint64_t packets, uint64_t events, char *text,
                          size_t bytes)
{
    char some[NUMBER_TEXT_MAX], more[NUMBER_TEXT_MAX];

    if (packets > 0 && events > 0)
        snprintf(text, bytes, "%s packets with %s events",
                 number_count(packets, some), number_count(events, more));
    else if (packets > 0)
        snprintf(text, bytes, "%s packets", number_count(packets, some));
    else if (events > 0)
        snprintf(text, bytes, "%s events", number_count(events, more));
    else
        snprintf(text, bytes, "events, nobody knows how many");
    return text;
}

const char *tasks_loss_text(const struct tasks_loss *loss, char *text)
{
    return amount(loss->packets, loss->events, text, TASKS_TEXT_MAX);
}

static struct missing sum(const struct tasks *tasks)
{
    struct missing missing = {0};

    for (size_t i = 0; i < tasks->cpu_count; ++i) {
        missing.before += tasks->cpus[i].before;
        missing.late = missing.late || tasks->cpus[i].late;
    }
    for (uint32_t i = 0; i < tasks->loss_count; ++i) {
        missing.packets += tasks->losses[i].packets;
        missing.events += tasks->losses[i].events;
        if (tasks->losses[i].packets == 0 &&
            tasks->losses[i].events > missing.overwritten)
            missing.overwritten = tasks->losses[i].events;
        missing.unsure = missing.unsure || tasks->losses[i].events == 0;
    }
    return missing;
}

bool tasks_missing_text(const struct tasks *tasks, char *text)
{
    const struct missing missing = sum(tasks);
    char lost[TASKS_TEXT_MAX / 2], before[NUMBER_TEXT_MAX];
    size_t used = 0;

    *text = '\0';
    if (missing.before > 0)
        used = (size_t)snprintf(text, TASKS_TEXT_MAX,
                                "the trace begins after %s events",
                                number_count(missing.before, before));
    else if (missing.late)
        used = (size_t)snprintf(text, TASKS_TEXT_MAX,
                                "the trace has no beginning");
    if (tasks->loss_count > 0)
        used += (size_t)snprintf(
            text + used, TASKS_TEXT_MAX - used,
            "%s%s%s are missing, in %u place%s", used > 0 ? "; " : "",
            missing.unsure && missing.events > 0 ? "at least " : "",
            amount(missing.packets, missing.events, lost, sizeof lost),
            (unsigned)tasks->loss_count, tasks->loss_count == 1 ? "" : "s");
    if (missing.overwritten > 0)
        snprintf(text + used, TASKS_TEXT_MAX - used,
                 "; prof.trace_kb=%u keeps what the guest overwrote",
                 model_trace_kib(missing.overwritten));
    return *text != '\0';
}
