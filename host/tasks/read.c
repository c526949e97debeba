/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of a trace on disk. */

#include "tasks/tasks.h"

static void take(void *tasks, const struct packet *packet)
{
    tasks_take(tasks, packet);
}

void tasks_read(struct tasks *tasks, const struct trace *trace)
{
    struct packet_sink sink = {take, tasks};

    trace_each(trace, &sink);
    tasks_finish(tasks);
}
