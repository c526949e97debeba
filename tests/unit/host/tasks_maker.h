/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_MAKER_H
#define TASKS_MAKER_H

/* Events of objects for tests of who reads them, and the model of them. */

#include "event_script.h"
#include "tasks/tasks.h"

#include <prof/trace.h>

#define STEP 100u /* clocks between two events */

static struct made *made;
static struct tasks tasks;

static inline void begin_tasks(void)
{
    made = calloc(1, sizeof *made);
    made->packet_room = 4096;
    made->step = STEP;
}

static inline void end_tasks(void)
{
    tasks_free(&tasks);
    free(made->bytes);
    free(made);
}

/* Reads all packets but the one numbered (lost). */
static inline void read_without(uint32_t lost)
{
    made_flush(made);
    for (unsigned i = 0; i < made->sequence; ++i) {
        size_t bytes;
        const uint8_t *at = made_packet(made, i, &bytes);
        struct packet packet;

        assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
        if (i != lost)
            tasks_take(&tasks, &packet);
    }
    tasks_finish(&tasks);
}

static inline void read_all(void)
{
    read_without(UINT32_MAX);
}

#endif
